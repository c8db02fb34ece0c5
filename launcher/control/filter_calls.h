/*
 * The calls that change which calls a session records (launcher/manager/filter_change.h).
 * Each gets its reply when all processes record by the change.
 */
#ifndef FXT_LAUNCHER_CONTROL_FILTER_CALLS_H
#define FXT_LAUNCHER_CONTROL_FILTER_CALLS_H

#include "controller.h"

void fxt_call_set_filter(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

void fxt_call_set_categories(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

void fxt_call_set_trigger(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* The change was made, except in `late` processes. */
void fxt_filter_calls_changed(struct fxt_controller *controller, uint32_t late);

/* The connection is being closed. */
void fxt_filter_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection);

#endif
