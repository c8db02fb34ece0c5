#include "control.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "methods.h"
#include "recording_calls.h"

#define OUTPUT_MAX_BYTES (1u << 20)
#define OPEN_TRIES       8

/* ---- a client ---- */

void fxt_client_end(struct fxt_client *client)
{
	if (client->control->owner == client) {
		client->control->owner = NULL;
		fxt_session_terminate(client->control->session);
	}
	fxt_snapshots_forget(client->control->snapshots, client);
	fxt_methods_forget(client);
	fxt_steering_forget(client);
	fxt_watch_remove(client->control->session->epoll, &client->connection);
	close(client->connection.fd);
	free(client->output);
	client->connection.fd = -1;
	client->output = NULL;
	client->output_bytes = 0;
}

/* Waits for what this client can do next: take output before all else. */
static void await(struct fxt_client *client)
{
	struct epoll_event event = {
	        .events = client->output_bytes ? EPOLLOUT
	                  : client->eof        ? 0
	                                       : EPOLLIN,
	        .data.ptr = &client->connection,
	};

	if (client->eof && !client->output_bytes && !client->snapshot_id && !fxt_steering_is_awaited(client))
		fxt_client_end(client);
	else
		epoll_ctl(client->control->session->epoll, EPOLL_CTL_MOD, client->connection.fd, &event);
}

static void flush(struct fxt_client *client)
{
	ssize_t sent = send(
	        client->connection.fd, client->output, client->output_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		fxt_client_end(client);
		return;
	}
	if (sent > 0) {
		client->output_bytes -= (size_t)sent;
		memmove(client->output, client->output + sent, client->output_bytes);
	}
}

void fxt_client_send(struct fxt_client *client, const char *line)
{
	size_t bytes = strlen(line);
	char *output;

	if (client->connection.fd < 0)
		return;
	output = client->output_bytes + bytes < OUTPUT_MAX_BYTES
	                 ? realloc(client->output, client->output_bytes + bytes + 1)
	                 : NULL;
	if (!output) {
		fxt_client_end(client);
		return;
	}
	client->output = output;
	memcpy(output + client->output_bytes, line, bytes);
	output[client->output_bytes + bytes] = '\n';
	client->output_bytes += bytes + 1;
	flush(client);
	if (client->connection.fd >= 0)
		await(client);
}

/* Carries out the whole lines that are there, until a reply cannot be sent at once. */
static void take_lines(struct fxt_client *client)
{
	char *end;

	while (client->connection.fd >= 0 && !client->output_bytes &&
	        (end = memchr(client->line, '\n', client->line_bytes))) {
		size_t bytes = (size_t)(end - client->line);
		char line[FXT_CONTROL_LINE_BYTES];

		memcpy(line, client->line, bytes);
		client->line_bytes -= bytes + 1;
		memmove(client->line, end + 1, client->line_bytes);
		fxt_methods_call(client, line, bytes);
	}
	if (client->connection.fd >= 0 && !client->output_bytes && client->line_bytes == sizeof(client->line))
		fxt_methods_refuse_line(client);
}

static void heard(struct fxt_watch *watch, void *context)
{
	struct fxt_client *client = context;
	ssize_t bytes;

	if (client->output_bytes) {
		flush(client);
	} else if (client->eof) {
		fxt_client_end(client); /* nothing else was waited for but its end */
	} else {
		bytes = recv(watch->fd, client->line + client->line_bytes,
		        sizeof(client->line) - client->line_bytes, MSG_DONTWAIT);
		if (bytes > 0)
			client->line_bytes += (size_t)bytes;
		else if (bytes == 0)
			client->eof = true;
		else if (errno != EAGAIN && errno != EINTR)
			fxt_client_end(client);
	}
	take_lines(client);
	if (client->connection.fd >= 0)
		await(client);
}

static void knocked(struct fxt_watch *watch, void *context)
{
	struct fxt_control_socket *control = context;
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer;
	socklen_t peer_bytes = sizeof(peer);

	if (fd < 0) {
		/* The connection stays in the queue: without a pause this would be called again at once. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			fxt_watch_remove(control->session->epoll, watch);
			control->paused = true;
		}
		return;
	}
	for (struct fxt_client *client = control->clients; client < control->clients + FXT_CONTROL_CLIENTS;
	        client++) {
		if (client->connection.fd >= 0)
			continue;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes) != 0 || peer.uid != geteuid())
			break;
		client->connection = (struct fxt_watch){fd, heard, client};
		client->control = control;
		client->eof = false;
		client->line_bytes = 0;
		if (fxt_watch_add(control->session->epoll, &client->connection) == 0)
			return;
		client->connection.fd = -1;
		break;
	}
	close(fd);
}

void fxt_control_beat(struct fxt_control_socket *control)
{
	if (control->paused && fxt_watch_add(control->session->epoll, &control->listener) == 0)
		control->paused = false;
}

/* ---- the socket ---- */

/* Makes the directory, if it is not there yet, and takes it for ourselves: who begins a session may otherwise
 * see the socket of one that does not listen yet. Returns a descriptor to be closed, or -1 and errno. */
static int lock_directory(const struct fxt_place *place)
{
	mode_t mask = umask(0077);
	bool made = mkdir(place->directory, 0700) == 0 || errno == EEXIST;
	int lock;

	umask(mask);
	if (!made || !fxt_place_is_safe(place))
		return -1;
	lock = open(place->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock >= 0)
		flock(lock, LOCK_EX);
	return lock;
}

/* Whether the socket of that name is what a killed session left. */
static bool is_left_over(const struct fxt_control_socket *control)
{
	int other = fxt_place_connect(&control->place, control->name);

	if (other < 0)
		return errno == ECONNREFUSED;
	close(other);
	return false;
}

/* Binds the socket while the directory is locked. Returns 0, or an errno value. */
static int bind_locked(struct fxt_control_socket *control)
{
	struct sockaddr_un address = fxt_place_address(&control->place, control->name);
	int fd = control->listener.fd;

	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		if (errno != EADDRINUSE)
			return errno;
		if (!is_left_over(control))
			return EADDRINUSE;
		unlink(address.sun_path);
		if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
			return errno;
	}
	return chmod(address.sun_path, 0600) == 0 && listen(fd, FXT_CONTROL_CLIENTS) == 0 ? 0 : errno;
}

/* Binds the socket to its place. Returns 0, or an errno value; EADDRINUSE: a session of that name runs. */
static int bind_socket(struct fxt_control_socket *control)
{
	int error = ENOENT;

	/* Sessions that end remove the directory. */
	for (int tries = 0; tries < OPEN_TRIES && error == ENOENT; tries++) {
		int lock = lock_directory(&control->place);

		error = lock < 0 ? errno : bind_locked(control);
		if (lock >= 0)
			close(lock);
	}
	return error;
}

static void state_changed(void *context)
{
	struct fxt_control_socket *control = context;
	char line[256];

	fxt_methods_state_line(control, line, sizeof(line));
	for (int i = 0; i < FXT_CONTROL_CLIENTS; i++)
		fxt_client_send(&control->clients[i], line);
	fxt_steering_state_changed(control);
}

static void alerted(void *context, const char *name)
{
	fxt_steering_alert(context, name);
}

int fxt_control_open(struct fxt_control_socket *control, struct fxt_session *session,
        struct fxt_snapshots *snapshots, const char *name, char *error, size_t error_bytes)
{
	int failed;

	*control = (struct fxt_control_socket){.session = session, .snapshots = snapshots, .name = name};
	for (int i = 0; i < FXT_CONTROL_CLIENTS; i++)
		control->clients[i].connection.fd = -1;
	session->listener = (struct fxt_session_listener){state_changed, alerted, control};
	fxt_place_find(&control->place);
	control->listener = (struct fxt_watch){
	        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), knocked, control};
	failed = control->listener.fd < 0 ? errno : bind_socket(control);
	if (!failed && fxt_watch_add(session->epoll, &control->listener) != 0)
		failed = errno;
	if (!failed)
		return 0;
	if (control->listener.fd >= 0)
		close(control->listener.fd);
	control->listener.fd = -1;
	snprintf(error, error_bytes,
	        failed == EADDRINUSE ? "a session named %s runs already; choose another name with --session"
	                             : "no control socket for session %s in %s: %s",
	        name, control->place.directory, strerror(failed));
	return -1;
}

void fxt_control_close(struct fxt_control_socket *control)
{
	struct sockaddr_un address = fxt_place_address(&control->place, control->name);

	if (control->listener.fd < 0)
		return;
	for (int i = 0; i < FXT_CONTROL_CLIENTS; i++)
		if (control->clients[i].connection.fd >= 0)
			fxt_client_end(&control->clients[i]);
	unlink(address.sun_path);
	close(control->listener.fd);
	rmdir(control->place.directory); /* stays if others are in it */
}
