/*
 * The calls of the control socket (control.h lists them): JSON-RPC 2.0 objects in, JSON-RPC 2.0 objects out.
 * What is no JSON, no request, or names no method of ours yields the error that JSON-RPC has for it.
 */
#ifndef FXT_LAUNCHER_CONTROL_METHODS_H
#define FXT_LAUNCHER_CONTROL_METHODS_H

#include <stddef.h>
#include "control.h"

/* Carries out one line and sends the reply, at once or later. The client may be gone afterwards. */
void fxt_methods_call(struct fxt_client *client, const char *line, size_t bytes);

/* A line is longer than FXT_CONTROL_LINE_BYTES: says so, and ends the connection. */
void fxt_methods_refuse_line(struct fxt_client *client);

/* The client is gone. */
void fxt_methods_forget(struct fxt_client *client);

/* The notification of the session's state, a line. */
void fxt_methods_state_line(const struct fxt_control_socket *control, char *line, size_t line_bytes);

#endif
