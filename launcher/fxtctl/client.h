/*
 * The other end of a session's control socket (control.h): finding sessions, and calls to one of them.
 * Whatever goes wrong ends the process, with one line that says so.
 */
#ifndef FXT_LAUNCHER_FXTCTL_CLIENT_H
#define FXT_LAUNCHER_FXTCTL_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* How long a reply may take, in seconds. */
enum {
	FXT_CLIENT_SOON = 10,
	FXT_CLIENT_RECORDING = 75, /* a session waits 60 s for a program that does not stop */
	FXT_CLIENT_SNAPSHOT = 600,
	FXT_CLIENT_FOREVER = 0,
};

/* Ends the process with that status. */
void fxt_client_fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* A connection. */
struct fxt_client_session {
	char name[32];
	FILE *stream; /* of what comes */
	bool is_one_of_many;
};

/* Calls *found for each session that runs; the connection is closed afterwards. One that does not answer
 * seems to it to have ended; that is said. */
void fxt_client_each(void (*found)(struct fxt_client_session *session));

/* Connects to the session of that name, or of that process number: fxtrun's, or its program's. NULL = the
 * only one that runs. */
void fxt_client_connect(struct fxt_client_session *session, const char *name);

/* The result of a call; steals `params`. NULL: the session has ended meanwhile. Errors of the call end the
 * process, notifications are skipped. */
json_t *fxt_client_call(
        struct fxt_client_session *session, const char *method, json_t *params, unsigned patience_seconds);

/* Sends a request, and does not wait. */
void fxt_client_send_request(struct fxt_client_session *session, const char *method, json_t *params);

/* Ends the process if a reply is an error. */
void fxt_client_check(const struct fxt_client_session *session, const json_t *reply);

/* The next object that comes, whatever it is; NULL: the session has ended. */
json_t *fxt_client_next(struct fxt_client_session *session, unsigned patience_seconds);

#endif
