/*
 * Accepts the providers of a session. It listens on a Unix socket in a directory private to
 * this run, and on a second one with an abstract name, for processes that see other files
 * (a chroot, a private /tmp). It carries out the handshake over both
 * (writer/shared/handshake.h): one hello, one welcome with its descriptors, and the
 * connection is closed.
 *
 * Only processes of our own user are answered, and only about themselves: the hello must
 * come from the process that it names. Processes of other users are counted as untraced. A
 * connection without a hello within FXT_ACCEPTOR_TIMEOUT_NS is closed; it does not delay
 * the others.
 *
 * Errors: the reason why the socket cannot be opened is returned as one line for the user.
 * A connection that breaks a rule is closed without an answer; only the first such case is
 * printed.
 */
#ifndef FXT_LAUNCHER_MANAGER_ACCEPTOR_H
#define FXT_LAUNCHER_MANAGER_ACCEPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "session.h"
#include "launcher/watch.h"

#define FXT_SOCKET_PATH_BYTES   108 /* sockaddr_un.sun_path */
#define FXT_ACCEPTOR_PENDING    64  /* connections that wait for their hello at a time */
#define FXT_ACCEPTOR_TIMEOUT_NS UINT64_C(2000000000)

struct fxt_acceptor;

/* A connection that has not received its hello yet. */
struct fxt_pending_connection {
	struct fxt_watch connection; /* fd -1: not in use */
	struct fxt_acceptor *acceptor;
	uint64_t deadline; /* CLOCK_MONOTONIC, nanoseconds */
};

struct fxt_acceptor {
	struct fxt_session *session;
	/* abstract_listener has fd -1 if the name was taken */
	struct fxt_watch listener, abstract_listener;
	/* accept() ran out of descriptors; the next fxt_acceptor_beat() listens again */
	bool paused, abstract_paused;
	bool unknown_peer_said; /* printed: a process connected that is no provider */
	struct fxt_pending_connection pending[FXT_ACCEPTOR_PENDING];
	char directory[FXT_SOCKET_PATH_BYTES]; /* mode 0700; also holds the link to the agent
	                                        * (preload.h) */
	int lock;                              /* the directory's descriptor, locked while the
	                                        * session lives */
	char path[FXT_SOCKET_PATH_BYTES];      /* the socket's path */
};

/*
 * Makes the directory (below the first usable one of XDG_RUNTIME_DIR, TMPDIR and /tmp) and
 * listens; the session's epoll then serves the sockets. Returns 0, or -1 and one line in
 * error[error_bytes]; nothing is left open then.
 */
int fxt_acceptor_open(
        struct fxt_acceptor *acceptor, struct fxt_session *session, char *error, size_t error_bytes);

/* Closes connections with an overdue hello, and listens again after a pause. The manager
 * calls it every 100 ms. */
void fxt_acceptor_beat(struct fxt_acceptor *acceptor);

/* Closes the connections and the sockets, and removes the socket's file and the
 * directory. */
void fxt_acceptor_close(struct fxt_acceptor *acceptor);

#endif
