/*
 * Accepts the providers of a session: a Unix socket in a directory that is private to this run, another one
 * under an abstract name for processes that see other files (a chroot, a private /tmp), and the handshake
 * over them (writer/handshake.h): one hello, one welcome with its descriptors, and the connection is closed.
 * Only processes of our own user are answered, each for itself: the hello must come from the process that it
 * names. Those of other users are counted as untraced. A connection whose hello does not come within
 * FXT_ACCEPTOR_TIMEOUT_NS is closed; meanwhile others are served.
 *
 * Errors: what keeps the socket from being opened is returned as one line for the user. A connection that
 * breaks a rule is closed unanswered; the first such is said.
 */
#ifndef FXT_LAUNCHER_SESSION_ACCEPTOR_H
#define FXT_LAUNCHER_SESSION_ACCEPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "session.h"
#include "launcher/watch.h"

#define FXT_SOCKET_PATH_BYTES   108 /* sockaddr_un.sun_path */
#define FXT_ACCEPTOR_PENDING    64  /* connections whose hello is awaited at the same time */
#define FXT_ACCEPTOR_TIMEOUT_NS UINT64_C(2000000000)

struct fxt_acceptor;

/* A connection whose hello has not come yet. */
struct fxt_pending_connection {
	struct fxt_watch connection; /* fd -1: not in use */
	struct fxt_acceptor *acceptor;
	uint64_t deadline; /* CLOCK_MONOTONIC, nanoseconds */
};

struct fxt_acceptor {
	struct fxt_session *session;
	struct fxt_watch listener, abstract_listener; /* the latter has fd -1 where the name was taken */
	/* accept() found no descriptor free: the next fxt_acceptor_beat() listens again */
	bool paused, abstract_paused;
	bool unknown_peer_said; /* that a process connected which is no provider */
	struct fxt_pending_connection pending[FXT_ACCEPTOR_PENDING];
	char directory[FXT_SOCKET_PATH_BYTES]; /* mode 0700; the link to the agent is made in it too
	                                          (preload.h) */
	int lock;                              /* the directory, open and locked while the session lives */
	char path[FXT_SOCKET_PATH_BYTES];      /* of the socket */
};

/*
 * Makes the directory (below XDG_RUNTIME_DIR, TMPDIR or /tmp, the first that will do) and listens; the
 * session's epoll then serves it. Returns 0, or -1 and one line in error[error_bytes]; nothing is left then.
 */
int fxt_acceptor_open(
        struct fxt_acceptor *acceptor, struct fxt_session *session, char *error, size_t error_bytes);

/* Closes connections whose hello is overdue, and listens again after a pause. The manager calls it every
 * 100 ms. */
void fxt_acceptor_beat(struct fxt_acceptor *acceptor);

/* Closes the connections and the socket; removes the socket's file and the directory. */
void fxt_acceptor_close(struct fxt_acceptor *acceptor);

#endif
