/*
 * launcher/fxtctl/: the program fxtctl, the other end of a session's control socket (control/control.h). This
 * is its client: it finds sessions, and makes calls to one of them. Whatever goes wrong ends the process,
 * with one line that says so.
 */
#ifndef FXT_LAUNCHER_FXTCTL_CLIENT_H
#define FXT_LAUNCHER_FXTCTL_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include "launcher/runtime_dir.h"

/* How long a reply may take, in seconds. */
enum {
	FXT_CLIENT_SOON = 10,
	FXT_CLIENT_FILTER = 45,    /* it waits 30 s for processes that run */
	FXT_CLIENT_RECORDING = 75, /* a session waits 60 s for a program that does not stop */
	FXT_CLIENT_SNAPSHOT = 600,
	FXT_CLIENT_FOREVER = 0,
};

/* Ends the process with that status. */
void fxt_client_fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

struct fxt_client {
	char session[FXT_SESSION_NAME_BYTES]; /* that it is connected to */
	FILE *stream;                         /* what comes from there, and the connection */
	bool is_one_of_many; /* a session that does not answer is passed over, not an error */
};

/* Connects to each session that runs and calls *found; the connection is closed afterwards. Of a session that
 * does not answer that is said, and calls that *found makes to it return NULL, as if it had ended. */
void fxt_client_each(void (*found)(struct fxt_client *client));

/* Connects to the session of that name, or of that process number: fxtrun's, or its program's. NULL = the
 * only one that runs. */
void fxt_client_connect(struct fxt_client *client, const char *name);

/* The result of a call, which the caller owns; steals `params`. NULL: the session has ended meanwhile. Errors
 * of the call end the process, notifications are skipped. */
json_t *fxt_client_call(
        struct fxt_client *client, const char *method, json_t *params, unsigned timeout_seconds);

/* Sends a request, and does not wait. Steals `params`. */
void fxt_client_send_request(struct fxt_client *client, const char *method, json_t *params);

/* Ends the process if a reply is an error. */
void fxt_client_check(const struct fxt_client *client, const json_t *reply);

/* The next object that comes, whatever it is, which the caller owns; NULL: the session has ended. */
json_t *fxt_client_next(struct fxt_client *client, unsigned timeout_seconds);

#endif
