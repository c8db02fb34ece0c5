/*
 * Accepts connections of processes, checks their hello, and answers with a welcome
 * (writer/shared/handshake.h). Everything runs on the main thread and must not block: a
 * silent peer may delay nothing but its own connection.
 */
#include "acceptor.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "admission.h"
#include "descriptors.h"
#include "plans.h"
#include "launcher/message.h"
#include "launcher/preload.h"
#include "launcher/proc_status.h"
#include "writer/shared/sys.h"

_Static_assert(FXT_SOCKET_PATH_BYTES == sizeof(((struct sockaddr_un *)0)->sun_path), "");

/* The parts of a session's directory name. */
#define PREFIX "fxtrun-"
#define UNIQUE "XXXXXX"

/* ---- the handshake ---- */

static void acceptor_end_pending(struct fxt_pending_connection *pending)
{
	fxt_watch_remove(pending->acceptor->session->epoll, &pending->connection);
	close(pending->connection.fd);
	pending->connection.fd = -1;
}

/* A process is recorded even without the common memory. */
static bool acceptor_send_welcome(int connection, struct fxt_welcome *welcome,
        const struct fxt_memory *memory, const struct fxt_ledger *ledger)
{
	if (!memory)
		return fxt_descriptors_send(connection, welcome, sizeof(*welcome), NULL, 0);
	if (!fxt_descriptors_send(
	            connection, welcome, sizeof(*welcome), (int[]){memory->buffer_fd, memory->control_fd}, 2))
		return false;
	if (ledger)
		fxt_descriptors_send(connection, (char[]){0}, 1, &ledger->common_fd, 1);
	return true;
}

/* True if the process has that number for itself. In a PID namespace of its own the number
 * differs from `pid`, which is the number here. */
static bool acceptor_peer_calls_itself(pid_t pid, uint32_t number)
{
	char numbers[256];
	const char *last;

	if (number == (uint32_t)pid)
		return true;
	if (!fxt_proc_status(pid, "NSpid", numbers, sizeof(numbers)))
		return false;
	last = strrchr(numbers, '\t'); /* the innermost number is last */
	return strtoul(last ? last : numbers, NULL, 10) == number;
}

/* True if the message is a hello of the process that sent it. In a hello of another version
 * only the fields common to all versions are read. */
static bool acceptor_is_hello(const struct fxt_hello *hello, ssize_t bytes, pid_t pid)
{
	size_t head = offsetof(struct fxt_hello, tid);

	if (bytes < (ssize_t)head || hello->magic != FXT_HELLO_MAGIC ||
	        !acceptor_peer_calls_itself(pid, hello->pid))
		return false;
	return hello->version != FXT_SHARED_VERSION ||
	       (bytes == (ssize_t)sizeof(*hello) && hello->name_bytes <= sizeof(hello->name));
}

/* The first message of a connection. */
union acceptor_message {
	struct fxt_hello hello;
	struct fxt_plan_request request;
};

static bool acceptor_is_request(const struct fxt_plan_request *request, ssize_t bytes, pid_t pid)
{
	return bytes == (ssize_t)sizeof(*request) && request->magic == FXT_PLAN_REQUEST_MAGIC &&
	       request->version == FXT_SHARED_VERSION && request->kind < FXT_PLAN_KINDS &&
	       memchr(request->path, 0, sizeof(request->path)) &&
	       acceptor_peer_calls_itself(pid, request->pid);
}

/* Passes the request on, with the connection. */
static void acceptor_pass_request(
        struct fxt_acceptor *a, int connection, pid_t pid, const struct fxt_plan_request *request)
{
	int own = fcntl(connection, F_DUPFD_CLOEXEC, 0);

	if (own >= 0)
		fxt_plans_answer(&a->session->plans, own, pid, request, a->session->config.options);
}

static void acceptor_answer_hello(
        struct fxt_acceptor *a, int connection, pid_t pid, const struct fxt_hello *hello)
{
	struct fxt_welcome welcome;
	struct fxt_provider *p = fxt_session_connect(a->session, pid, hello, &welcome);
	bool sent = acceptor_send_welcome(connection, &welcome, p ? &p->memory : NULL, a->session->ledger);

	if (p)
		fxt_session_welcomed(a->session, p, sent);
}

/* Receives the first message if it is there by now, answers it and closes the
 * connection. */
static void acceptor_receive_hello(struct fxt_pending_connection *pending)
{
	struct fxt_acceptor *a = pending->acceptor;
	static union acceptor_message message;
	int connection = pending->connection.fd;
	struct ucred peer;
	socklen_t peer_bytes = sizeof(peer);
	ssize_t bytes;

	memset(&message.hello, 0, sizeof(message.hello));
	bytes = recv(connection, &message, sizeof(message), MSG_DONTWAIT | MSG_TRUNC);
	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (bytes > 0 && getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes) == 0) {
		if (acceptor_is_hello(&message.hello, bytes, peer.pid)) {
			acceptor_answer_hello(a, connection, peer.pid, &message.hello);
		} else if (acceptor_is_request(&message.request, bytes, peer.pid)) {
			acceptor_pass_request(a, connection, peer.pid, &message.request);
		} else if (!a->unknown_peer_said) {
			fxt_say("process %d connected to the session and is not a provider; it got no answer",
			        peer.pid);
			a->unknown_peer_said = true;
		}
	}
	acceptor_end_pending(pending);
}

static void acceptor_hello_ready(struct fxt_watch *watch, void *context)
{
	(void)context;
	acceptor_receive_hello(fxt_watch_owner(watch, struct fxt_pending_connection, connection));
}

/* ---- connections ---- */

/* Finds room for a new connection. If there is none, closes the connection that has been
 * silent for the longest time. */
static struct fxt_pending_connection *acceptor_free_pending(struct fxt_acceptor *a)
{
	struct fxt_pending_connection *oldest = a->pending;

	for (struct fxt_pending_connection *p = a->pending; p < a->pending + FXT_ACCEPTOR_PENDING; p++) {
		if (p->connection.fd < 0)
			return p;
		if (p->deadline < oldest->deadline)
			oldest = p;
	}
	acceptor_end_pending(oldest);
	return oldest;
}

/* True if the process at the other end is of our user. A process of another user gets no
 * answer, and is counted. */
static bool acceptor_admits(struct fxt_acceptor *a, int connection)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
		return false;
	if (peer.uid != sys_geteuid())
		fxt_session_refuse_other_user(a->session, peer.pid, peer.uid);
	return peer.uid == sys_geteuid();
}

static void acceptor_accept(struct fxt_watch *watch, void *context)
{
	struct fxt_acceptor *a = context;
	int connection = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct fxt_pending_connection *pending;

	if (connection < 0) {
		/* The connection stays in the socket's queue. Without a pause epoll would
		 * report it again at once, and the main thread would spin. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			fxt_watch_remove(a->session->epoll, watch);
			*(watch == &a->listener ? &a->paused : &a->abstract_paused) = true;
		}
		return;
	}
	if (!acceptor_admits(a, connection)) {
		close(connection);
		return;
	}
	pending = acceptor_free_pending(a);
	pending->connection = (struct fxt_watch){connection, acceptor_hello_ready, NULL};
	pending->deadline = fxt_monotonic_ns() + FXT_ACCEPTOR_TIMEOUT_NS;
	if (fxt_watch_add(a->session->epoll, &pending->connection) != 0)
		acceptor_end_pending(pending);
	else
		acceptor_receive_hello(pending); /* an agent sends its hello right after connect() */
}

void fxt_acceptor_beat(struct fxt_acceptor *a)
{
	uint64_t now = fxt_monotonic_ns();

	for (struct fxt_pending_connection *p = a->pending; p < a->pending + FXT_ACCEPTOR_PENDING; p++)
		if (p->connection.fd >= 0 && now > p->deadline)
			acceptor_end_pending(p);
	if (a->paused && fxt_watch_add(a->session->epoll, &a->listener) == 0)
		a->paused = false;
	if (a->abstract_paused && fxt_watch_add(a->session->epoll, &a->abstract_listener) == 0)
		a->abstract_paused = false;
}

/* ---- the socket ---- */

/* Opens a session's directory and locks it while the descriptor is open, which is as long
 * as the session lives. `how`: LOCK_NB or 0. Returns the descriptor, or -1: it is locked,
 * missing, or another user's. */
static int acceptor_lock_directory(const char *path, int how)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && flock(fd, LOCK_EX | how) == 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid())
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* True if there is a socket without a listener. */
static bool acceptor_is_deserted(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	bool refused;
	int fd;

	if (strlen(path) >= sizeof(address.sun_path) || lstat(path, &status) != 0 ||
	        !S_ISSOCK(status.st_mode))
		return false;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	refused = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 &&
	          errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return refused;
}

/* Removes the directories that killed sessions left below `base`. A directory with a link
 * to the agent is kept: a program of that session may still pass the link on to its
 * children. */
static void acceptor_remove_left_over(const char *base)
{
	DIR *directory = opendir(base);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char path[PATH_MAX], socket_path[PATH_MAX + sizeof("/socket")];
		int lock;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
		        strlen(entry->d_name) != strlen(PREFIX UNIQUE) ||
		        (size_t)snprintf(path, sizeof(path), "%s/%s", base, entry->d_name) >= sizeof(path))
			continue;
		lock = acceptor_lock_directory(path, LOCK_NB);
		if (lock < 0)
			continue;
		snprintf(socket_path, sizeof(socket_path), "%s/socket", path);
		if (acceptor_is_deserted(socket_path)) {
			unlink(socket_path);
			rmdir(path);
		}
		close(lock);
	}
	if (directory)
		closedir(directory);
}

/* Makes the private directory below `base`, if `base` is suitable: the socket's path must
 * fit into a sockaddr_un, and the path of a link to the agent into LD_PRELOAD. */
static bool acceptor_make_directory(struct fxt_acceptor *a, const char *base)
{
	static const char socket_name[] = "/socket";

	if (!base || *base != '/' || !fxt_preload_can_hold(base))
		return false;
	if ((size_t)snprintf(a->directory, sizeof(a->directory), "%s/" PREFIX UNIQUE, base) +
	                sizeof(socket_name) >
	        sizeof(a->path))
		return false;
	acceptor_remove_left_over(base);
	if (!mkdtemp(a->directory))
		return false;
	chmod(a->directory, 0700); /* the umask may have removed more */
	a->lock = acceptor_lock_directory(a->directory, 0);
	strcpy(stpcpy(a->path, a->directory), socket_name);
	return true;
}

/* Listens under the abstract name too. If another process has that name, the path must
 * do. */
static void acceptor_open_abstract(struct fxt_acceptor *a)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path + 1, a->path, strlen(a->path));
	a->abstract_listener = (struct fxt_watch){fd, acceptor_accept, a};
	if (fd < 0)
		return;
	if (bind(fd, (struct sockaddr *)&address, fxt_abstract_address_bytes(a->path)) == 0 &&
	        listen(fd, SOMAXCONN) == 0 && fxt_watch_add(a->session->epoll, &a->abstract_listener) == 0)
		return;
	close(fd);
	a->abstract_listener.fd = -1;
}

int fxt_acceptor_open(struct fxt_acceptor *a, struct fxt_session *session, char *error, size_t error_bytes)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	*a = (struct fxt_acceptor){.session = session, .abstract_listener = {.fd = -1}};
	for (int i = 0; i < FXT_ACCEPTOR_PENDING; i++)
		a->pending[i] = (struct fxt_pending_connection){{.fd = -1}, a, 0};
	if (!acceptor_make_directory(a, getenv("XDG_RUNTIME_DIR")) &&
	        !acceptor_make_directory(a, getenv("TMPDIR")) && !acceptor_make_directory(a, "/tmp")) {
		snprintf(error, error_bytes,
		        "no directory for the session's socket: XDG_RUNTIME_DIR, TMPDIR, /tmp: %s",
		        strerror(errno));
		return -1;
	}
	strcpy(address.sun_path, a->path);
	a->listener = (struct fxt_watch){
	        socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), acceptor_accept, a};
	if (a->listener.fd < 0 || bind(a->listener.fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	        chmod(a->path, 0600) != 0 || listen(a->listener.fd, SOMAXCONN) != 0 ||
	        fxt_watch_add(session->epoll, &a->listener) != 0) {
		snprintf(error, error_bytes, "%s: %s", a->path, strerror(errno));
		fxt_acceptor_close(a);
		return -1;
	}
	acceptor_open_abstract(a);
	return 0;
}

void fxt_acceptor_close(struct fxt_acceptor *a)
{
	for (struct fxt_pending_connection *p = a->pending; p < a->pending + FXT_ACCEPTOR_PENDING; p++)
		if (p->connection.fd >= 0)
			acceptor_end_pending(p);
	if (a->listener.fd >= 0)
		close(a->listener.fd);
	if (a->abstract_listener.fd >= 0)
		close(a->abstract_listener.fd);
	unlink(a->path);
	rmdir(a->directory);
	close(a->lock);
}
