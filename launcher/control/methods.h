/*
 * The calls of the control socket (control.h lists them) by name: JSON-RPC 2.0 objects in, JSON-RPC 2.0
 * objects out. What is no JSON, no request, or names no method of ours yields the error that JSON-RPC has for
 * it.
 */
#ifndef FXT_LAUNCHER_CONTROL_METHODS_H
#define FXT_LAUNCHER_CONTROL_METHODS_H

#include "controller.h"

/* Carries out one line and sends the reply, or keeps the request. The connection may be closed afterwards. */
void fxt_methods_call(
        struct fxt_controller *controller, struct fxt_connection *connection, const char *line, size_t bytes);

/* Refuses a line of more than FXT_CONNECTION_LINE_BYTES, and closes the connection: where the next request
 * would begin cannot be told. */
void fxt_methods_refuse_line(struct fxt_connection *connection);

#endif
