/*
 * A small HTTP server for one file, with poll() over all connections. Runs on the main
 * thread. It must not answer a connection of another user, or a page of another origin.
 */
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "reader/trace/index.h"

#define SERVE_PORT        9001
#define SERVE_CONNECTIONS 64
#define REQUEST_BYTES     8192
#define PIECE             ((size_t)1 << 18)

/* Timeouts in milliseconds. Browsers open connections that they may never use. */
#define PATIENCE_REQUEST 5000   /* until a request is complete */
#define PATIENCE_SENDING 120000 /* until the viewer, which parses as it reads, takes more */
#define PATIENCE_CLOSING 2000   /* until the peer closes the connection */

/* ---- who connects ---- */

/* True if a line of /proc/net/tcp or tcp6 belongs to the peer's socket: it has the
 * peer's address and port as the local ones, then ours as the remote ones. An IPv4
 * address mapped into IPv6 is the last 32 bits of it. */
static bool serve_is_socket(const char *line, const struct sockaddr_in *peer, unsigned *uid)
{
	char local[33], remote[33];
	unsigned local_port, remote_port, address;

	if (sscanf(line, " %*u: %32[0-9A-F]:%x %32[0-9A-F]:%x %*x %*x:%*x %*x:%*x %*x %u", local, &local_port,
	            remote, &remote_port, uid) != 5 ||
	        strlen(local) < 8 || local_port != ntohs(peer->sin_port) || remote_port != SERVE_PORT)
		return false;
	return sscanf(local + strlen(local) - 8, "%x", &address) == 1 && address == peer->sin_addr.s_addr;
}

/* Finds the owner of the peer's socket in one of these tables. */
static bool serve_find_owner(const char *table, const struct sockaddr_in *peer, unsigned *uid)
{
	FILE *file = fopen(table, "re");
	char line[512];
	bool is_found = false;

	while (file && !is_found && fgets(line, sizeof(line), file))
		is_found = serve_is_socket(line, peer, uid);
	if (file)
		fclose(file);
	return is_found;
}

/* True if a user may have the trace. The browser of the user who called sudo runs as
 * that user. */
static bool serve_may_have(unsigned uid)
{
	const char *caller = geteuid() == 0 ? getenv("SUDO_UID") : NULL;

	return uid == geteuid() || uid == 0 || (caller && *caller && uid == strtoul(caller, NULL, 10));
}

static bool serve_is_welcome(const struct sockaddr_in *peer)
{
	static bool is_told;
	unsigned uid;

	if (!serve_find_owner("/proc/self/net/tcp", peer, &uid) &&
	        !serve_find_owner("/proc/self/net/tcp6", peer, &uid))
		return false;
	if (serve_may_have(uid))
		return true;
	if (!is_told)
		fprintf(stderr, "fxt: user %u of this machine asked for the trace, and got nothing\n", uid);
	is_told = true;
	return false;
}

/* ---- a request ---- */

struct serve_connection {
	int fd;
	bool is_answered;  /* the request is complete; the answer described below is sent */
	bool is_closing;   /* all was sent */
	bool is_trace;     /* the answer continues with the trace */
	int64_t deadline;  /* milliseconds */
	uint64_t offset;   /* of the next piece of the trace */
	size_t put, bytes; /* in `bytes_of`: bytes sent, and bytes there */
	char *bytes_of;    /* PIECE bytes: the request, then the answer */
};

/* True if a header of a request has this value. The request ends in a zero byte. */
static bool serve_header_is(const char *request, const char *header, const char *value)
{
	size_t bytes = strlen(header);

	for (const char *line = strchr(request, '\n'); line; line = strchr(line, '\n')) {
		line++;
		if (strncasecmp(line, header, bytes) != 0 || line[bytes] != ':')
			continue;
		line += bytes + 1;
		line += strspn(line, " \t");
		return strcspn(line, "\r\n") == strlen(value) && strncmp(line, value, strlen(value)) == 0;
	}
	return false;
}

static bool serve_begins(const char *request, const char *method, const char *path)
{
	size_t method_bytes = strlen(method), path_bytes = strlen(path);

	return strncmp(request, method, method_bytes) == 0 &&
	       strncmp(request + method_bytes, path, path_bytes) == 0 &&
	       request[method_bytes + path_bytes] == ' ';
}

static void serve_answer(struct serve_connection *c, const char *status, uint64_t bytes, bool is_allowed)
{
	c->is_answered = true;
	c->put = 0;
	c->bytes = (size_t)snprintf(c->bytes_of, PIECE,
	        "HTTP/1.1 %s\r\nContent-Length: %" PRIu64
	        "\r\nContent-Type: application/octet-stream\r\nCache-Control: no-store\r\nVary: Origin\r\n"
	        "Connection: close\r\n%s\r\n",
	        status, bytes,
	        is_allowed ? "Access-Control-Allow-Origin: " FXT_SERVE_ORIGIN
	                     "\r\nAccess-Control-Allow-Methods: GET\r\n"
	                     "Access-Control-Allow-Private-Network: true\r\n"
	                   : "");
}

/* Answers a complete request. */
static void serve_request(struct serve_connection *c, const char *path, const struct fxt_source *source)
{
	const char *request = c->bytes_of;

	/* Refuse a page of another origin, or of a host name that was made to resolve to
	 * this address. */
	if (!serve_header_is(request, "Origin", FXT_SERVE_ORIGIN) ||
	        !serve_header_is(request, "Host", FXT_SERVE_ADDRESS)) {
		serve_answer(c, "403 Forbidden", 0, false);
	} else if (strncmp(request, "OPTIONS ", strlen("OPTIONS ")) == 0) {
		serve_answer(c, "204 No Content", 0, true);
	} else if (!serve_begins(request, "GET ", path)) {
		serve_answer(c, "404 Not Found", 0, true);
	} else {
		c->is_trace = true;
		serve_answer(c, "200 OK", source->bytes, true);
	}
}

/* ---- connections ---- */

static int64_t serve_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Each of these three continues with a connection as far as possible. They return false
 * when it is over. */

static bool serve_read(struct serve_connection *c, const char *path, const struct fxt_source *source)
{
	ssize_t got = recv(c->fd, c->bytes_of + c->bytes, REQUEST_BYTES - 1 - c->bytes, 0);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	c->bytes += (size_t)got;
	c->bytes_of[c->bytes] = '\0';
	if (strstr(c->bytes_of, "\r\n\r\n")) {
		serve_request(c, path, source);
		c->deadline = serve_now() + PATIENCE_SENDING;
		return true;
	}
	return got > 0 && c->bytes < REQUEST_BYTES - 1;
}

/* Loads the next piece of the trace. Returns false if there is none. */
static bool serve_next_piece(struct serve_connection *c, const struct fxt_source *source)
{
	if (!c->is_trace || c->offset >= source->bytes)
		return false;
	c->bytes = fxt_source_read(source, c->offset, c->bytes_of, PIECE);
	c->offset += c->bytes;
	c->put = 0;
	return c->bytes > 0;
}

static bool serve_send(struct serve_connection *c, const struct fxt_source *source)
{
	ssize_t put = send(c->fd, c->bytes_of + c->put, c->bytes - c->put, MSG_NOSIGNAL);

	if (put < 0)
		return errno == EAGAIN || errno == EINTR;
	c->put += (size_t)put;
	c->deadline = serve_now() + PATIENCE_SENDING;
	if (c->put < c->bytes || serve_next_piece(c, source))
		return true;
	/* The peer closes the connection after it has received everything. */
	shutdown(c->fd, SHUT_WR);
	c->is_closing = true;
	c->deadline = serve_now() + PATIENCE_CLOSING;
	return true;
}

static bool serve_close(struct serve_connection *c)
{
	ssize_t got = recv(c->fd, c->bytes_of, PIECE, 0);

	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool serve_go_on(struct serve_connection *c, const char *path, const struct fxt_source *source)
{
	return c->is_closing    ? serve_close(c)
	       : c->is_answered ? serve_send(c, source)
	                        : serve_read(c, path, source);
}

static bool serve_is_fetched(const struct serve_connection *c, const struct fxt_source *source)
{
	return c->is_closing && c->is_trace && c->offset >= source->bytes;
}

/* ---- all connections ---- */

struct server {
	struct serve_connection connections[SERVE_CONNECTIONS];
	struct pollfd polled[SERVE_CONNECTIONS + 1]; /* the connections', then the
	                                                listener's */
	int count;
	bool is_fetched;
};

static void serve_end(struct server *s, int i, const struct fxt_source *source)
{
	struct serve_connection *c = &s->connections[i];

	s->is_fetched |= serve_is_fetched(c, source);
	close(c->fd);
	free(c->bytes_of);
	*c = s->connections[--s->count];
}

/* Accepts a connection. If there are too many, it replaces the one with the least time
 * left. Returns 0 or an errno value. */
static int serve_accept(struct server *s, int listener, const struct fxt_source *source)
{
	struct sockaddr_in peer = {0};
	socklen_t bytes = sizeof(peer);
	int fd = accept4(listener, (struct sockaddr *)&peer, &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED ? 0 : errno;
	if (!serve_is_welcome(&peer)) {
		close(fd);
		return 0;
	}
	if (s->count == SERVE_CONNECTIONS) {
		int next = 0;

		for (int i = 1; i < s->count; i++)
			if (s->connections[i].deadline < s->connections[next].deadline)
				next = i;
		serve_end(s, next, source);
	}
	s->connections[s->count++] = (struct serve_connection){
	        .fd = fd, .deadline = serve_now() + PATIENCE_REQUEST, .bytes_of = fxt_allocate(PIECE)};
	return 0;
}

/* Waits until a socket is ready or a timeout ends. Returns 0 or an errno value. */
static int serve_wait(struct server *s, int listener)
{
	int64_t until = INT64_MAX, now = serve_now();

	for (int i = 0; i < s->count; i++) {
		const struct serve_connection *c = &s->connections[i];

		s->polled[i] = (struct pollfd){
		        .fd = c->fd, .events = c->is_answered && !c->is_closing ? POLLOUT : POLLIN};
		if (c->deadline < until)
			until = c->deadline;
	}
	s->polled[s->count] = (struct pollfd){.fd = listener, .events = POLLIN};
	int timeout = s->count == 0 ? -1 : until > now ? (int)(until - now) : 0;

	return poll(s->polled, (nfds_t)s->count + 1, timeout) >= 0 || errno == EINTR ? 0 : errno;
}

int fxt_serve(int listener, const char *path, const struct fxt_source *source)
{
	static struct server s;
	int error = 0;

	s = (struct server){0};
	while (!s.is_fetched && !error) {
		error = serve_wait(&s, listener);
		bool has_another = s.polled[s.count].revents != 0;

		for (int i = s.count - 1; i >= 0 && !error; i--) {
			struct serve_connection *c = &s.connections[i];
			bool is_over = s.polled[i].revents ? !serve_go_on(c, path, source)
			                                   : c->deadline <= serve_now();

			if (is_over)
				serve_end(&s, i, source);
		}
		if (has_another && !error)
			error = serve_accept(&s, listener, source);
	}
	while (s.count > 0)
		serve_end(&s, s.count - 1, source);
	return s.is_fetched ? 0 : error;
}

int fxt_serve_listen(void)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
	        .sin_port = htons(SERVE_PORT),
	        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 64) == 0)
		return fd;
	int error = errno;

	close(fd);
	errno = error;
	return -1;
}

int fxt_serve_make_path(char path[FXT_SERVE_PATH_BYTES])
{
	uint64_t secret[2];

	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		return errno;
	snprintf(path, FXT_SERVE_PATH_BYTES, "/%016" PRIx64 "%016" PRIx64 "/trace.fxt", secret[0], secret[1]);
	return 0;
}
