#include "acceptor.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "launcher/message.h"
#include "launcher/preload.h"

_Static_assert(FXT_DOOR_PATH_BYTES == sizeof(((struct sockaddr_un *)0)->sun_path), "");

/* ---- the handshake ---- */

static void end_visit(struct fxt_visit *visit)
{
	fxt_watch_remove(visit->door->session->epoll, &visit->connection);
	close(visit->connection.fd);
	visit->connection.fd = -1;
}

static bool send_welcome(int connection, struct fxt_welcome *welcome, const struct fxt_memory *memory)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct iovec data = {welcome, sizeof(*welcome)};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	if (memory) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(2 * sizeof(int));
		memcpy(CMSG_DATA(&control.header), (int[]){memory->buffer_fd, memory->control_fd},
		        2 * sizeof(int));
	}
	return sendmsg(connection, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(*welcome);
}

/* Whether a process goes by that number: in a PID namespace of its own it is another one than here. */
static bool calls_itself(pid_t pid, uint32_t number)
{
	char path[32], line[256];
	const char *own = NULL;
	FILE *file;

	if (number == (uint32_t)pid)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && !own && fgets(line, sizeof(line), file))
		if (strncmp(line, "NSpid:", 6) == 0)
			own = strrchr(line, '\t'); /* the innermost comes last */
	if (file)
		fclose(file);
	return own && strtoul(own, NULL, 10) == number;
}

/* Whether it is a hello, of the process that sent it. Other fields of another version are not looked at. */
static bool is_hello(const struct fxt_hello *hello, ssize_t bytes, pid_t pid)
{
	size_t head = offsetof(struct fxt_hello, tid);

	if (bytes < (ssize_t)head || hello->magic != FXT_HELLO_MAGIC || !calls_itself(pid, hello->pid))
		return false;
	return hello->version != FXT_SHARED_VERSION ||
	       (bytes == (ssize_t)sizeof(*hello) && hello->name_bytes <= sizeof(hello->name));
}

/* Takes the hello, if it is there, and answers. */
static void hear(struct fxt_visit *visit)
{
	struct fxt_door *door = visit->door;
	struct fxt_hello hello = {0};
	struct fxt_welcome welcome;
	struct ucred peer;
	socklen_t peer_bytes = sizeof(peer);
	int connection = visit->connection.fd;
	ssize_t bytes = recv(connection, &hello, sizeof(hello), MSG_DONTWAIT | MSG_TRUNC);

	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (bytes > 0 && getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes) == 0 &&
	        peer.uid == geteuid()) {
		if (is_hello(&hello, bytes, peer.pid)) {
			struct fxt_provider *p =
			        fxt_session_connect(door->session, peer.pid, &hello, &welcome);
			bool sent = send_welcome(connection, &welcome, p ? &p->memory : NULL);

			if (p)
				fxt_session_welcomed(door->session, p, sent);
		} else if (!door->stranger_said) {
			fxt_say("process %d spoke to the session without being a provider; it was not "
			        "answered",
			        peer.pid);
			door->stranger_said = true;
		}
	}
	end_visit(visit);
}

static void heard(struct fxt_watch *watch, void *context)
{
	(void)context;
	hear(fxt_watch_owner(watch, struct fxt_visit, connection));
}

/* ---- connections ---- */

/* A place for a new connection; if all are taken, that of the one which has been silent the longest. */
static struct fxt_visit *free_visit(struct fxt_door *door)
{
	struct fxt_visit *oldest = door->visits;

	for (struct fxt_visit *visit = door->visits; visit < door->visits + FXT_DOOR_VISITS; visit++) {
		if (visit->connection.fd < 0)
			return visit;
		if (visit->deadline < oldest->deadline)
			oldest = visit;
	}
	end_visit(oldest);
	return oldest;
}

static void knocked(struct fxt_watch *watch, void *context)
{
	struct fxt_door *door = context;
	int connection = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct fxt_visit *visit;

	if (connection < 0) {
		/* The connection stays in the queue: without a pause this would be called again at once. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			fxt_watch_remove(door->session->epoll, watch);
			door->paused = true;
		}
		return;
	}
	visit = free_visit(door);
	visit->connection = (struct fxt_watch){connection, heard, NULL};
	visit->deadline = fxt_monotonic_ns() + FXT_DOOR_PATIENCE_NS;
	if (fxt_watch_add(door->session->epoll, &visit->connection) != 0)
		end_visit(visit);
	else
		hear(visit); /* an agent's hello is there already */
}

void fxt_door_beat(struct fxt_door *door)
{
	uint64_t now = fxt_monotonic_ns();

	for (struct fxt_visit *visit = door->visits; visit < door->visits + FXT_DOOR_VISITS; visit++)
		if (visit->connection.fd >= 0 && now > visit->deadline)
			end_visit(visit);
	if (door->paused && fxt_watch_add(door->session->epoll, &door->listener) == 0)
		door->paused = false;
}

/* ---- the place ---- */

/* Makes the private directory below `base`, if that will do: the path of the socket must fit into an address,
 * and a link in the directory into LD_PRELOAD. */
static bool make_directory(struct fxt_door *door, const char *base)
{
	static const char socket_name[] = "/socket";

	if (!base || *base != '/' || !fxt_preload_can_hold(base))
		return false;
	if ((size_t)snprintf(door->directory, sizeof(door->directory), "%s/fxtrun-XXXXXX", base) +
	                sizeof(socket_name) >
	        sizeof(door->path))
		return false;
	if (!mkdtemp(door->directory))
		return false;
	chmod(door->directory, 0700); /* the umask may have taken more away */
	strcpy(stpcpy(door->path, door->directory), socket_name);
	return true;
}

int fxt_door_open(struct fxt_door *door, struct fxt_session *session, char *error, size_t error_bytes)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	*door = (struct fxt_door){.session = session};
	for (int i = 0; i < FXT_DOOR_VISITS; i++)
		door->visits[i] = (struct fxt_visit){{.fd = -1}, door, 0};
	if (!make_directory(door, getenv("XDG_RUNTIME_DIR")) && !make_directory(door, getenv("TMPDIR")) &&
	        !make_directory(door, "/tmp")) {
		snprintf(error, error_bytes,
		        "no directory for the session's socket: XDG_RUNTIME_DIR, TMPDIR, /tmp: %s",
		        strerror(errno));
		return -1;
	}
	strcpy(address.sun_path, door->path);
	door->listener = (struct fxt_watch){
	        socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), knocked, door};
	if (door->listener.fd < 0 ||
	        bind(door->listener.fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	        chmod(door->path, 0600) != 0 || listen(door->listener.fd, SOMAXCONN) != 0 ||
	        fxt_watch_add(session->epoll, &door->listener) != 0) {
		snprintf(error, error_bytes, "%s: %s", door->path, strerror(errno));
		fxt_door_close(door);
		return -1;
	}
	return 0;
}

void fxt_door_close(struct fxt_door *door)
{
	for (struct fxt_visit *visit = door->visits; visit < door->visits + FXT_DOOR_VISITS; visit++)
		if (visit->connection.fd >= 0)
			end_visit(visit);
	if (door->listener.fd >= 0)
		close(door->listener.fd);
	unlink(door->path);
	rmdir(door->directory);
}
