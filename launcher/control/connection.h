/*
 * A connection to the control socket: lines come in, lines go out, both through bounded buffers, so that no
 * client can hold up the session or another client. While a client does not take what it is sent nothing more
 * is read from it.
 *
 *      ┌───────────┐  a line cannot be sent at once   ┌───────────┐
 *      │  reading  │ ───────────────────────────────> │  writing  │
 *      │           │ <─────────────────────────────── │           │
 *      └───────────┘      all of it has been sent     └───────────┘
 *            │ the client sends no more                     │ it takes nothing any more
 *            v                                              v
 *      ┌───────────┐      no reply is owed to it      ┌───────────┐
 *      │   owing   │ ───────────────────────────────> │  closed   │ fd -1
 *      └───────────┘                                  └───────────┘
 *
 * Everything here is the main thread's.
 */
#ifndef FXT_LAUNCHER_CONTROL_CONNECTION_H
#define FXT_LAUNCHER_CONTROL_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include "launcher/watch.h"

#define FXT_CONNECTION_LINE_BYTES   16384      /* of a line that comes in, its newline counted */
#define FXT_CONNECTION_OUTPUT_BYTES (1u << 20) /* that wait to be sent */

struct fxt_connection;

/* Who is told. Each of these may close the connection. */
struct fxt_connection_handler {
	/* A line came, without its newline; not ended by a zero byte. */
	void (*line)(struct fxt_connection *connection, const char *line, size_t bytes, void *context);
	/* One came that is longer than a line may be. */
	void (*line_too_long)(struct fxt_connection *connection, void *context);
	/* The connection is being closed, by whichever side. Requests of it that were kept must be forgotten
	 * now (rpc.h): the structure may be another client's next. */
	void (*closed)(struct fxt_connection *connection, void *context);
	void *context;
};

struct fxt_connection {
	struct fxt_watch socket; /* fd -1 = closed */
	int epoll;
	const struct fxt_connection_handler *handler;
	unsigned owed; /* replies that requests still wait for */
	bool eof;      /* the client sends nothing more */
	bool closing;
	char line[FXT_CONNECTION_LINE_BYTES];
	size_t line_bytes;
	char *output; /* not sent yet; NULL = nothing ever was kept */
	size_t output_bytes;
};

/* Serves a connected socket, which is closed with the connection; *handler must outlive it. Returns 0, or an
 * errno value; the socket stays open then, and the caller's. */
int fxt_connection_open(
        struct fxt_connection *connection, int epoll, int fd, const struct fxt_connection_handler *handler);

/* Sends a line, its newline added. A closed connection drops it; one that other lines wait for is closed if
 * they would come to FXT_CONNECTION_OUTPUT_BYTES, since its client takes no replies at all. */
void fxt_connection_send(struct fxt_connection *connection, const char *line);

/* Waits until the client has taken what it was sent, as long as it takes something each second. */
void fxt_connection_drain(struct fxt_connection *connection);

/* A reply is owed: until as many replies are settled the connection is not closed because its client sends
 * no more. A closed one owes nothing. */
void fxt_connection_owe(struct fxt_connection *connection);
void fxt_connection_settle(struct fxt_connection *connection);

/* Tells the handler, then closes. What was not sent is dropped. A closed one is let be. */
void fxt_connection_close(struct fxt_connection *connection);

#endif
