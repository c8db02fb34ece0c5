/*
 * Attaches the session to processes, and follows their ends (attachment.h).
 */
#include "attachment.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "launcher/attach/process.h"
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

int fxt_attachment_prepare(struct fxt_attachment *a, const char *agent)
{
	return fxt_attacher_begin(&a->attacher, agent);
}

static void attachment_forget(struct fxt_attachment *a, pid_t pid)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->attached[i] == pid)
			a->attached[i--] = a->attached[--a->count];
}

static void attachment_note(struct fxt_attachment *a, pid_t pid, bool is_main)
{
	if (a->count < FXT_ATTACHMENT_PROCESSES)
		a->attached[a->count++] = pid;
	if (is_main) {
		a->is_on = true;
		fxt_say("attached to process %d (%s); Ctrl-C or fxtctl terminate ends the recording", pid,
		        a->session->config.options->program[0]);
	}
}

static void attachment_take_reply(struct fxt_watch *watch, void *context)
{
	struct fxt_attachment *a = context;
	struct fxt_attacher_reply reply;
	bool is_main;

	if (!fxt_attacher_take(&a->attacher, &reply)) {
		fxt_watch_remove(a->session->epoll, watch);
		a->has_failed |= a->awaited > 0 && !a->is_detaching;
		a->awaited = 0;
		return;
	}
	if (reply.is_thread) {
		fxt_earlier_waits_add(&a->waits, a->session, &reply.waiting);
		return;
	}
	is_main = reply.pid == a->session->program;
	a->awaited--;
	/* A process that has ended needs neither, but the user has named the main one. */
	if (reply.has_failed && !((reply.is_detached || !is_main) && fxt_process_has_ended(reply.pid)))
		fxt_say("%s", reply.error);
	if (reply.is_detached)
		attachment_forget(a, reply.pid);
	else if (!reply.has_failed)
		attachment_note(a, reply.pid, is_main);
	else if (is_main)
		a->has_failed = true;
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

/* Requests the process and its living descendants, but not fxtrun itself, which a shell may
 * have started that is attached to. */
static bool attachment_request(struct fxt_attachment *a)
{
	pid_t all[FXT_ATTACHMENT_PROCESSES];
	size_t count = fxt_process_tree(a->session->program, a->session->supervisor, all,
	        a->session->config.options->follow ? FXT_ATTACHMENT_PROCESSES : 1);

	for (size_t i = 0; i < count; i++) {
		if (!fxt_attacher_attach(&a->attacher, all[i], a->settings))
			return i > 0;
		a->awaited++;
	}
	return true;
}

int fxt_attachment_begin(struct fxt_attachment *a, struct fxt_session *session, const char *socket_path)
{
	int error;

	a->session = session;
	snprintf(a->settings, sizeof(a->settings), FXT_SOCKET_ENVIRONMENT "=%s", socket_path);
	a->replies = (struct fxt_watch){a->attacher.fd, attachment_take_reply, a};
	a->process = (struct fxt_watch){
	        (int)syscall(SYS_pidfd_open, session->program, 0), attachment_process_ended, a};
	if (a->process.fd < 0)
		return errno;
	error = fxt_watch_add(session->epoll, &a->replies);
	if (!error)
		error = fxt_watch_add(session->epoll, &a->process);
	if (!error && !attachment_request(a))
		error = EPIPE;
	return error;
}

bool fxt_attachment_is_over(const struct fxt_attachment *a)
{
	return a->has_failed || a->has_ended;
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
	if (a->session) {
		fxt_watch_remove(a->session->epoll, &a->replies);
		a->earlier_waits = fxt_earlier_waits_write(&a->waits, a->session);
	}
	fxt_attacher_end(&a->attacher);
}
