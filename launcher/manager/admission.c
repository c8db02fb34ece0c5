/*
 * Decides on the admission of processes that say hello, and makes providers of those
 * admitted. Runs on the main thread; must not wait for a process.
 */
#include "admission.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "description.h"
#include "providers.h"
#include "session.h"
#include "launcher/debug.h"
#include "launcher/preload.h"
#include "writer/shared/atomics.h"

/*
 * Returns the koid of a process that says hello. If its number is known, either the same
 * process has returned after an exec, which ends its earlier provider, or the kernel has
 * reused the number for another process.
 */
static uint64_t session_process_koid(struct fxt_session *s, pid_t pid, bool is_followed)
{
	for (uint32_t i = s->count; i-- > 0;) {
		struct fxt_provider *earlier = s->providers[i];

		if (earlier->pid != pid)
			continue;
		if (earlier->process.fd < 0)
			return earlier->process_koid + (1u << FXT_KOID_REUSE_SHIFT);
		if (fxt_provider_is_dead(earlier)) {
			fxt_session_process_is_gone(&earlier->process, s);
			return earlier->process_koid + (1u << FXT_KOID_REUSE_SHIFT);
		}
		earlier->is_replaced = is_followed;
		if (earlier->ledger)
			store_relaxed(&earlier->ledger->is_replaced, is_followed);
		fxt_session_end_provider(s, earlier, FXT_ENDED_NORMALLY);
		fxt_session_forget_process(s, earlier);
		return earlier->process_koid;
	}
	return (uint64_t)pid + (s->gone ? (uint64_t)s->gone->koids[pid] << FXT_KOID_REUSE_SHIFT : 0);
}

/* Links the provider to the earlier image of its process. */
static void session_link_image(const struct fxt_session *s, struct fxt_provider *p)
{
	for (uint32_t i = s->count; i-- > 0 && !p->earlier;)
		if (s->providers[i]->process_koid == p->process_koid)
			p->earlier = s->providers[i];
	if (p->earlier)
		p->earlier->later = p;
}

/* True if a live process descends from the program, as far as the chain of live parents
 * shows. */
static bool session_is_descendant(const struct fxt_session *s, pid_t pid)
{
	for (; pid > 1; pid = fxt_description_parent(pid)) {
		if (pid == s->program)
			return true;
		for (uint32_t i = 0; i < s->count; i++)
			if (s->providers[i]->pid == pid && s->providers[i]->process.fd >= 0)
				return true;
	}
	return false;
}

void fxt_session_refuse_other_user(struct fxt_session *s, pid_t pid, uid_t user)
{
	char reason[64];
	struct fxt_archive_provider who = {0};

	if (!s->config.options->follow || !session_is_descendant(s, pid))
		return;
	fxt_archive_name(&who, "process", strlen("process"));
	snprintf(reason, sizeof(reason), "it belongs to another user (%u)", user);
	fxt_session_refuse(s, &who, pid, reason);
}

/* True if the session must record the process: always the program, and its descendants
 * according to --follow. */
static bool session_is_followed(const struct fxt_session *s, pid_t pid, const struct fxt_hello *hello)
{
	bool is_first = pid == s->program && !s->program_was_met;

	return is_first || (s->config.options->follow & (hello->image ? FXT_FOLLOW_EXEC : FXT_FOLLOW_FORK));
}

static uint64_t session_buffer_bytes(
        const struct fxt_session *s, const struct fxt_archive_provider *identity, pid_t pid)
{
	return fxt_options_buffer_bytes(
	        s->config.options, identity->name, identity->name_bytes, pid == s->program);
}

/* True if there is memory for one more process, since each may use its whole buffer in
 * time. The first process is always traced. */
static bool session_has_room(const struct fxt_session *s, uint64_t bytes)
{
	uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;

	for (uint32_t i = 0; i < s->count && bytes <= half; i++)
		bytes += s->providers[i]->memory.buffer_bytes;
	return s->alive == 0 || bytes <= half;
}

/* True if no provider can join a recording of the session now: there is none, or it is
 * ending. */
static bool session_only_registers(const struct fxt_session *s)
{
	enum fxt_session_state state = s->recording.state;

	return fxt_session_is_idle_session(s) &&
	       (state == FXT_SESSION_READY || state == FXT_SESSION_TERMINATING);
}

/* Gives a new provider its resources. Returns 0, or an errno value; nothing of it is left
 * then. */
static int session_start_provider(struct fxt_session *s, struct fxt_provider *p)
{
	uint64_t bytes = session_buffer_bytes(s, &p->identity, p->pid);
	int error = 0;

	p->process =
	        (struct fxt_watch){(int)syscall(SYS_pidfd_open, p->pid, 0), fxt_session_process_is_gone, s};
	if (p->process.fd < 0)
		return errno;
	if (p->pid == s->program && s->prepared.buffer_bytes == bytes) {
		p->memory = s->prepared;
		s->prepared = (struct fxt_memory){0};
	} else {
		/* A later recording may elide calls even if this one does not. */
		error = fxt_memory_create(&p->memory, bytes, s->config.options->buffering_mode,
		        fxt_session_is_idle_session(s) || fxt_options_elide_calls(s->config.options));
	}
	if (!error && fxt_watch_add(s->epoll, &p->process) != 0)
		error = errno;
	if (!error && session_only_registers(s))
		fxt_provider_register(p, &s->config);
	else if (!error)
		error = fxt_session_enlist(s, p);
	if (error) {
		fxt_session_forget_process(s, p);
		fxt_memory_free(&p->memory);
	}
	return error;
}

struct fxt_provider *fxt_session_connect(
        struct fxt_session *s, pid_t pid, const struct fxt_hello *hello, struct fxt_welcome *welcome)
{
	struct fxt_archive_provider identity = {.id = s->last_id + 1};
	struct fxt_provider *p;
	int error;

	fxt_archive_name(&identity, hello->name, hello->name_bytes);
	*welcome = (struct fxt_welcome){
	        .magic = FXT_WELCOME_MAGIC, .version = FXT_SHARED_VERSION, .status = FXT_WELCOME_REFUSED};
	if (hello->version != FXT_SHARED_VERSION) {
		welcome->status = FXT_WELCOME_VERSION;
		fxt_session_refuse(s, &identity, pid,
		        "its " FXT_AGENT_FILE " has another version than fxtrun; use that of fxtrun");
		return NULL;
	}
	if (!session_is_followed(s, pid, hello)) {
		session_process_koid(s, pid, false); /* ends an earlier image */
		return NULL;
	}
	if (!session_has_room(s, session_buffer_bytes(s, &identity, pid)))
		fxt_session_beat(s); /* some providers may be done */
	if (!session_has_room(s, session_buffer_bytes(s, &identity, pid))) {
		fxt_session_refuse(s, &identity, pid,
		        "the buffers of all processes would take more than half of this machine's memory; "
		        "--buffer-size makes them smaller");
		return NULL;
	}
	if (!s->config.ticks_per_second)
		fxt_session_measure_first_rate(s);
	p = fxt_session_new_provider(s);
	if (!p) {
		fxt_session_refuse(s, &identity, pid, strerror(ENOMEM));
		return NULL;
	}
	p->identity = identity;
	p->pid = pid;
	p->own_pid = (pid_t)hello->pid;
	p->process_koid = session_process_koid(s, pid, true);
	error = session_start_provider(s, p);
	if (error) {
		fxt_session_refuse(s, &identity, pid, strerror(error));
		free(p);
		return NULL;
	}
	session_link_image(s, p);
	s->count++;
	s->alive++;
	s->last_id = identity.id;
	s->program_was_met |= pid == s->program;
	fxt_debug_check(fxt_session_is_valid(s));
	welcome->status = FXT_WELCOME_OK;
	welcome->buffer_bytes = p->memory.buffer_bytes;
	welcome->control_bytes = p->memory.control_bytes;
	return p;
}

void fxt_session_welcomed(struct fxt_session *s, struct fxt_provider *p, bool sent)
{
	if (!fxt_session_is_idle_session(s)) { /* otherwise the supervisor gets it with each
		                                * recording */
		close(p->memory.control_fd);
		p->memory.control_fd = -1;
	}
	if (!sent)
		fxt_session_end_provider(s, p, FXT_ENDED_BY_SIGNAL);
}
