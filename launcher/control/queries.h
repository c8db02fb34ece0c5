/*
 * Calls that ask about a session and change nothing (control.h lists them). What a provider wrote into the
 * header of its buffer is shown and not believed: wrong numbers there are wrong numbers here, and no more.
 */
#ifndef FXT_LAUNCHER_CONTROL_QUERIES_H
#define FXT_LAUNCHER_CONTROL_QUERIES_H

#include "controller.h"

void fxt_call_get_known_categories(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
void fxt_call_get_providers(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);
void fxt_call_get_state(struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* The state of a session by Fuchsia's name for it. */
const char *fxt_query_state_name(const struct fxt_session *session);

/* The statistics of the providers that run, or of all there were: an array of Fuchsia's ProviderStats, with
 * its names and one of ours, records_overwritten. */
json_t *fxt_query_statistics(const struct fxt_session *session, bool of_all);

#endif
