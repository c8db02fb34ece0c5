/*
 * Where sessions are found: each has a control socket of its name in a directory of its user,
 * $XDG_RUNTIME_DIR/fxt, or /tmp/fxt-UID where there is no such directory or its path is too long for a
 * socket. Only that user may enter it.
 */
#ifndef FXT_LAUNCHER_RUNTIME_DIR_H
#define FXT_LAUNCHER_RUNTIME_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#define FXT_SESSION_NAME_BYTES 32 /* with the zero byte at the end */

struct fxt_place {
	char directory[sizeof(((struct sockaddr_un *)0)->sun_path) - FXT_SESSION_NAME_BYTES];
};

/* Letters, digits, "-", "_" and ".", which does not stand first. */
bool fxt_session_name_is_valid(const char *name);

void fxt_place_find(struct fxt_place *place);

/* Whether the directory is there, ours alone. If not, errno says why: EACCES = others own or may enter it. */
bool fxt_place_is_safe(const struct fxt_place *place);

/* The address of a session's socket; the name is valid. */
struct sockaddr_un fxt_place_address(const struct fxt_place *place, const char *name);

/* For a session to take a connection, or what is sent to it. */
#define FXT_PLACE_PATIENCE_SECONDS 10

/* A connection to the control socket of a session of our own user. Returns its descriptor, or -1 and errno:
 * ECONNREFUSED = nobody listens there any more; EAGAIN = patience is over. */
int fxt_place_connect(const struct fxt_place *place, const char *name);

#endif
