/*
 * AttachProcess and DetachProcess: which running processes belong to the session. A request
 * is kept until the process is attached to or detached from.
 */
#ifndef FXT_LAUNCHER_CONTROL_ATTACH_CALLS_H
#define FXT_LAUNCHER_CONTROL_ATTACH_CALLS_H

#include "controller.h"

void fxt_call_attach_process(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
void fxt_call_detach_process(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* Answers the kept request of `controller`: it was carried out for `count` processes, or it
 * failed (`error` not NULL). */
void fxt_attach_calls_done(void *controller, const char *error, size_t count);

/* The connection is being closed: it no longer waits. */
void fxt_attach_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection);

#endif
