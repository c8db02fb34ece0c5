/*
 * Finds out what an environment lacks, completes it, and hides the additions in the new
 * image (environment.h). Runs on the thread that execs, also in a vfork child in its
 * parent's memory. It must never allocate, and never fault on pointers that the program
 * passes.
 */
#include "environment.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include "agent/base/libc.h"
#include "writer/shared/sys.h"

#define PRELOAD "LD_PRELOAD="
#define SOCKET  FXT_SOCKET_ENVIRONMENT "="

/* Marks before the path in FXT_SOCKET. They tell the new image which variables were
 * added. */
#define MARK_PRELOAD 'p'
#define MARK_SESSION 's'
#define MARKS        2

/* "LD_PRELOAD=/…/libfxtagent.so"; empty: nothing is added. */
static char preload[4096 + sizeof(PRELOAD)];
static char session[256];      /* the path of the socket */
static const char *agent_path; /* as the loader has it; NULL: not known yet */

#define SMALLEST_PAGE 4096

/* True if memory at an address from the program can be read. If not, the kernel must report
 * that, as it would without us. This system call changes nothing: the kernel reads a mask
 * from the address before it rejects -1. */
static bool environment_can_read_word(uintptr_t address)
{
	uintptr_t word = address & ~(uintptr_t)7;

	return word && sys_call(SYS_rt_sigprocmask, -1, word, 0, sizeof(uint64_t)) != -EFAULT;
}

static bool environment_can_read_pointer(char *const *pointer)
{
	return environment_can_read_word((uintptr_t)pointer) &&
	       environment_can_read_word((uintptr_t)(pointer + 1) - 1);
}

bool agent_can_read_string(const char *string, size_t bytes)
{
	while (environment_can_read_word((uintptr_t)string)) {
		size_t in_page = SMALLEST_PAGE - (uintptr_t)string % SMALLEST_PAGE;

		if (bytes <= in_page || strnlen(string, in_page) < in_page)
			return true;
		string += in_page;
		bytes -= in_page;
	}
	return false;
}

static bool environment_begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

void agent_environment_find_agent(void)
{
	Dl_info self;

	if (!agent_path && dladdr(preload, &self))
		agent_path = self.dli_fname;
}

void agent_environment_prepare(const char *socket_path)
{
	agent_environment_find_agent();
	if (!agent_path || strlen(agent_path) > sizeof(preload) - sizeof(PRELOAD) ||
	        strlen(socket_path) >= sizeof(session))
		return;
	strcpy(stpcpy(preload, PRELOAD), agent_path);
	strcpy(session, socket_path);
}

char *agent_environment_agent(void)
{
	return preload[0] ? preload + strlen(PRELOAD) : NULL;
}

void agent_environment_forget(void)
{
	preload[0] = 0;
}

/* Returns the place of the agent's path in a value of LD_PRELOAD, or NULL. */
static const char *preload_find_agent(const char *list)
{
	const char *agent = preload + strlen(PRELOAD);
	size_t bytes = strlen(agent);

	for (const char *at = list; (at = strstr(at, agent)); at++)
		if ((at == list || strchr(": ", at[-1])) && (!at[bytes] || strchr(": ", at[bytes])))
			return at;
	return NULL;
}

/* Looks at one entry of an environment. False: it cannot be read. */
static bool environment_examine_entry(struct agent_environment *e, const char *entry)
{
	if (!agent_can_read_string(entry, sizeof(PRELOAD)))
		return false;
	if (environment_begins_with(entry, SOCKET)) {
		e->has_session = true;
		e->lacks_session = load_relaxed(&sys_confinement) != SYS_FREE;
	}
	if (!environment_begins_with(entry, PRELOAD))
		return true;
	if (!agent_can_read_string(entry, SIZE_MAX))
		return false;
	e->list = entry + strlen(PRELOAD);
	e->lacks_preload = !preload_find_agent(e->list);
	return true;
}

struct agent_environment agent_environment_examine(char *const *given, enum agent_image image)
{
	static char *const none[] = {NULL};
	struct agent_environment e = {.given = given ? given : none,
	        .lacks_preload = true,
	        .lacks_session = true,
	        .is_foreign = image == AGENT_IMAGE_FOREIGN};

	for (;; e.count++) {
		char *const *next = e.given + e.count;

		if (!environment_can_read_pointer(next))
			return e;
		if (!*next)
			break;
		if (!environment_examine_entry(&e, *next))
			return e;
	}
	if (preload[0] && (e.is_foreign ? !e.lacks_preload : e.lacks_preload || e.lacks_session))
		e.bytes = (e.count + 3) * sizeof(char *) + strlen(preload) + 1 +
		          (e.list ? strlen(e.list) : 0) + 1 + sizeof(SOCKET) + MARKS + strlen(session);
	return e;
}

/* Writes FXT_SOCKET, with marks for the variables that were missing. */
static void environment_put_session(const struct agent_environment *e, char *text)
{
	bool is_confined = load_relaxed(&sys_confinement) != SYS_FREE;

	text = stpcpy(text, SOCKET);
	if (e->lacks_preload)
		*text++ = MARK_PRELOAD;
	if (!e->has_session)
		*text++ = MARK_SESSION;
	strcpy(text, is_confined ? FXT_CONFINED : session);
}

/* Writes the given environment, with the agent removed from LD_PRELOAD. */
static char *const *environment_relieve(const struct agent_environment *e, void *room)
{
	char **entries = room, **next = entries;
	char *text = (char *)(entries + e->count + 3);
	const char *agent = preload_find_agent(e->list);
	size_t bytes = strlen(preload) - strlen(PRELOAD);
	bool is_first = agent == e->list;

	/* Removes the separator before it too or, for the first entry, the one behind
	 * it. */
	strcpy(mempcpy(stpcpy(text, PRELOAD), e->list, (size_t)(agent - e->list) - !is_first),
	        agent + bytes + (is_first && agent[bytes]));
	for (size_t i = 0; i < e->count; i++)
		if (!environment_begins_with(e->given[i], PRELOAD))
			*next++ = e->given[i];
		else if (text[strlen(PRELOAD)])
			*next++ = text;
	*next = NULL;
	return entries;
}

char *const *agent_environment_complete(const struct agent_environment *e, void *room)
{
	if (e->is_foreign)
		return environment_relieve(e, room);

	char **entries = room, **next = entries;
	char *preload_text = (char *)(entries + e->count + 3), *end = stpcpy(preload_text, preload);
	char *session_text, *added[2] = {NULL, NULL};

	if (e->list)
		end = stpcpy(stpcpy(end, ":"), e->list);
	session_text = end + 1;
	environment_put_session(e, session_text);
	for (size_t i = 0; i < e->count; i++)
		if (environment_begins_with(e->given[i], SOCKET))
			*next++ = session_text;
		else if (e->lacks_preload && environment_begins_with(e->given[i], PRELOAD))
			*next++ = preload_text;
		else
			*next++ = e->given[i];
	if (!e->has_session)
		added[0] = added[1] = session_text;
	if (e->lacks_preload && !e->list)
		added[1] = preload_text;
	/* Adds two entries or none; if only one is missing, adds it twice. The gap that two
	 * entries leave has the size of an entry of the auxiliary vector, so
	 * agent_environment_hide() can fill it. */
	if (added[1]) {
		*next++ = added[0] ? added[0] : preload_text;
		*next++ = added[1];
	}
	*next = NULL;
	return entries;
}

/* ---- in the new image ---- */

/* Removes an entry, in place: the array is the one that main() gets. */
static void environment_remove(char **entry)
{
	do
		entry[0] = entry[1];
	while (*entry++);
}

/* Removes the agent, which stands first, from LD_PRELOAD. False: nothing else is in it. */
static bool environment_withdraw_agent(char **entry)
{
	char *rest = strchr(*entry, ':');

	if (rest)
		*entry = memcpy(rest + 1 - strlen(PRELOAD), PRELOAD, strlen(PRELOAD));
	return rest;
}

const char *agent_environment_hide(const char *value)
{
	char **entries = agent_libc_environment();
	bool hides_preload = value && *value == MARK_PRELOAD;
	bool hides_session = value && value[hides_preload] == MARK_SESSION;
	size_t kept = 0, removed = 0;

	while ((hides_preload || hides_session) && entries[kept]) {
		bool is_preload = environment_begins_with(entries[kept], PRELOAD);
		bool is_session = environment_begins_with(entries[kept], SOCKET);

		if ((hides_session && is_session) ||
		        (hides_preload && is_preload && !environment_withdraw_agent(entries + kept))) {
			environment_remove(entries + kept);
			removed++;
		} else {
			kept++;
		}
	}
	/* The auxiliary vector must begin directly behind the environment: a first entry
	 * without meaning fills the gap. */
	if (removed == 2)
		entries[kept + 1] = (char *)AT_IGNORE;
	return value ? value + hides_preload + hides_session : NULL;
}
