/*
 * The control socket: makes and locks its directory, accepts clients, and passes their
 * lines to methods.c. Runs on the main thread and must not wait for a client while the
 * session runs.
 */
#include "control.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "alert_calls.h"
#include "attach_calls.h"
#include "filter_calls.h"
#include "methods.h"
#include "queries.h"
#include "snapshot_calls.h"
#include "trigger_calls.h"
#include "writer/shared/sys.h"

#define OPEN_TRIES 8

/* ---- what the clients do ---- */

static void control_line(struct fxt_connection *connection, const char *line, size_t bytes, void *context)
{
	struct fxt_control_server *server = context;

	fxt_methods_call(&server->controller, connection, line, bytes);
}

static void control_line_too_long(struct fxt_connection *connection, void *context)
{
	(void)context;
	fxt_methods_refuse_line(connection);
}

static void control_connection_closed(struct fxt_connection *connection, void *context)
{
	struct fxt_control_server *server = context;

	fxt_recording_calls_closed(&server->controller, connection);
	fxt_snapshot_calls_closed(&server->controller, connection);
	fxt_alert_calls_closed(&server->controller, connection);
	fxt_filter_calls_closed(&server->controller, connection);
	fxt_attach_calls_closed(&server->controller, connection);
}

static bool control_is_our_user(int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == sys_geteuid();
}

/* Returns a closed connection for reuse; NULL: no memory. */
static struct fxt_connection *control_free_connection(struct fxt_control_server *server)
{
	struct fxt_connection **clients, *client;

	for (unsigned i = 0; i < server->client_count; i++)
		if (server->clients[i]->socket.fd < 0)
			return server->clients[i];
	clients = reallocarray(server->clients, server->client_count + 1, sizeof(*clients));
	if (!clients)
		return NULL;
	server->clients = clients;
	client = calloc(1, sizeof(*client));
	if (client) {
		client->socket.fd = -1;
		clients[server->client_count++] = client;
	}
	return client;
}

static void control_accept(struct fxt_watch *watch, void *context)
{
	struct fxt_control_server *server = context;
	int epoll = server->controller.session->epoll;
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct fxt_connection *connection;

	if (fd < 0) {
		/* The client stays in the queue. Without a pause this would be called again
		 * at once, endlessly. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			fxt_watch_remove(epoll, watch);
			server->paused = true;
		}
		return;
	}
	connection = control_free_connection(server);
	if (!connection || !control_is_our_user(fd) ||
	        fxt_connection_open(connection, epoll, fd, &server->handler) != 0)
		close(fd);
}

void fxt_control_resume(struct fxt_control_server *server)
{
	if (server->paused && fxt_watch_add(server->controller.session->epoll, &server->listener) == 0)
		server->paused = false;
}

/* ---- what happens to the session ---- */

static void control_state_changed(void *context)
{
	struct fxt_control_server *server = context;
	char line[256];

	snprintf(line, sizeof(line),
	        "{\"jsonrpc\":\"2.0\",\"method\":\"OnSessionStateChange\",\"params\":{\"state\":\"%s\"}}",
	        fxt_query_state_name(server->controller.session));
	for (unsigned i = 0; i < server->client_count; i++)
		fxt_connection_send(server->clients[i], line);
	fxt_recording_calls_state_changed(&server->controller);
}

static void control_alert_raised(void *context, const char *name)
{
	struct fxt_control_server *server = context;

	fxt_triggers_on_alert(&server->controller, name);
}

static void control_triggered(void *context, uint32_t index, uint64_t times)
{
	struct fxt_control_server *server = context;

	fxt_triggers_on_calls(&server->controller, index, times);
}

static void control_process_ended(void *context, bool by_signal, int number)
{
	struct fxt_control_server *server = context;

	fxt_triggers_on_end(&server->controller, by_signal, number);
}

static void control_filter_changed(void *context, uint32_t late)
{
	struct fxt_control_server *server = context;

	fxt_filter_calls_changed(&server->controller, late);
}

/* ---- the socket ---- */

/* Makes the directory if necessary, and locks it. Without the lock, another process that
 * begins a session of the same name might find the socket before it listens, take it for a
 * killed session's, and remove it. Returns 0 and a descriptor in *lock, which unlocks when
 * closed, or an errno value. */
static int control_lock_directory(const struct fxt_runtime_dir *dir, int *lock)
{
	mode_t mask = umask(0077);
	int error = mkdir(dir->path, 0700) == 0 || errno == EEXIST ? 0 : errno;

	umask(mask);
	if (!error)
		error = fxt_runtime_dir_check(dir);
	if (error)
		return error;
	*lock = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*lock < 0)
		return errno;
	flock(*lock, LOCK_EX);
	return 0;
}

/* Removes the sockets of killed sessions. The directory is locked, so every live session
 * listens at the socket that it has bound. */
static void control_remove_left_over(const struct fxt_runtime_dir *dir)
{
	DIR *directory = opendir(dir->path);
	struct dirent *entry;
	int fd;

	while (directory && (entry = readdir(directory))) {
		struct sockaddr_un address;

		if (!fxt_session_name_is_valid(entry->d_name))
			continue;
		switch (fxt_runtime_dir_connect(dir, entry->d_name, &fd)) {
		case 0:
			close(fd);
			break;
		case ECONNREFUSED:
			address = fxt_runtime_dir_address(dir, entry->d_name);
			unlink(address.sun_path);
		}
	}
	if (directory)
		closedir(directory);
}

/* Binds the socket while the directory is locked. Returns 0, or an errno value. */
static int control_bind_locked(struct fxt_control_server *server)
{
	struct sockaddr_un address = fxt_runtime_dir_address(&server->dir, server->controller.name);
	int fd = server->listener.fd;

	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return errno;
	return chmod(address.sun_path, 0600) == 0 && listen(fd, SOMAXCONN) == 0 ? 0 : errno;
}

/* Binds the socket to its name. Returns 0, or an errno value; EADDRINUSE: a session of that
 * name runs. */
static int control_bind(struct fxt_control_server *server)
{
	int error = ENOENT, lock;

	/* An ending session removes the directory, possibly after we made it and before we
	 * locked it. */
	for (int tries = 0; tries < OPEN_TRIES && error == ENOENT; tries++) {
		error = control_lock_directory(&server->dir, &lock);
		if (error)
			continue;
		control_remove_left_over(&server->dir);
		error = control_bind_locked(server);
		close(lock);
	}
	return error;
}

/* Returns 0, or an errno value; nothing is left then. */
static int control_listen(struct fxt_control_server *server)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;

	server->listener = (struct fxt_watch){fd, control_accept, server};
	if (fd < 0)
		return errno;
	error = control_bind(server);
	if (!error)
		error = fxt_watch_add(server->controller.session->epoll, &server->listener);
	if (error) {
		close(fd);
		server->listener.fd = -1;
	}
	return error;
}

int fxt_control_open(struct fxt_control_server *server, struct fxt_session *session,
        struct fxt_snapshots *snapshots, const char *name, char *error, size_t error_bytes)
{
	int failed;

	*server = (struct fxt_control_server){
	        .controller = {.session = session, .snapshots = snapshots, .name = name},
	        .handler = {control_line, control_line_too_long, control_connection_closed, server},
	};
	session->listener = (struct fxt_session_listener){control_state_changed, control_alert_raised,
	        control_triggered, control_process_ended, control_filter_changed, server};
	fxt_triggers_open(&server->controller);
	fxt_runtime_dir_find(&server->dir);
	failed = control_listen(server);
	if (!failed)
		return 0;
	fxt_triggers_close(&server->controller);
	snprintf(error, error_bytes,
	        failed == EADDRINUSE ? "a session named %s runs already; choose another name with --session"
	                             : "no control socket for session %s in %s: %s",
	        name, server->dir.path, fxt_runtime_dir_error(failed));
	return -1;
}

void fxt_control_stop(struct fxt_control_server *server)
{
	struct sockaddr_un address = fxt_runtime_dir_address(&server->dir, server->controller.name);

	if (server->listener.fd < 0)
		return;
	for (unsigned i = 0; i < server->client_count; i++)
		if (!fxt_recording_calls_wait_for_end(&server->controller, server->clients[i]))
			fxt_connection_close(server->clients[i]);
	unlink(address.sun_path);
	close(server->listener.fd);
	server->listener.fd = -1;
	rmdir(server->dir.path); /* fails if the directory has other sockets */
}

void fxt_control_recording_ended(struct fxt_control_server *server, const struct fxt_trace_result *result)
{
	fxt_triggers_end(&server->controller);
	fxt_recording_calls_ended(&server->controller, result);
}

void fxt_control_close(struct fxt_control_server *server, const struct fxt_trace_result *result)
{
	fxt_control_stop(server);
	fxt_triggers_end(&server->controller);
	fxt_triggers_close(&server->controller);
	if (result)
		fxt_recording_calls_ended(&server->controller, result);
	for (unsigned i = 0; i < server->client_count; i++) {
		fxt_connection_close(server->clients[i]);
		free(server->clients[i]);
	}
	free(server->clients);
	server->clients = NULL;
	server->client_count = 0;
	fxt_snapshot_calls_free(&server->controller);
}
