/*
 * Where sessions are found: each has a control socket of its name in a directory of its user,
 * $XDG_RUNTIME_DIR/fxt, or /tmp/fxt-UID where there is no such directory or its path is too long for a
 * socket's. Nobody but that user may enter it.
 */
#ifndef FXT_LAUNCHER_RUNTIME_DIR_H
#define FXT_LAUNCHER_RUNTIME_DIR_H

#include <stdbool.h>
#include <sys/un.h>

#define FXT_SESSION_NAME_BYTES 32 /* with the zero byte at the end */

/* A session has so long to take a connection, and what is sent over it. */
#define FXT_RUNTIME_DIR_TIMEOUT_SECONDS 10

struct fxt_runtime_dir {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path) - FXT_SESSION_NAME_BYTES];
};

/* Whether a session may be called so: letters, digits, "-", "_" and ".", which does not stand first; it fits
 * into FXT_SESSION_NAME_BYTES. */
bool fxt_session_name_is_valid(const char *name);

/* Fills in the path. The directory need not be there. */
void fxt_runtime_dir_find(struct fxt_runtime_dir *dir);

/* Returns 0 if the directory is there and its user's alone, else an errno value: EACCES = somebody else owns
 * it or may enter it; no session of ours is in it then, whatever its sockets are called. */
int fxt_runtime_dir_check(const struct fxt_runtime_dir *dir);

/* The text for such an error, or for another errno value of the functions here. */
const char *fxt_runtime_dir_error(int error);

/* The address of a session's socket; the name must be valid. */
struct sockaddr_un fxt_runtime_dir_address(const struct fxt_runtime_dir *dir, const char *name);

/* Connects to the control socket of that session. Returns 0 and a descriptor in *fd, which the caller closes;
 * or an errno value: ECONNREFUSED = the process that listened there is gone; EAGAIN = it did not take the
 * connection in time. */
int fxt_runtime_dir_connect(const struct fxt_runtime_dir *dir, const char *name, int *fd);

#endif
