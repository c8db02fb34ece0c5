/*
 * Attaches the session to processes, and follows their ends (attachment.h).
 */
#include "attachment.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "launcher/attach/process.h"
#include "launcher/attach/unit.h"
#include "launcher/message.h"
#include "target.h"

int fxt_attachment_find(pid_t pid, const char *agent, char *target, char *error, size_t error_bytes)
{
	char link[64], name[64];
	ssize_t bytes;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	snprintf(name, sizeof(name), "process %d", pid);
	/* If the program is of a kind that is never traced, that explains more than the
	 * lack of something in its memory. */
	if (access(link, R_OK) == 0 && fxt_target_judge(link, name, error, error_bytes) != 0)
		return -1;
	if (fxt_process_check(pid, agent, error, error_bytes) != 0)
		return -1;
	bytes = readlink(link, target, PATH_MAX - 1);
	target[bytes < 0 ? 0 : bytes] = 0;
	return 0;
}

/* ---- the attached processes ---- */

static void attachment_forget(struct fxt_attachment *a, pid_t pid)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->attached[i] == pid)
			a->attached[i--] = a->attached[--a->count];
}

static bool attachment_has(const struct fxt_attachment *a, pid_t pid)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->attached[i] == pid)
			return !fxt_process_has_ended(pid);
	return false;
}

static bool attachment_is_main(const struct fxt_attachment *a, pid_t pid)
{
	return a->has_main && pid == a->session->program;
}

static void attachment_note(struct fxt_attachment *a, pid_t pid)
{
	for (size_t i = 0; a->count == FXT_ATTACHMENT_PROCESSES && i < a->count; i++)
		if (fxt_process_has_ended(a->attached[i]))
			a->attached[i--] = a->attached[--a->count];
	if (a->count < FXT_ATTACHMENT_PROCESSES)
		a->attached[a->count++] = pid;
	if (attachment_is_main(a, pid)) {
		a->is_on = true;
		fxt_say("attached to process %d (%s); Ctrl-C or fxtctl terminate ends the recording", pid,
		        a->session->config.options->program[0]);
	}
}

/* ---- replies ---- */

/* Answers the call if no reply to it is to come. */
static void attachment_answer(struct fxt_attachment *a)
{
	struct fxt_attachment_call *call = &a->call;

	if (!call->pid || call->awaited > 0)
		return;
	call->pid = 0;
	a->answer(a->answer_context, call->has_failed ? call->error : NULL, call->count);
}

static void attachment_fail_call(struct fxt_attachment *a, const char *error)
{
	if (!a->call.has_failed)
		snprintf(a->call.error, sizeof(a->call.error), "%s", error);
	a->call.has_failed = true;
}

/* Counts a reply. False: it answers an earlier request than the call. */
static bool attachment_is_of_call(struct fxt_attachment *a)
{
	struct fxt_attachment_call *call = &a->call;

	if (!call->pid)
		return false;
	if (call->before > 0) {
		call->before--;
		return false;
	}
	call->awaited--;
	return true;
}

static void attachment_hung_up(struct fxt_attachment *a)
{
	fxt_watch_remove(a->session->epoll, &a->replies);
	fxt_attacher_end(&a->attacher);
	a->attacher.fd = 0;
	a->has_failed |= a->has_main && a->awaited > 0 && !a->is_detaching;
	a->awaited = a->call.awaited = 0;
	if (a->call.pid)
		attachment_fail_call(a, "the process that attaches was killed");
	attachment_answer(a);
}

static void attachment_take_reply(struct fxt_watch *watch, void *context)
{
	struct fxt_attachment *a = context;
	struct fxt_attacher_reply reply;
	bool is_of_call, is_needed;

	(void)watch;
	if (!fxt_attacher_take(&a->attacher, &reply)) {
		attachment_hung_up(a);
		return;
	}
	if (reply.is_thread) {
		/* Its records come at the session's end, when a session of several recordings
		 * has no trace. */
		if (!fxt_session_is_idle_session(a->session))
			fxt_earlier_waits_add(&a->waits, a->session, &reply.waiting);
		return;
	}
	a->awaited--;
	is_of_call = attachment_is_of_call(a);
	/* A process that has ended needs neither, unless the user has named it. */
	is_needed = attachment_is_main(a, reply.pid) || (is_of_call && reply.pid == a->call.pid);
	if (reply.has_failed && !((reply.is_detached || !is_needed) && fxt_process_has_ended(reply.pid))) {
		if (is_of_call && is_needed)
			attachment_fail_call(a, reply.error);
		else
			fxt_say("%s", reply.error);
	}
	if (is_of_call)
		a->call.count += !reply.has_failed;
	if (reply.is_detached && (!reply.has_failed || a->is_detaching))
		attachment_forget(a, reply.pid);
	else if (!reply.is_detached && !reply.has_failed)
		attachment_note(a, reply.pid);
	else if (attachment_is_main(a, reply.pid) && !reply.is_detached)
		a->has_failed = true;
	attachment_answer(a);
}

static void attachment_process_ended(struct fxt_watch *watch, void *context)
{
	struct fxt_attachment *a = context;

	pid_t pid = a->session->program;
	int status = fxt_process_wait_status(pid, watch->fd);

	fxt_watch_remove(a->session->epoll, watch);
	attachment_forget(a, pid);
	/* Before its provider ends: that knows which threads have gone on. */
	fxt_earlier_waits_end(&a->waits, a->session);
	a->has_ended = true;
	if (status != FXT_SESSION_STATUS_UNKNOWN && WIFEXITED(status))
		fxt_say("process %d has exited with status %d", pid, WEXITSTATUS(status));
	fxt_session_program_ended(a->session, status, 0);
}

/* ---- requests ---- */

/* Starts the attaching process. Returns 0, or an errno value. */
static int attachment_start(struct fxt_attachment *a)
{
	int error = a->attacher.fd ? 0 : fxt_attacher_begin(&a->attacher, a->agent);

	if (error || a->replies.fd == a->attacher.fd)
		return error;
	a->replies = (struct fxt_watch){a->attacher.fd, attachment_take_reply, a};
	return fxt_watch_add(a->session->epoll, &a->replies);
}

/* Lists a process and its living descendants, or the processes of a unit. The first one is
 * what the user names. fxtrun itself is left out: a shell that is attached to may have started
 * it. Returns their number. */
static size_t attachment_list(const struct fxt_attachment *a, const char *target, pid_t *all)
{
	char *end;
	long pid = strtol(target, &end, 10);

	if (*end)
		return fxt_unit_processes(target, all, FXT_ATTACHMENT_PROCESSES);
	if (pid <= 0 || pid > INT_MAX || kill((pid_t)pid, 0) != 0)
		return 0;
	return fxt_process_tree((pid_t)pid, a->session->supervisor, all,
	        a->session->config.options->follow ? FXT_ATTACHMENT_PROCESSES : 1);
}

/* Requests to attach to all that are not attached to, or to detach from those that are.
 * Returns the number of requests. */
static size_t attachment_request(struct fxt_attachment *a, bool is_detach, const pid_t *all, size_t count)
{
	size_t requests = 0;

	for (size_t i = 0; i < count; i++) {
		if (attachment_has(a, all[i]) != is_detach)
			continue;
		if (!(is_detach ? fxt_attacher_detach(&a->attacher, all[i])
		                : fxt_attacher_attach(&a->attacher, all[i], a->settings)))
			break;
		requests++;
	}
	a->awaited += requests;
	return requests;
}

void fxt_attachment_open(
        struct fxt_attachment *a, struct fxt_session *session, const char *agent, const char *socket_path)
{
	a->session = session;
	a->agent = agent;
	snprintf(a->settings, sizeof(a->settings), FXT_SOCKET_ENVIRONMENT "=%s", socket_path);
}

int fxt_attachment_begin(struct fxt_attachment *a)
{
	pid_t all[FXT_ATTACHMENT_PROCESSES];
	int error;

	a->has_main = true;
	a->process = (struct fxt_watch){
	        (int)syscall(SYS_pidfd_open, a->session->program, 0), attachment_process_ended, a};
	if (a->process.fd < 0)
		return errno;
	error = attachment_start(a);
	if (!error)
		error = fxt_watch_add(a->session->epoll, &a->process);
	if (!error && !attachment_request(
	                      a, false, all, attachment_list(a, a->session->config.options->attach, all)))
		error = EPIPE;
	return error;
}

/* Why the call is not possible now; NULL: it is. */
static const char *attachment_refusal(const struct fxt_attachment *a, bool is_detach)
{
	if (!a->session)
		return "the program does not run yet";
	if (a->is_detaching)
		return "the session is ending";
	if (a->call.pid)
		return "another process is being attached to or detached from; try again";
	if (a->session->config.options->decouple && !is_detach)
		return "the session ends with its last process (--decouple), so no others can be added";
	return NULL;
}

int fxt_attachment_call(
        struct fxt_attachment *a, bool is_detach, const char *target, char *error, size_t error_bytes)
{
	const char *refusal = attachment_refusal(a, is_detach);
	pid_t all[FXT_ATTACHMENT_PROCESSES];
	size_t count = refusal ? 0 : attachment_list(a, target, all);
	int failed;

	snprintf(error, error_bytes, "%s", refusal ? refusal : "");
	if (!refusal && count == 0)
		snprintf(error, error_bytes, "%s: no such process, nor a unit with any", target);
	else if (!refusal && is_detach && !attachment_has(a, all[0]))
		snprintf(error, error_bytes, "process %d is not attached to", all[0]);
	else if (!refusal && !is_detach && attachment_has(a, all[0]))
		snprintf(error, error_bytes, "process %d is attached to already", all[0]);
	else if (!refusal && (failed = attachment_start(a)) != 0)
		snprintf(error, error_bytes, "cannot make the process that attaches: %s", strerror(failed));
	if (*error)
		return -1;
	a->call = (struct fxt_attachment_call){.pid = all[0], .before = a->awaited};
	/* A detach interrupts waits. */
	if (is_detach)
		fxt_earlier_waits_end(&a->waits, a->session);
	a->call.awaited = attachment_request(a, is_detach, all, count);
	return 0;
}

/* ---- its life ---- */

bool fxt_attachment_is_over(const struct fxt_attachment *a)
{
	return a->has_failed || a->has_ended;
}

bool fxt_attachment_is_beginning(const struct fxt_attachment *a)
{
	return a->has_main && !a->is_on;
}

void fxt_attachment_beat(struct fxt_attachment *a)
{
	if (!a->is_detaching)
		fxt_earlier_waits_look(&a->waits, a->session);
}

bool fxt_attachment_leave(struct fxt_attachment *a)
{
	/* A process may be in the middle of being attached. A detach interrupts waits. */
	if (!a->is_detaching && a->awaited == 0 && fxt_earlier_waits_end(&a->waits, a->session)) {
		a->is_detaching = true;
		for (size_t i = 0; i < a->count; i++)
			a->awaited += fxt_attacher_detach(&a->attacher, a->attached[i]);
	}
	return a->is_detaching && a->awaited == 0;
}

void fxt_attachment_close(struct fxt_attachment *a)
{
	if (a->process.fd > 0) {
		fxt_watch_remove(a->session->epoll, &a->process);
		close(a->process.fd);
	}
	a->earlier_waits = fxt_earlier_waits_write(&a->waits, a->session);
	if (a->attacher.fd) {
		fxt_watch_remove(a->session->epoll, &a->replies);
		fxt_attacher_end(&a->attacher);
	}
}
