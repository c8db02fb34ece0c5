/*
 * Calls that query a session and change nothing (control.h lists them). The header of a
 * provider's buffer is written by the provider, and is shown but not trusted: wrong numbers
 * in it lead to wrong numbers in the reply, and to nothing else.
 */
#ifndef FXT_LAUNCHER_CONTROL_QUERIES_H
#define FXT_LAUNCHER_CONTROL_QUERIES_H

#include "controller.h"

void fxt_call_get_known_categories(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
void fxt_call_get_providers(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
void fxt_call_get_state(struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* Fuchsia's name for the session's state. */
const char *fxt_query_state_name(const struct fxt_session *session);

/* The statistics of the running providers, or of all there were: an array of Fuchsia's
 * ProviderStats, with Fuchsia's names, and records_overwritten in addition. */
json_t *fxt_query_statistics(const struct fxt_session *session, bool of_all);

#endif
