/*
 * Dispatches the calls of the control socket (control.h lists them) by name: JSON-RPC 2.0
 * objects in, JSON-RPC 2.0 objects out. Input that is no JSON, no request, or names no
 * known method yields the corresponding JSON-RPC error.
 */
#ifndef FXT_LAUNCHER_CONTROL_METHODS_H
#define FXT_LAUNCHER_CONTROL_METHODS_H

#include "controller.h"

/* Carries out one line and sends the reply, or keeps the request. May close the
 * connection. */
void fxt_methods_call(
        struct fxt_controller *controller, struct fxt_connection *connection, const char *line, size_t bytes);

/* Refuses a line of more than FXT_CONNECTION_LINE_BYTES. */
void fxt_methods_refuse_line(struct fxt_connection *connection);

#endif
