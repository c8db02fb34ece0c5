/*
 * The call that has a snapshot written (session/snapshots.h). It is replied to once the file is there, or
 * could not be written. Each client may have one under way.
 */
#ifndef FXT_LAUNCHER_CONTROL_SNAPSHOT_CALLS_H
#define FXT_LAUNCHER_CONTROL_SNAPSHOT_CALLS_H

#include "controller.h"

void fxt_call_snapshot(struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* The connection is being closed: its snapshot is written all the same, and nobody told. */
void fxt_snapshot_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection);

/* Once all connections are closed. */
void fxt_snapshot_calls_free(struct fxt_controller *controller);

#endif
