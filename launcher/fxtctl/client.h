/*
 * launcher/fxtctl/: the program fxtctl, the other end of a session's control socket
 * (control/control.h). This file is its client: it finds sessions, and makes calls to one
 * of them. Every error ends the process, with one line that describes it.
 */
#ifndef FXT_LAUNCHER_FXTCTL_CLIENT_H
#define FXT_LAUNCHER_FXTCTL_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include "launcher/runtime_dir.h"

/* Time limits for a reply, in seconds. */
enum {
	FXT_CLIENT_SOON = 10,
	FXT_CLIENT_FILTER = 45,    /* the session waits 30 s for running processes */
	FXT_CLIENT_RECORDING = 75, /* the session waits 60 s for a program that does not
	                            * stop */
	FXT_CLIENT_SNAPSHOT = 600,
	FXT_CLIENT_FOREVER = 0,
};

/* Prints a line and ends the process with that status. */
void fxt_client_fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

struct fxt_client {
	char session[FXT_SESSION_NAME_BYTES]; /* name of the connected session */
	FILE *stream;                         /* the connection, for reading replies */
	/* a session that does not answer is skipped and is no error */
	bool is_one_of_many;
};

/* Connects to each running session and calls *found; the connection is closed afterwards. A
 * session that does not answer is reported, and calls that *found makes to it return NULL,
 * as if it had ended. */
void fxt_client_each(void (*found)(struct fxt_client *client));

/* Connects to the session of that name or process number (fxtrun's or its program's). NULL
 * = the only session that runs. */
void fxt_client_connect(struct fxt_client *client, const char *name);

/* Makes a call and returns its result; the caller owns it. Takes ownership of `params`.
 * NULL: the session has ended. Errors of the call end the process; notifications are
 * skipped. */
json_t *fxt_client_call(
        struct fxt_client *client, const char *method, json_t *params, unsigned timeout_seconds);

/* Sends a request without waiting. Takes ownership of `params`. */
void fxt_client_send_request(struct fxt_client *client, const char *method, json_t *params);

/* Ends the process if `reply` is an error. */
void fxt_client_check(const struct fxt_client *client, const json_t *reply);

/* The next object that comes, of any kind; the caller owns it. NULL: the session has
 * ended. */
json_t *fxt_client_next(struct fxt_client *client, unsigned timeout_seconds);

#endif
