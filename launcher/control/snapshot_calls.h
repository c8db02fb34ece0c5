/*
 * The call that requests a snapshot (launcher/manager/snapshots.h). It gets its reply after
 * the file is written or has failed. Each client may have one request in progress.
 */
#ifndef FXT_LAUNCHER_CONTROL_SNAPSHOT_CALLS_H
#define FXT_LAUNCHER_CONTROL_SNAPSHOT_CALLS_H

#include "controller.h"

void fxt_call_snapshot(struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* The connection is being closed: its snapshot is still written, without a reply. */
void fxt_snapshot_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection);

/* Call it after all connections are closed. */
void fxt_snapshot_calls_free(struct fxt_controller *controller);

#endif
