#include "manager.h"
#include <errno.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "message.h"

#define BEAT_NS UINT64_C(100000000) /* an agent doubts the manager after 1 s without a heartbeat */

static void signal_came(struct fxt_watch *watch, void *context)
{
	struct fxt_manager *m = context;
	struct signalfd_siginfo info;
	const char *reason;

	if (read(watch->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGCHLD:
		m->ended = waitpid(m->session->program, &m->status, WNOHANG) == m->session->program;
		break;
	case SIGINT:
	case SIGQUIT:
		/* As with env and time: what the terminal sends goes to the program too, and ends it or not.
		 */
		break;
	case SIGUSR1:
		reason = fxt_snapshots_request(m->snapshots, "", NULL, NULL);
		if (reason)
			fxt_say("no snapshot: %s", reason);
		break;
	default:
		if (info.ssi_code != SI_KERNEL)
			kill(m->session->program, (int)info.ssi_signo);
	}
}

int fxt_manager_open(struct fxt_manager *m, struct fxt_session *session, struct fxt_door *door,
        struct fxt_snapshots *snapshots, struct fxt_control_socket *control, const sigset_t *handled)
{
	int error;

	*m = (struct fxt_manager){
	        .session = session, .door = door, .snapshots = snapshots, .control = control};
	m->signals = (struct fxt_watch){signalfd(-1, handled, SFD_CLOEXEC | SFD_NONBLOCK), signal_came, m};
	if (m->signals.fd < 0)
		return errno;
	if (fxt_watch_add(session->epoll, &m->signals) == 0)
		return 0;
	error = errno;
	close(m->signals.fd);
	return error;
}

int fxt_manager_run(struct fxt_manager *m)
{
	uint64_t next_beat = fxt_monotonic_ns() + BEAT_NS;

	while (!m->ended) {
		uint64_t now = fxt_monotonic_ns();

		if (now >= next_beat) {
			fxt_session_beat(m->session);
			fxt_door_beat(m->door);
			fxt_snapshots_beat(m->snapshots);
			fxt_control_beat(m->control);
			next_beat = now + BEAT_NS;
		}
		fxt_watch_wait(m->session->epoll, (int)((next_beat - now) / 1000000) + 1);
	}
	fxt_control_terminating(m->control);
	return m->status;
}

void fxt_manager_close(struct fxt_manager *m)
{
	fxt_watch_remove(m->session->epoll, &m->signals);
	close(m->signals.fd);
}
