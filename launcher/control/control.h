/*
 * launcher/control/: the control socket of a session, served by fxtrun. JSON-RPC 2.0 over a Unix stream
 * socket (runtime_dir.h), one object a line both ways, so that fxtctl, or a script with socat, can ask about
 * the session, start and stop it, and have snapshots written. Calls and names are those of the Fuchsia trace
 * controller where it has them:
 *
 * - InitializeTracing, with a TraceConfig and "output", and of the fields of SetFilter those that are wanted,
 *   and "triggers": [as of fxtrun --trigger, ...]
 *   -> {}. Whoever makes this call owns the session, or with --start=idle the recording: it ends with the
 *   connection, without the program.
 * - GetProviders -> {"providers": [{"id", "pid", "name"}, ...]}, those that run.
 * - GetState -> the session, and the statistics of each provider that runs.
 * - GetKnownCategories -> {"categories": [{"name", "description"}, ...]}
 * - StartTracing, with {"buffer_disposition", "additional_categories"} if wanted -> {}
 * - StopTracing, with {"write_results": true} if wanted -> {"provider_stats"}
 * - WatchAlert -> {"alert_name"}, once there is one.
 * - RaiseAlert, with {"alert_name"} -> {}
 * - SetCategories, with {"categories": [name, ...]} -> as SetFilter
 * - SetFilter, with some of {"min_duration": "10us", "max_calls": number or null, "depth": number or null,
 *   "include", "exclude", "only_under", "not_under": [pattern, ...]}
 *   -> {}, once all processes record by it, or {"late": how many do not yet}; error -32001 if it cannot be
 *   now, or the session keeps no sums of calls that are left out by time and number.
 * - SetTrigger, with {"trigger": as of fxtrun --trigger} or {"remove": number}
 *   -> {"number": of the one that was added}, and as SetFilter
 * - Snapshot, with {"path": absolute} if wanted
 *   -> {"path", "events", "lost", "bytes_unwritten", "overwritten", "bytes"} once it is written; without a
 *   path, as on a signal. What could not be written is lost too, and only its bytes are known.
 * - TerminateTracing -> {"output", "summary", "bytes", "events", "lost", "bytes_unwritten", "overwritten",
 *   "complete", "provider_stats"}, of all providers there were, once the trace is final; the session ends,
 * and with it the program, as fxt_session_terminate() has it. With --start=idle the session is READY then.
 * - AwaitTrace -> the same, once the trace is final, whoever has the session end.
 * - OnSessionStateChange <- {"state"}: a notification to all.
 *
 * Each file calls only those to its left, and the session:
 *
 *     connection <- rpc <- queries, trace_config
 *         <- recording_calls, filter_calls, alert_calls, snapshot_calls <- methods <- control
 *
 * What happens to the session, and lines that come, call upwards through handlers that control.c sets.
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
	bool paused;                     /* no descriptor was to be had for a client */
	struct fxt_connection **clients; /* those that are closed are used again */
	unsigned client_count;
};

/* Listens as `name`, which is kept; the session's epoll then serves the clients, and the session's listener
 * is this one. Only processes of our own user are answered. Returns 0, or -1 and one line in
 * error[error_bytes]; closing is then allowed and needless. */
int fxt_control_open(struct fxt_control_server *server, struct fxt_session *session,
        struct fxt_snapshots *snapshots, const char *name, char *error, size_t error_bytes);

/* Listens again after a client could not be accepted because there were no descriptors left. The main thread
 * calls this several times a second: until it does, new clients wait in the socket's queue. */
void fxt_control_resume(struct fxt_control_server *server);

/* The session is over: removes the socket and closes all connections, but those of clients that ended it and
 * wait for the trace. */
void fxt_control_stop(struct fxt_control_server *server);

/* A recording of a lasting session is a trace: replies to who waited for it. */
void fxt_control_recording_ended(struct fxt_control_server *server, const struct fxt_trace_result *result);

/* The same for all connections, after a reply to who waited; no reply if there is no trace (NULL). */
void fxt_control_close(struct fxt_control_server *server, const struct fxt_trace_result *result);

#endif
