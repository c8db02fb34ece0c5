/*
 * launcher/control/: the control socket of a session, served by fxtrun. It speaks JSON-RPC
 * 2.0 over a Unix stream socket (runtime_dir.h), one object per line in both directions.
 * fxtctl, or a script with socat, can query the session, start and stop it, and request
 * snapshots. Calls and names follow the Fuchsia trace controller where it has them:
 *
 * - InitializeTracing, with a TraceConfig and "output", optionally with fields of
 *   SetFilter and "triggers": [as of fxtrun --trigger, ...] -> {}. The caller owns the
 *   session, or with --start=idle the recording: it ends with the connection, without the
 *   program.
 * - GetProviders -> {"providers": [{"id", "pid", "name"}, ...]}, the running ones.
 * - GetState -> the session, and the statistics of each running provider.
 * - GetKnownCategories -> {"categories": [{"name", "description"}, ...]}
 * - StartTracing, optionally with {"buffer_disposition", "additional_categories"} -> {}
 * - StopTracing, optionally with {"write_results": true} -> {"provider_stats"}
 * - WatchAlert -> {"alert_name"}, once there is one.
 * - RaiseAlert, with {"alert_name"} -> {}
 * - SetCategories, with {"categories": [name, ...]} -> as SetFilter
 * - SetFilter, with some of {"min_duration": "10us", "max_calls": number or null,
 *   "depth": number or null, "include", "exclude", "only_under", "not_under": [pattern,
 *   ...]} -> {}, once all processes record by it, or {"late": number of those that do not
 *   yet}; error -32001 if it is not possible now, or if the session keeps no sums of calls
 *   elided by time and count.
 * - SetTrigger, with {"trigger": as of fxtrun --trigger} or {"remove": number} ->
 *   {"number": of the added trigger}, and as SetFilter
 * - AttachProcess, with {"process": "number" or "name of a unit"} -> {"processes": how many
 *   were attached to}, once they record; error -32002 if it is not possible. DetachProcess
 *   with the same.
 * - Snapshot, optionally with {"path": absolute} -> {"path", "events", "lost",
 *   "bytes_unwritten", "overwritten", "bytes"} once it is written; without a path, as on a
 *   signal. Data that could not be written is lost too, and only its bytes are known.
 * - TerminateTracing -> {"output", "summary", "bytes", "events", "lost",
 *   "bytes_unwritten", "overwritten", "complete", "provider_stats"}, of all providers there
 *   were, once the trace is final. The session ends, and the program as
 *   fxt_session_terminate() describes. With --start=idle the session is READY then.
 * - AwaitTrace -> the same, once the trace is final, whichever client ends the session.
 * - OnSessionStateChange <- {"state"}: a notification to all.
 *
 * Each file calls only the files to its left, and the session:
 *
 *     connection <- rpc <- queries, trace_config
 *         <- recording_calls, filter_calls, alert_calls, snapshot_calls, attach_calls
 *         <- methods <- control
 *
 * Incoming lines and events of the session call upwards, through handlers that control.c
 * sets.
 */
#ifndef FXT_LAUNCHER_CONTROL_CONTROL_H
#define FXT_LAUNCHER_CONTROL_CONTROL_H

#include "controller.h"
#include "launcher/runtime_dir.h"
#include "recording_calls.h"

struct fxt_control_server {
	struct fxt_controller controller;
	struct fxt_connection_handler handler;
	struct fxt_runtime_dir dir;
	struct fxt_watch listener;
	bool paused;                     /* no descriptor was left for a client */
	struct fxt_connection **clients; /* closed ones are reused */
	unsigned client_count;
};

/* Listens under `name`; keeps the pointer. The session's epoll then serves the clients, and
 * this becomes the session's listener. Only processes of our own user are answered. Returns
 * 0, or -1 and one line in error[error_bytes]; closing is then allowed and not needed. */
int fxt_control_open(struct fxt_control_server *server, struct fxt_session *session,
        struct fxt_snapshots *snapshots, const char *name, char *error, size_t error_bytes);

/* Listens again after a client could not be accepted because no descriptors were left. The
 * main thread calls this several times a second; until then, new clients wait in the
 * socket's queue. */
void fxt_control_resume(struct fxt_control_server *server);

/* The session is over: removes the socket and closes all connections, except those of
 * clients that ended the session and wait for the trace. */
void fxt_control_stop(struct fxt_control_server *server);

/* A recording of a session of several recordings has become a trace: replies to the clients
 * that waited for it. */
void fxt_control_recording_ended(struct fxt_control_server *server, const struct fxt_trace_result *result);

/* Replies to the waiting clients, then closes all connections; without a trace (NULL) there
 * is no reply. */
void fxt_control_close(struct fxt_control_server *server, const struct fxt_trace_result *result);

#endif
