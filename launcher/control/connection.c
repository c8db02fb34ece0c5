/*
 * Serves one connection with non-blocking reads and writes, on the main thread. It must not
 * wait for its client, except in fxt_connection_drain().
 */
#include "connection.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DRAIN_PATIENCE_MS = 1000 };

static bool connection_is_open(const struct fxt_connection *c)
{
	return c->socket.fd >= 0;
}

void fxt_connection_close(struct fxt_connection *c)
{
	if (!connection_is_open(c) || c->closing)
		return;
	c->closing = true;
	c->handler->closed(c, c->handler->context);
	fxt_watch_remove(c->epoll, &c->socket);
	close(c->socket.fd);
	free(c->output);
	c->socket.fd = -1;
	c->output = NULL;
	c->output_bytes = 0;
}

/* Waits for the next possible event of this client, first of all room for its output;
 * closes if there is none. */
static void connection_wait(struct fxt_connection *c)
{
	struct epoll_event event = {
	        .events = c->output_bytes ? EPOLLOUT
	                  : c->eof        ? 0
	                                  : EPOLLIN,
	        .data.ptr = &c->socket,
	};

	if (!connection_is_open(c))
		return;
	if (c->eof && !c->output_bytes && !c->owed)
		fxt_connection_close(c);
	else
		epoll_ctl(c->epoll, EPOLL_CTL_MOD, c->socket.fd, &event);
}

static void connection_flush(struct fxt_connection *c)
{
	ssize_t sent = send(c->socket.fd, c->output, c->output_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		fxt_connection_close(c);
		return;
	}
	if (sent > 0) {
		c->output_bytes -= (size_t)sent;
		memmove(c->output, c->output + sent, c->output_bytes);
	}
}

void fxt_connection_send(struct fxt_connection *c, const char *line)
{
	size_t bytes = strlen(line);
	char *output = NULL;

	if (!connection_is_open(c))
		return;
	if (!c->output_bytes || c->output_bytes + bytes < FXT_CONNECTION_OUTPUT_BYTES)
		output = realloc(c->output, c->output_bytes + bytes + 1);
	if (!output) {
		fxt_connection_close(c);
		return;
	}
	c->output = output;
	memcpy(output + c->output_bytes, line, bytes);
	output[c->output_bytes + bytes] = '\n';
	c->output_bytes += bytes + 1;
	connection_flush(c);
	connection_wait(c);
}

void fxt_connection_drain(struct fxt_connection *c)
{
	while (connection_is_open(c) && c->output_bytes) {
		struct pollfd client = {c->socket.fd, POLLOUT, 0};

		if (poll(&client, 1, DRAIN_PATIENCE_MS) <= 0)
			return;
		connection_flush(c);
	}
}

void fxt_connection_owe(struct fxt_connection *c)
{
	c->owed++;
}

void fxt_connection_settle(struct fxt_connection *c)
{
	if (!connection_is_open(c))
		return;
	c->owed--;
	connection_wait(c);
}

/* Hands over whole lines until a reply cannot be sent at once. */
static void connection_take_lines(struct fxt_connection *c)
{
	char line[FXT_CONNECTION_LINE_BYTES];
	char *end;

	while (connection_is_open(c) && !c->output_bytes && (end = memchr(c->line, '\n', c->line_bytes))) {
		size_t bytes = (size_t)(end - c->line);

		memcpy(line, c->line, bytes);
		c->line_bytes -= bytes + 1;
		memmove(c->line, end + 1, c->line_bytes);
		c->handler->line(c, line, bytes, c->handler->context);
	}
	if (connection_is_open(c) && !c->output_bytes && c->line_bytes == sizeof(c->line)) {
		c->line_bytes = 0;
		c->is_skipping = true;
		c->handler->line_too_long(c, c->handler->context);
	}
}

/* Drops the rest of a line that is longer than allowed. */
static void connection_skip(struct fxt_connection *c)
{
	const char *end = c->is_skipping ? memchr(c->line, '\n', c->line_bytes) : NULL;

	if (!c->is_skipping)
		return;
	c->is_skipping = !end;
	c->line_bytes = end ? c->line_bytes - (size_t)(end + 1 - c->line) : 0;
	if (end)
		memmove(c->line, end + 1, c->line_bytes);
}

static void connection_receive(struct fxt_connection *c)
{
	ssize_t bytes =
	        recv(c->socket.fd, c->line + c->line_bytes, sizeof(c->line) - c->line_bytes, MSG_DONTWAIT);

	if (bytes > 0)
		c->line_bytes += (size_t)bytes;
	else if (bytes == 0)
		c->eof = true;
	else if (errno != EAGAIN && errno != EINTR)
		fxt_connection_close(c);
}

static void connection_ready(struct fxt_watch *watch, void *context)
{
	struct fxt_connection *c = context;

	(void)watch;
	if (c->output_bytes)
		connection_flush(c);
	else if (c->eof)
		fxt_connection_close(c); /* a hang-up: no other event was waited for */
	else
		connection_receive(c);
	connection_skip(c);
	connection_take_lines(c);
	connection_wait(c);
}

int fxt_connection_open(
        struct fxt_connection *c, int epoll, int fd, const struct fxt_connection_handler *handler)
{
	int error;

	c->socket = (struct fxt_watch){fd, connection_ready, c};
	c->epoll = epoll;
	c->handler = handler;
	c->owed = 0;
	c->eof = c->closing = c->is_skipping = false;
	c->line_bytes = 0;
	c->output = NULL;
	c->output_bytes = 0;
	error = fxt_watch_add(epoll, &c->socket);
	if (error)
		c->socket.fd = -1;
	return error;
}
