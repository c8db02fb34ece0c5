/*
 * A connection to the control socket. Lines come in and go out through bounded buffers, so
 * that no client can delay the session or another client. While a client does not take its
 * replies, no more is read from it.
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
 * Everything here runs on the main thread.
 */
#ifndef FXT_LAUNCHER_CONTROL_CONNECTION_H
#define FXT_LAUNCHER_CONTROL_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include "launcher/watch.h"

/* of an incoming line, including its newline */
#define FXT_CONNECTION_LINE_BYTES   16384
#define FXT_CONNECTION_OUTPUT_BYTES (1u << 20) /* waiting to be sent */

struct fxt_connection;

/* Receives the events of a connection. Each function may close the connection. */
struct fxt_connection_handler {
	/* A line came, without its newline; not zero-terminated. */
	void (*line)(struct fxt_connection *connection, const char *line, size_t bytes, void *context);
	/* A line came that is longer than allowed. Its rest is dropped; the connection
	 * stays, because its end would end the session of a controller. */
	void (*line_too_long)(struct fxt_connection *connection, void *context);
	/* The connection is being closed, by either side. Forget its kept requests now
	 * (rpc.h): the structure may be reused for another client. */
	void (*closed)(struct fxt_connection *connection, void *context);
	void *context;
};

struct fxt_connection {
	struct fxt_watch socket; /* fd -1 = closed */
	int epoll;
	const struct fxt_connection_handler *handler;
	unsigned owed; /* replies that requests still wait for */
	bool eof;      /* the client sends no more */
	bool closing;
	bool is_skipping; /* the rest of a line that is too long */
	char line[FXT_CONNECTION_LINE_BYTES];
	size_t line_bytes;
	char *output; /* not sent yet; NULL = nothing was ever kept */
	size_t output_bytes;
};

/* Serves a connected socket and closes it with the connection; *handler must outlive it.
 * Returns 0, or an errno value; the socket then stays open, and the caller's. */
int fxt_connection_open(
        struct fxt_connection *connection, int epoll, int fd, const struct fxt_connection_handler *handler);

/* Sends a line, plus a newline. Does nothing on a closed connection. If the lines waiting
 * to be sent would reach FXT_CONNECTION_OUTPUT_BYTES, the client takes no replies, and the
 * connection is closed. */
void fxt_connection_send(struct fxt_connection *connection, const char *line);

/* Waits until the client has taken everything sent, as long as it takes something every
 * second. */
void fxt_connection_drain(struct fxt_connection *connection);

/* Counts a reply that is owed, and one that is settled. While replies are owed, the
 * connection is not closed because its client sends no more. A closed connection owes
 * nothing. */
void fxt_connection_owe(struct fxt_connection *connection);
void fxt_connection_settle(struct fxt_connection *connection);

/* Calls the handler, then closes. Unsent lines are dropped. Does nothing on a closed
 * connection. */
void fxt_connection_close(struct fxt_connection *connection);

#endif
