/*
 * The control socket of a session: JSON-RPC 2.0 over a Unix stream socket (place.h), one object a line both
 * ways, so that fxtctl, or a script with socat, can ask about the session and have snapshots written. Calls
 * and names are those of the Fuchsia trace controller where it has them:
 *
 * - InitializeTracing, with a TraceConfig and "output" -> {}. Whoever makes this call owns the session: it
 *   ends with the connection, without the program.
 * - GetProviders -> {"providers": [{"id", "pid", "name"}, ...]}, those that run.
 * - GetState -> the session, and the statistics of each provider that runs.
 * - GetKnownCategories -> {"categories": [{"name", "description"}, ...]}
 * - StartTracing, with {"buffer_disposition", "additional_categories"} if wanted -> {}
 * - StopTracing, with {"write_results": true} if wanted -> {"provider_stats"}
 * - WatchAlert -> {"alert_name"}, once there is one.
 * - RaiseAlert, with {"alert_name"} -> {}
 * - Snapshot, with {"path": absolute} if wanted -> {"path", "events", "lost", "bytes"} once it is written;
 *   without a path, as on a signal.
 * - TerminateTracing -> {}; the session ends, and with it the program, as fxt_session_terminate() has it.
 * - OnSessionStateChange <- {"state"}: a notification to all.
 *
 * Only processes of our own user are heard. No client can hold up the session or another client: what it
 * sends and is sent lies in bounded buffers, and while it does not take its replies nothing more is read from
 * it.
 */
#ifndef FXT_LAUNCHER_CONTROL_CONTROL_H
#define FXT_LAUNCHER_CONTROL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include "launcher/session/wakeup.h"
#include "launcher/runtime_dir.h"
#include "launcher/session/session.h"
#include "launcher/session/snapshots.h"
#include "launcher/watch.h"

#define FXT_CONTROL_CLIENTS    16
#define FXT_CONTROL_LINE_BYTES 16384
#define FXT_CONTROL_WATCHERS   64 /* requests for alerts that wait */

struct fxt_control_socket;

struct fxt_client {
	struct fxt_watch connection; /* fd -1 = free */
	struct fxt_control_socket *control;
	bool eof;                   /* it sends nothing more */
	struct json_t *snapshot_id; /* of its request for a snapshot, under way; else NULL */
	char line[FXT_CONTROL_LINE_BYTES];
	size_t line_bytes;
	char *output; /* not sent yet; NULL = nothing */
	size_t output_bytes;
};

/* A request that is answered later: client NULL = none. */
struct fxt_request {
	struct fxt_client *client;
	struct json_t *id;
};

struct fxt_control_socket {
	struct fxt_session *session;
	struct fxt_snapshots *snapshots;
	const char *name;
	/* Of a session that waits for its controller: sets it up, without its state. 0, or -1 and one line.
	 */
	int (*initialize)(void *context, const struct fxt_options *options, char *error, size_t error_bytes);
	void *initialize_context;
	struct json_t *config;          /* that it was given */
	struct fxt_client *owner;       /* who gave it; NULL = nobody */
	struct fxt_request start, stop; /* under way */
	struct fxt_alerts alerts;       /* nobody has taken */
	struct fxt_request watchers[FXT_CONTROL_WATCHERS];
	unsigned watcher_count;
	bool paused; /* no more descriptors to be had: listens again at the next beat */
	struct fxt_place place;
	struct fxt_watch listener;
	struct fxt_client clients[FXT_CONTROL_CLIENTS];
};

/* Listens; the session's epoll then serves it. `name`, of the session, is kept. Returns 0, or -1 and one line
 * in error[error_bytes]; closing is then allowed and needless. */
int fxt_control_open(struct fxt_control_socket *control, struct fxt_session *session,
        struct fxt_snapshots *snapshots, const char *name, char *error, size_t error_bytes);

/* Some times a second. */
void fxt_control_beat(struct fxt_control_socket *control);

/* Sends what can be sent at once, ends all connections, and removes the socket. */
void fxt_control_close(struct fxt_control_socket *control);

/* For the calls: sends a line, its newline added. One who takes no replies at all is disconnected. */
void fxt_client_send(struct fxt_client *client, const char *line);

/* Ends a connection. */
void fxt_client_end(struct fxt_client *client);

#endif
