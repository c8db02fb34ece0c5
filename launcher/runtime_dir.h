/*
 * The place of the control sockets. Each session has a socket of its name in a directory of
 * its user: $XDG_RUNTIME_DIR/fxt, or /tmp/fxt-UID if that directory does not exist or its
 * path is too long for a socket. Only that user may enter it.
 */
#ifndef FXT_LAUNCHER_RUNTIME_DIR_H
#define FXT_LAUNCHER_RUNTIME_DIR_H

#include <stdbool.h>
#include <sys/un.h>

#define FXT_SESSION_NAME_BYTES 32 /* including the zero byte at the end */

/* Time limit for a session to take a connection, and the data sent over it. */
#define FXT_RUNTIME_DIR_TIMEOUT_SECONDS 10

struct fxt_runtime_dir {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path) - FXT_SESSION_NAME_BYTES];
};

/* True if a session may have that name: letters, digits, "-", "_" and ".", not beginning
 * with "."; it must fit into FXT_SESSION_NAME_BYTES. */
bool fxt_session_name_is_valid(const char *name);

/* Fills in the path. The directory need not exist. */
void fxt_runtime_dir_find(struct fxt_runtime_dir *dir);

/* Returns 0 if the directory exists and is private to its user, else an errno value. EACCES
 * = another user owns it or may enter it; then no socket in it is of our sessions, whatever
 * its name. */
int fxt_runtime_dir_check(const struct fxt_runtime_dir *dir);

/* The text for such an error, or for another errno value of the functions here. */
const char *fxt_runtime_dir_error(int error);

/* The address of a session's socket; the name must be valid. */
struct sockaddr_un fxt_runtime_dir_address(const struct fxt_runtime_dir *dir, const char *name);

/* Connects to the control socket of that session. Returns 0 and a descriptor in *fd, which
 * the caller closes; or an errno value: ECONNREFUSED = the process that listened there is
 * gone; EAGAIN = it did not take the connection in time. */
int fxt_runtime_dir_connect(const struct fxt_runtime_dir *dir, const char *name, int *fd);

#endif
