/*
 * Where the providers of a session come in: a Unix socket in a directory that is private to this run, and the
 * handshake over it (writer/shared.h): one hello, one welcome with two descriptors, and the connection is
 * closed. Only processes of our own user are let in, each for itself. A connection that stays silent is
 * closed after a while; it holds nobody up.
 */
#ifndef FXT_LAUNCHER_SESSION_ACCEPTOR_H
#define FXT_LAUNCHER_SESSION_ACCEPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "session.h"
#include "launcher/watch.h"

#define FXT_DOOR_PATH_BYTES  108 /* of a socket's path: sockaddr_un */
#define FXT_DOOR_VISITS      64  /* connections that have said nothing yet */
#define FXT_DOOR_PATIENCE_NS UINT64_C(2000000000)

struct fxt_door;

/* A connection whose hello is still to come. */
struct fxt_visit {
	struct fxt_watch connection; /* fd -1 = free */
	struct fxt_door *door;
	uint64_t deadline; /* CLOCK_MONOTONIC, nanoseconds */
};

struct fxt_door {
	struct fxt_session *session;
	struct fxt_watch listener;
	bool paused; /* no more descriptors to be had: listens again at the next beat */
	bool stranger_said;
	struct fxt_visit visits[FXT_DOOR_VISITS];
	char directory[FXT_DOOR_PATH_BYTES]; /* private: 0700; holds the socket, and room for others' files */
	char path[FXT_DOOR_PATH_BYTES];      /* of the socket */
};

/*
 * Makes the directory (below XDG_RUNTIME_DIR, TMPDIR or /tmp, the first that will do) and listens; the
 * session's epoll then serves it. Returns 0, or -1 and one line in error[error_bytes]; nothing is left then.
 */
int fxt_door_open(struct fxt_door *door, struct fxt_session *session, char *error, size_t error_bytes);

/* Closes connections whose time is up. Some times a second. */
void fxt_door_beat(struct fxt_door *door);

/* Closes everything and removes socket and directory. */
void fxt_door_close(struct fxt_door *door);

#endif
