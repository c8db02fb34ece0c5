/*
 * The main thread's loop while the program runs: signals, ended children, and the
 * heartbeat. It must wake up at least every 100 ms, so no handler may wait for a process or
 * a disk.
 */
#include "manager.h"
#include <errno.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "launcher/message.h"
#include "launcher/manager/death.h"

/* An agent that sees no heartbeat for 1 s takes fxtrun for dead, and drops records instead
 * of waiting for it. */
#define BEAT_NS UINT64_C(100000000)

/* Waits for all ended children: the program, processes that it left behind to us
 * (--decouple), and the writers of snapshots, which report their end by their pipes. */
static void manager_reap(struct fxt_manager *m)
{
	siginfo_t child = {.si_pid = 0};
	int has_children;

	/* /proc shows a process until it was waited for. */
	while ((has_children = waitid(
	                P_ALL, 0, &child, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT)) == 0 &&
	        child.si_pid != 0) {
		uint32_t seccomp = child.si_pid == m->session->program ? fxt_death_seccomp(child.si_pid) : 0;
		int status;

		if (waitpid(child.si_pid, &status, WNOHANG | WUNTRACED | WCONTINUED) != child.si_pid ||
		        child.si_pid != m->session->program)
			continue;
		if (WIFSTOPPED(status))
			fxt_supervisor_stop(m->supervisor, WSTOPSIG(status));
		else if (m->is_stopped)
			fxt_supervisor_continue(m->supervisor);
		m->is_stopped = WIFSTOPPED(status);
		if (m->is_stopped || WIFCONTINUED(status))
			continue;
		m->ended = true;
		m->status = status;
		fxt_session_program_ended(m->session, status, seccomp);
	}
	m->is_over = m->session->config.options->decouple ? has_children < 0 : m->ended;
}

/* Handles a signal sent by a process or by the terminal: it ends the session, or is passed
 * to the program. The program gets signals of the terminal anyway. */
static void manager_pass_on(struct fxt_manager *m, const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;
	bool from_terminal = fxt_supervisor_is_from_terminal(info->ssi_code, info->ssi_int);

	if (number != SIGUSR2 && (m->ended || m->session->config.options->detach)) {
		fxt_session_terminate(m->session);
		m->is_over = m->is_over || m->recordings;
	} else if (!m->ended && !from_terminal && number != SIGINT && number != SIGQUIT) {
		kill(m->session->program, number);
	}
}

static void manager_signal_came(struct fxt_watch *watch, void *context)
{
	struct fxt_manager *m = context;
	struct signalfd_siginfo info;
	const char *reason;

	if (read(watch->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGCHLD:
		manager_reap(m);
		break;
	case SIGCONT:
		manager_reap(m); /* usually the program got one too */
		if (m->is_stopped)
			kill(m->session->program, SIGCONT);
		break;
	case SIGUSR1:
		reason = fxt_snapshots_request(m->snapshots, "", NULL, NULL);
		if (reason)
			fxt_say("no snapshot: %s", reason);
		break;
	default:
		manager_pass_on(m, &info);
	}
}

int fxt_manager_open(struct fxt_manager *m, struct fxt_session *session, struct fxt_acceptor *acceptor,
        struct fxt_snapshots *snapshots, struct fxt_control_server *control,
        struct fxt_attachment *attachment, const struct fxt_supervisor *supervisor, const sigset_t *handled)
{
	int error;

	if (session->config.options->decouple)
		prctl(PR_SET_CHILD_SUBREAPER, 1); /* processes that the program leaves behind
		                                   * become our children */
	*m = (struct fxt_manager){.session = session,
	        .acceptor = acceptor,
	        .snapshots = snapshots,
	        .control = control,
	        .attachment = attachment,
	        .supervisor = supervisor};
	m->signals =
	        (struct fxt_watch){signalfd(-1, handled, SFD_CLOEXEC | SFD_NONBLOCK), manager_signal_came, m};
	if (m->signals.fd < 0)
		return errno;
	if (fxt_watch_add(session->epoll, &m->signals) == 0)
		return 0;
	error = errno;
	close(m->signals.fd);
	return error;
}

void fxt_manager_watch_recordings(struct fxt_manager *m, void (*look)(void *context), void *context)
{
	m->recordings = look;
	m->recordings_context = context;
}

void fxt_manager_watch_rotations(struct fxt_manager *m, void (*look)(void *context), void *context)
{
	m->rotations = look;
	m->rotations_context = context;
}

/* Detaches from all processes once the session is over. Returns true when that is done, or
 * takes too long. */
static bool manager_has_left(struct fxt_manager *m)
{
	if (!m->leave_ns)
		m->leave_ns = fxt_monotonic_ns();
	if (fxt_attachment_leave(m->attachment))
		return true;
	if (fxt_monotonic_ns() - m->leave_ns < FXT_MANAGER_DETACH_NS)
		return false;
	fxt_say("a process cannot be detached from; it goes on untraced");
	return true;
}

/* Ends the session when the process of --attach has ended: nobody requests that then, and
 * its descendants may have to be detached from. */
static void manager_look_at_attachment(struct fxt_manager *m)
{
	if (!fxt_attachment_is_over(m->attachment))
		return;
	m->ended = m->attachment->has_ended;
	fxt_session_terminate(m->session);
}

static uint64_t manager_earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Rounded up: a slightly shorter wait would make the loop turn once more for nothing. */
static int manager_milliseconds(uint64_t ns)
{
	return (int)(ns / 1000000) + 1;
}

/* The session was requested to end: it ends when the program has ended, is detached, or
 * takes too long. */
static void manager_end_session(struct fxt_manager *m)
{
	if (m->ended || m->session->config.options->detach) {
		m->is_over = true;
	} else if (fxt_monotonic_ns() - m->session->recording.terminate_ns > FXT_MANAGER_GRACE_NS) {
		fxt_say("process %d does not end on SIGTERM; it goes on untraced", m->session->program);
		m->is_over = true;
	}
}

void fxt_manager_run(struct fxt_manager *m)
{
	uint64_t next_beat = fxt_monotonic_ns() + BEAT_NS;
	uint64_t duration = m->session->config.options->duration_ns;
	uint64_t deadline = UINT64_MAX;
	bool has_left = m->is_over;

	while (!has_left) {
		uint64_t now = fxt_monotonic_ns();

		if (duration && !fxt_attachment_is_beginning(m->attachment)) {
			deadline = now + duration;
			duration = 0;
		}
		if (now >= deadline) {
			fxt_session_terminate(m->session);
			deadline = UINT64_MAX;
		}
		manager_look_at_attachment(m);
		if (m->rotations)
			m->rotations(m->rotations_context);
		if (m->recordings)
			m->recordings(m->recordings_context);
		else if (m->session->recording.terminate_ns)
			manager_end_session(m);
		if (now >= next_beat) {
			fxt_session_beat(m->session);
			fxt_attachment_beat(m->attachment);
			fxt_acceptor_beat(m->acceptor);
			fxt_snapshots_beat(m->snapshots);
			fxt_control_resume(m->control);
			fxt_say_rest();
			next_beat = now + BEAT_NS;
		}
		has_left = m->is_over && manager_has_left(m);
		if (!has_left)
			fxt_watch_wait(m->session->epoll,
			        manager_milliseconds(manager_earlier(next_beat, deadline) - now));
	}
	if (m->session->recording.state != FXT_SESSION_READY)
		fxt_recording_terminate(m->session);
}

void fxt_manager_close(struct fxt_manager *m)
{
	fxt_watch_remove(m->session->epoll, &m->signals);
	close(m->signals.fd);
}
