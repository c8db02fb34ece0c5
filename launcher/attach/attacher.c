/* Both ends of the socket between the manager and the attaching process (attacher.h). */
#include "attacher.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "inject.h"
#include "process.h"

/* More processes than a tree has in practice. */
#define ATTACHED_MAX 1024

/* The attaching process's end of the socket. */
#define SERVER_FD (STDERR_FILENO + 1)

/* For processes that could not be detached from before the session's end. */
#define LATE_TRIES    100
#define LATE_PAUSE_NS 100000000L

struct request {
	pid_t pid;
	bool is_detach;
	char settings[FXT_ATTACHER_SETTINGS_BYTES];
};

struct server {
	int fd;
	const char *agent;
	pid_t attached[ATTACHED_MAX];
	size_t count;
};

/* ---- the attaching process ---- */

static void server_tell_waiting(const struct server *s, const struct fxt_waiting_list *waiting)
{
	for (size_t i = 0; i < waiting->count; i++) {
		struct fxt_attacher_reply reply = {
		        .pid = waiting->items[i].pid, .is_thread = true, .waiting = waiting->items[i]};

		send(s->fd, &reply, sizeof(reply), MSG_NOSIGNAL);
	}
}

static int server_inject(const struct server *s, const struct request *r, char *error, size_t error_bytes)
{
	struct fxt_waiting_list waiting;
	int result;

	if (r->is_detach)
		return fxt_inject_detach(r->pid, s->agent, error, error_bytes);
	fxt_waiting_open(&waiting);
	result = fxt_inject_attach(
	        r->pid, s->agent, r->settings, strlen(r->settings) + 1, &waiting, error, error_bytes);
	if (result == 0)
		server_tell_waiting(s, &waiting);
	fxt_waiting_close(&waiting);
	return result;
}

/* Meets a request in a process for it. True if that succeeded. */
static bool server_carry_out(
        const struct server *s, const struct request *r, struct fxt_attacher_reply *reply)
{
	int ends[2], status = -1;
	pid_t pid;

	*reply = (struct fxt_attacher_reply){.pid = r->pid, .is_detached = r->is_detach, .has_failed = true};
	snprintf(reply->error, sizeof(reply->error), "process %d: the process that attaches has failed",
	        r->pid);
	if (pipe(ends) != 0)
		return false;
	pid = fork();
	if (pid == 0) {
		status = server_inject(s, r, reply->error, sizeof(reply->error));
		_exit(write(ends[1], reply->error, strlen(reply->error) + 1) < 0 || status != 0);
	}
	close(ends[1]);
	if (read(ends[0], reply->error, sizeof(reply->error)) < 0)
		status = -1;
	close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	reply->has_failed = status != 0;
	return !reply->has_failed;
}

static void server_note(struct server *s, const struct request *r)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->attached[i] == r->pid)
			s->attached[i--] = s->attached[--s->count];
	if (!r->is_detach && s->count < ATTACHED_MAX)
		s->attached[s->count++] = r->pid;
}

/* Gives up fxtrun's outputs when the session is over: their readers must not wait for us. */
static void server_let_go(const struct server *s)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; nowhere >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(nowhere, fd);
	close(s->fd);
}

/* Tries to detach until it succeeds. The process may be stopped, or another fxtrun may be
 * trying to attach. */
static void server_detach_late(const struct server *s, pid_t pid)
{
	const struct request request = {.pid = pid, .is_detach = true};
	struct fxt_attacher_reply reply;

	for (unsigned tries = 0; tries < LATE_TRIES && kill(pid, 0) == 0;) {
		if (!fxt_process_is_stopped(pid)) {
			if (server_carry_out(s, &request, &reply))
				return;
			tries++;
		}
		nanosleep(&(struct timespec){0, LATE_PAUSE_NS}, NULL);
	}
}

void fxt_attacher_serve(const char *agent)
{
	static struct server server;
	struct server *s = &server;
	struct fxt_attacher_reply reply;
	struct request request;

	server = (struct server){.fd = SERVER_FD, .agent = agent};
	prctl(PR_SET_NAME, FXT_ATTACHER_NAME);
	while (recv(s->fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
		if (server_carry_out(s, &request, &reply))
			server_note(s, &request);
		send(s->fd, &reply, sizeof(reply), MSG_NOSIGNAL);
	}
	server_let_go(s);
	while (s->count > 0)
		server_detach_late(s, s->attached[--s->count]);
	_exit(0);
}

/* ---- the manager ---- */

int fxt_attacher_begin(struct fxt_attacher *a, const char *agent)
{
	char *arguments[] = {FXT_ATTACHER_NAME, FXT_ATTACHER_ARGUMENT, (char *)agent, NULL};
	posix_spawn_file_actions_t actions;
	int ends[2], error;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return errno;
	/* It keeps nothing of the session open, above all not the trace. */
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], SERVER_FD);
	posix_spawn_file_actions_addclosefrom_np(&actions, SERVER_FD + 1);
	/* A new image, because a fork of a process with threads may find any lock taken. */
	error = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (error)
		close(ends[0]);
	else
		a->fd = ends[0];
	return error;
}

static bool attacher_send(const struct fxt_attacher *a, const struct request *request)
{
	return send(a->fd, request, sizeof(*request), MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)sizeof(*request);
}

bool fxt_attacher_attach(const struct fxt_attacher *a, pid_t pid, const char *settings)
{
	struct request request = {.pid = pid};

	snprintf(request.settings, sizeof(request.settings), "%s", settings);
	return attacher_send(a, &request);
}

bool fxt_attacher_detach(const struct fxt_attacher *a, pid_t pid)
{
	return attacher_send(a, &(struct request){.pid = pid, .is_detach = true});
}

bool fxt_attacher_take(const struct fxt_attacher *a, struct fxt_attacher_reply *reply)
{
	return recv(a->fd, reply, sizeof(*reply), MSG_DONTWAIT) == (ssize_t)sizeof(*reply);
}

void fxt_attacher_end(const struct fxt_attacher *a)
{
	close(a->fd);
}
