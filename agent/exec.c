/*
 * exec and posix_spawn give our variables back without malloc and without touching the program's own
 * environment: a vfork child runs here in its parent's memory. vfork itself cannot be
 * interposed, system() and popen() pass on the environment as it is, and a raw execve system call is the
 * program's own affair.
 */
#include "exec.h"
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "attributes.h"
#include "events.h"
#include "real.h"

#define CATEGORY "process"

/* ---- the environment of a new image ---- */

#define PRELOAD "LD_PRELOAD="
#define SOCKET  FXT_SOCKET_ENVIRONMENT "="

#define ON_STACK_MAX 8192 /* a larger environment is mapped, and in a vfork child's parent stays so */

static char preload[4096 + sizeof(PRELOAD)]; /* "LD_PRELOAD=/…/libfxtagent.so"; empty: nothing is put back */
static char session[256];                    /* "FXT_SOCKET=/…" */
static char confined[] = SOCKET FXT_CONFINED; /* for the new image of a confined process: not to be traced */

#define SMALLEST_PAGE 4096
#define PATH_SHOWN    128 /* bytes of it, at most */

/*
 * Whether there is memory at an address that the program handed to us: where there is none the kernel is to
 * say so, as it would without us. It copies a mask from there before it finds that -1 asks for nothing.
 */
static bool exec_can_read_word(uintptr_t address)
{
	uintptr_t word = address & ~(uintptr_t)7;

	return word && sys_call(SYS_rt_sigprocmask, -1, word, 0, sizeof(uint64_t)) != -EFAULT;
}

static bool exec_can_read_pointer(char *const *pointer)
{
	return exec_can_read_word((uintptr_t)pointer) && exec_can_read_word((uintptr_t)(pointer + 1) - 1);
}

/* Of a string, or of its first `bytes`, page by page. */
static bool exec_can_read_string(const char *string, size_t bytes)
{
	while (exec_can_read_word((uintptr_t)string)) {
		size_t in_page = SMALLEST_PAGE - (uintptr_t)string % SMALLEST_PAGE;

		if (bytes <= in_page || strnlen(string, in_page) < in_page)
			return true;
		string += in_page;
		bytes -= in_page;
	}
	return false;
}

static bool exec_text_begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

void agent_exec_prepare(const char *socket_path)
{
	Dl_info self;

	if (!dladdr(preload, &self) || !self.dli_fname ||
	        strlen(self.dli_fname) > sizeof(preload) - sizeof(PRELOAD) ||
	        strlen(socket_path) > sizeof(session) - sizeof(SOCKET))
		return;
	strcpy(stpcpy(preload, PRELOAD), self.dli_fname);
	strcpy(stpcpy(session, SOCKET), socket_path);
}

/* Whether a value of LD_PRELOAD has the agent among its parts. */
static bool preload_has_agent(const char *list)
{
	const char *agent = preload + strlen(PRELOAD);
	size_t bytes = strlen(agent);

	for (const char *at = list; (at = strstr(at, agent)); at++)
		if ((at == list || strchr(": ", at[-1])) && (!at[bytes] || strchr(": ", at[bytes])))
			return true;
	return false;
}

/* An environment as it is given, and what it lacks. */
struct environment {
	char *const *given;
	size_t count;
	const char *list; /* the value of LD_PRELOAD, if that is to be replaced */
	bool lacks_preload, lacks_session;
	size_t bytes; /* of the completed one; 0: nothing is lacking */
};

/* Looks at one entry of an environment. False: it cannot be read. */
static bool environment_examine_entry(struct environment *e, const char *entry)
{
	if (!exec_can_read_string(entry, sizeof(PRELOAD)))
		return false;
	if (exec_text_begins_with(entry, SOCKET))
		e->lacks_session = load_relaxed(&sys_confinement) != SYS_FREE;
	if (!exec_text_begins_with(entry, PRELOAD))
		return true;
	if (!exec_can_read_string(entry, SIZE_MAX))
		return false;
	e->list = entry + strlen(PRELOAD);
	e->lacks_preload = !preload_has_agent(e->list);
	return true;
}

/* One that cannot be read lacks nothing: it goes to the kernel as it is. */
static struct environment environment_examine(char *const *given)
{
	static char *const none[] = {NULL};
	struct environment e = {.given = given ? given : none, .lacks_preload = true, .lacks_session = true};

	for (;; e.count++) {
		char *const *next = e.given + e.count;

		if (!exec_can_read_pointer(next))
			return e;
		if (!*next)
			break;
		if (!environment_examine_entry(&e, *next))
			return e;
	}
	if (preload[0] && (e.lacks_preload || e.lacks_session))
		e.bytes = (e.count + 3) * sizeof(char *) + strlen(preload) + 1 +
		          (e.list ? strlen(e.list) : 0) + 1;
	return e;
}

/* Writes the completed environment into room of e->bytes. */
static char *const *environment_complete(const struct environment *e, void *room)
{
	char **entries = room, **next = entries;
	char *list = (char *)(entries + e->count + 3);

	for (size_t i = 0; i < e->count; i++)
		if (!(e->lacks_preload && exec_text_begins_with(e->given[i], PRELOAD)) &&
		        !(e->lacks_session && exec_text_begins_with(e->given[i], SOCKET)))
			*next++ = e->given[i];
	if (e->lacks_preload) {
		char *end = stpcpy(list, preload);

		if (e->list && *e->list)
			strcpy(stpcpy(end, ":"), e->list);
		*next++ = list;
	}
	if (e->lacks_session)
		*next++ = load_relaxed(&sys_confinement) != SYS_FREE ? confined : session;
	*next = NULL;
	return entries;
}

/* The environment for a new image, completed in the caller's frame or, if it is large, in memory that
 * environment_unmap() unmaps. */
#define COMPLETED(e)                                 \
	((e).bytes == 0 ? (e).given                  \
	                : environment_complete(&(e), \
	                          (e).bytes <= ON_STACK_MAX ? alloca((e).bytes) : exec_map((e).bytes)))

static void *exec_map(size_t bytes)
{
	return sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void environment_unmap(const struct environment *e, char *const *completed)
{
	if (e->bytes > ON_STACK_MAX)
		sys_unmap((void *)(uintptr_t)completed, e->bytes);
}

/* ---- exec ---- */

/* Tells the manager whether the image is about to end by exec: then the calls still open ended in order, and
 * it is no crash. Taken back if exec fails. */
static void exec_announce(bool ends)
{
	if (agent_is_own_process())
		store_release(&agent_engine.control->exiting, ends);
}

enum exec_kind { BY_PATH, BY_SEARCH, BY_DESCRIPTOR, BY_FILE };

/* What the record of an exec says of its path. */
static struct fxt_string exec_path_text(const char *path)
{
	bool can_read = exec_can_read_string(path, PATH_SHOWN);

	return fxt_string_inline(can_read ? path : "", can_read ? strnlen(path, PATH_SHOWN) : 0);
}

static int exec_image(
        enum exec_kind kind, int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	struct environment e = environment_examine(envp);
	char *const *environment = COMPLETED(e);
	struct fxt_argument argument = fxt_argument_string(agent_text("path"), exec_path_text(path));

	if (e.bytes && !environment)
		environment = e.given;
	agent_instant(CATEGORY, "exec", &argument, 1);
	exec_announce(true);
	switch (kind) {
	case BY_PATH:
		REAL(execve)(path, argv, environment);
		break;
	case BY_SEARCH:
		REAL(execvpe)(path, argv, environment);
		break;
	case BY_DESCRIPTOR:
		REAL(execveat)(fd, path, argv, environment, flags);
		break;
	case BY_FILE: /* for libc no environment is a fault, for the kernel an empty one */
		REAL(fexecve)(fd, argv, envp ? environment : NULL);
		break;
	}
	exec_announce(false);
	int error = errno;

	environment_unmap(&e, environment);
	errno = error;
	return -1;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	return exec_image(BY_PATH, -1, path, argv, envp, 0);
}

EXPORT int execv(const char *path, char *const argv[])
{
	return exec_image(BY_PATH, -1, path, argv, environ, 0);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return exec_image(BY_SEARCH, -1, file, argv, environ, 0);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return exec_image(BY_SEARCH, -1, file, argv, envp, 0);
}

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	return exec_image(BY_DESCRIPTOR, fd, path, argv, envp, flags);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	return exec_image(BY_FILE, fd, "", argv, envp, 0);
}

/* Counts the arguments up to the NULL that ends them, `first` included. */
static size_t exec_count_arguments(const char *first, va_list list)
{
	size_t count = 0;

	for (const char *argument = first; argument; argument = va_arg(list, const char *))
		count++;
	return count;
}

/* The arguments of execl() and its kind as an array in the caller's frame; `list` is left behind the NULL. */
#define COLLECT(argv, first, list)                            \
	va_list counting;                                     \
	va_start(list, first);                                \
	va_copy(counting, list);                              \
	size_t count = exec_count_arguments(first, counting); \
	va_end(counting);                                     \
	char *argv[count + 1];                                \
	argv[0] = (char *)(uintptr_t)first;                   \
	for (size_t i = 1; i <= count; i++)                   \
	argv[i] = va_arg(list, char *)

EXPORT int execl(const char *path, const char *first, ...)
{
	va_list list;

	COLLECT(argv, first, list);
	va_end(list);
	return exec_image(BY_PATH, -1, path, argv, environ, 0);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list list;

	COLLECT(argv, first, list);
	va_end(list);
	return exec_image(BY_SEARCH, -1, file, argv, environ, 0);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	va_list list;

	COLLECT(argv, first, list);
	char *const *envp = va_arg(list, char *const *);

	va_end(list);
	return exec_image(BY_PATH, -1, path, argv, envp, 0);
}

/* ---- children ---- */

void agent_record_child(uint64_t begin, const char *how, pid_t child)
{
	struct fxt_argument argument = fxt_argument_koid(agent_text("child"), (uint64_t)child);

	agent_slice_end(begin, CATEGORY, how, &argument, 1);
}

static int exec_spawn(__typeof__(&posix_spawn) function, const char *name, pid_t *child, const char *path,
        const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[],
        char *const envp[])
{
	struct environment e = environment_examine(envp);
	char *const *environment = COMPLETED(e);
	uint64_t begin = agent_slice_begin(CATEGORY);
	pid_t own;
	int error;

	if (e.bytes && !environment)
		environment = e.given;
	error = function(child ? child : &own, path, actions, attributes, argv, environment);
	environment_unmap(&e, environment);
	if (error == 0)
		agent_record_child(begin, name, child ? *child : own);
	return error;
}

EXPORT int posix_spawn(pid_t *restrict child, const char *restrict path,
        const posix_spawn_file_actions_t *restrict actions, const posix_spawnattr_t *restrict attributes,
        char *const argv[restrict], char *const envp[restrict])
{
	return exec_spawn(REAL(posix_spawn), "posix_spawn", child, path, actions, attributes, argv, envp);
}

EXPORT int posix_spawnp(pid_t *restrict child, const char *restrict file,
        const posix_spawn_file_actions_t *restrict actions, const posix_spawnattr_t *restrict attributes,
        char *const argv[restrict], char *const envp[restrict])
{
	return exec_spawn(REAL(posix_spawnp), "posix_spawnp", child, file, actions, attributes, argv, envp);
}
