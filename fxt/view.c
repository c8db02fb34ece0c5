/*
 * fxt view: opens a trace in the Perfetto viewer. The viewer is a page that runs in the browser; it fetches
 * the trace from this program over the loopback, from the one address that its security policy allows, and
 * nothing leaves the machine.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "commands.h"
#include "moments.h"
#include "options.h"
#include "reader/index.h"
#include "reader/source.h"

/* What the viewer's security policy lets it fetch from, besides the web. */
#define VIEW_PORT    9001
#define VIEW_ADDRESS "127.0.0.1:9001"
#define VIEW_ORIGIN  "https://ui.perfetto.dev"
#define VIEW_LINK    VIEW_ORIGIN "/#!/?url=http://" VIEW_ADDRESS "/trace.fxt"

static const char help[] =
        "usage: fxt view [--no-open] [--slow=FUNC[:CALL]] [FILE]\n"
        "\n"
        "Opens a trace in the Perfetto viewer, " VIEW_ORIGIN ", in the browser; where there is no\n"
        "display, it prints the link. The viewer fetches the trace from this program, at " VIEW_ADDRESS ",\n"
        "and nobody else can: it stays on this machine. Ends when the trace was fetched.\n"
        "\n"
        "  --no-open           only print the link\n"
        "  --slow=FUNC[:CALL]  on the slowest call of a function, or the CALL-th slowest, as fxt slow\n"
        "                      counts them: selected, with what is around it, its thread "
        "pinned\n" FXT_HELP_FILE;

#define REQUEST_BYTES 8192
#define PIECE         ((size_t)1 << 20)
#define PATIENCE      2 /* seconds; browsers open connections that they may never use */

/* ---- a request ---- */

/* The value of a header of a request, which ends in zero, is that text. */
static bool view_header_is(const char *request, const char *header, const char *value)
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

/* Reads up to the empty line. Returns false if none came. */
static bool view_read_request(int fd, char request[REQUEST_BYTES])
{
	size_t count = 0;

	while (count + 1 < REQUEST_BYTES) {
		ssize_t got = recv(fd, request + count, REQUEST_BYTES - 1 - count, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		count += (size_t)got;
		request[count] = '\0';
		if (strstr(request, "\r\n\r\n"))
			return true;
	}
	return false;
}

static bool view_send(int fd, const char *bytes, size_t count)
{
	while (count > 0) {
		ssize_t put = send(fd, bytes, count, MSG_NOSIGNAL);

		if (put < 0 && errno != EINTR)
			return false;
		if (put > 0) {
			bytes += put;
			count -= (size_t)put;
		}
	}
	return true;
}

static bool view_send_head(int fd, const char *status, uint64_t bytes, bool is_allowed)
{
	char head[1024];
	int count = snprintf(head, sizeof(head),
	        "HTTP/1.1 %s\r\nContent-Length: %" PRIu64
	        "\r\nContent-Type: application/octet-stream\r\nCache-Control: no-store\r\nVary: Origin\r\n"
	        "Connection: close\r\n%s\r\n",
	        status, bytes,
	        is_allowed ? "Access-Control-Allow-Origin: " VIEW_ORIGIN
	                     "\r\nAccess-Control-Allow-Methods: GET\r\n"
	                     "Access-Control-Allow-Private-Network: true\r\n"
	                   : "");

	return view_send(fd, head, (size_t)count);
}

static bool view_send_trace(int fd, const struct fxt_source *source)
{
	char *piece = fxt_resize(NULL, PIECE, 1);
	uint64_t offset = 0;
	bool is_sent = view_send_head(fd, "200 OK", source->bytes, true);

	while (is_sent && offset < source->bytes) {
		size_t got = fxt_source_read(source, offset, piece, PIECE);

		is_sent = got > 0 && view_send(fd, piece, got);
		offset += got;
	}
	free(piece);
	return is_sent;
}

/* Answers one connection. Returns whether the whole trace was sent. */
static bool view_serve(int fd, const struct fxt_source *source)
{
	const struct timeval patience = {.tv_sec = PATIENCE};
	char request[REQUEST_BYTES];

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (!view_read_request(fd, request))
		return false;
	/* A page of another origin, or of a name that was made to lead here, gets nothing. */
	if (!view_header_is(request, "Origin", VIEW_ORIGIN) ||
	        !view_header_is(request, "Host", VIEW_ADDRESS)) {
		view_send_head(fd, "403 Forbidden", 0, false);
		return false;
	}
	if (strncmp(request, "OPTIONS ", strlen("OPTIONS ")) == 0) {
		view_send_head(fd, "204 No Content", 0, true);
		return false;
	}
	if (strncmp(request, "GET /trace.fxt ", strlen("GET /trace.fxt ")) != 0) {
		view_send_head(fd, "404 Not Found", 0, true);
		return false;
	}
	if (!view_send_trace(fd, source))
		return false;
	/* What was sent is there when the other end has closed. */
	shutdown(fd, SHUT_WR);
	while (recv(fd, request, sizeof(request), 0) > 0) {
	}
	return true;
}

/* ---- where it opens ---- */

#define LINK_BYTES 1024

/* Has the thread's rows pinned, whose names end in its number: one command of the viewer's, as JSON. */
#define VIEW_PIN                                                                                           \
	"&startupCommands=%%5B%%7B%%22id%%22%%3A%%22dev.perfetto.PinTracksByRegex%%22%%2C%%22args%%22%%3A" \
	"%%5B%%22%%28%%5E%%7C%%20%%29%" PRIu32 "%%24%%22%%5D%%7D%%5D"

/* A time of the scan as the viewer has it. */
static uint64_t view_time(const struct fxt_scan *scan, uint64_t time)
{
	return scan->in_ticks ? fxt_rate_viewer_ns(time, scan->rate.ticks_per_second) : time;
}

/* Writes the link to a call: the viewer ignores a window that reaches out of the trace. */
static void view_link_to(char link[LINK_BYTES], const struct fxt_scan *scan, const struct fxt_slice *call)
{
	uint64_t around = (call->end - call->start) / 4 + 1;
	uint64_t from = call->start - scan->start > around ? call->start - around : scan->start;
	uint64_t to = scan->end - call->end > around ? call->end + around : scan->end;
	uint64_t start = view_time(scan, call->start);
	int bytes = snprintf(link, LINK_BYTES, VIEW_LINK "&visStart=%" PRIu64 "&visEnd=%" PRIu64 VIEW_PIN,
	        view_time(scan, from), view_time(scan, to),
	        (uint32_t)scan->tables.threads[call->thread].thread);

	/* Selected by these: not where the trace has several clock rates, of which one would have to be
	 * known. */
	if (scan->in_ticks)
		bytes += snprintf(link + bytes, LINK_BYTES - (size_t)bytes, "&ts=%" PRIu64, start);
	if (scan->in_ticks && !call->is_open)
		snprintf(link + bytes, LINK_BYTES - (size_t)bytes, "&dur=%" PRIu64,
		        view_time(scan, call->end) - start);
}

static struct fxt_patterns slow;
static uint64_t slow_number;

/* Writes the link to what was asked for. Returns FXT_DONE, or FXT_FAILED after telling why. */
static int view_make_link(char link[LINK_BYTES], const char *name, const struct fxt_source *source)
{
	struct fxt_moments *m;
	struct fxt_scan scan;

	strcpy(link, VIEW_LINK);
	if (slow.count == 0)
		return FXT_DONE;
	fxt_scan_told(&scan, source, NULL, fxt_moments_listener());
	m = fxt_moments_find(name, &scan, &slow, slow_number, slow_number);
	if (m) {
		view_link_to(link, &scan, &m->slowest.calls[slow_number - 1].slice);
		fxt_moments_forget(m);
	}
	fxt_scan_free(&scan);
	return m ? FXT_DONE : FXT_FAILED;
}

/* ---- the command ---- */

static int view_listen(void)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
	        .sin_port = htons(VIEW_PORT),
	        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 16) == 0)
		return fd;
	int error = errno;

	close(fd);
	errno = error;
	return -1;
}

/* In the background: how it went is the desktop's to tell. */
static void view_open(const char *link)
{
	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return;
	if (fork() == 0) {
		if (fork() == 0)
			execlp("xdg-open", "xdg-open", link, (char *)NULL);
		_exit(0);
	}
}

static bool no_open;

static int view(const char *name, const struct fxt_source *source)
{
	char link[LINK_BYTES];

	if (view_make_link(link, name, source) != FXT_DONE)
		return FXT_FAILED;
	int listener = view_listen();
	bool is_fetched = false;

	if (listener < 0) {
		fprintf(stderr, "fxt: %s: cannot be served at " VIEW_ADDRESS ": %s\n", name,
		        errno == EADDRINUSE ? "another program is there, as another fxt view"
		                            : strerror(errno));
		return FXT_FAILED;
	}
	printf("%s is at\n%s\nuntil it was fetched from there, or Ctrl-C\n", name, link);
	fflush(stdout);
	if (!no_open)
		view_open(link);
	while (!is_fetched) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
			break;
		if (fd >= 0) {
			is_fetched = view_serve(fd, source);
			close(fd);
		}
	}
	if (!is_fetched)
		fprintf(stderr, "fxt: %s: cannot be served: %s\n", name, strerror(errno));
	close(listener);
	return is_fetched ? FXT_DONE : FXT_FAILED;
}

enum { OPTION_NO_OPEN = FXT_OPTION_OWN, OPTION_SLOW };

int fxt_command_view(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	        {"no-open", no_argument, NULL, OPTION_NO_OPEN},
	        {"slow", required_argument, NULL, OPTION_SLOW}, {0}};
	int option;

	no_open = false;
	slow = (struct fxt_patterns){0};
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1) {
		no_open |= option == OPTION_NO_OPEN;
		if (option == OPTION_SLOW &&
		        fxt_moments_take(&slow, argv[0], optarg, &slow_number) != FXT_DONE)
			return FXT_FAILED;
	}
	int status = fxt_each_source(argc, argv, view);

	fxt_patterns_free(&slow);
	return status;
}
