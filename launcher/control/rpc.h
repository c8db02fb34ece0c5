/*
 * Requests of JSON-RPC 2.0, and the replies to them: at once, or later by a request that was kept. A request
 * without an id is a notification; whatever is replied to it, nothing is sent.
 */
#ifndef FXT_LAUNCHER_CONTROL_RPC_H
#define FXT_LAUNCHER_CONTROL_RPC_H

#include <jansson.h>
#include "connection.h"

enum {
	FXT_RPC_PARSE_ERROR = -32700,
	FXT_RPC_INVALID_REQUEST = -32600,
	FXT_RPC_METHOD_NOT_FOUND = -32601,
	FXT_RPC_INVALID_PARAMS = -32602,
	FXT_RPC_NO_FILTER = -32001,   /* ours, as the next */
	FXT_RPC_NO_SNAPSHOT = -32000, /* ours; so are those of StartError and StopError, which are positive */
};

struct fxt_request {
	struct fxt_connection *connection; /* NULL = none */
	json_t *id;                        /* NULL = a notification */
};

/* A string for JSON, which holds only UTF-8. Names of files and programs may be anything: where one is no
 * UTF-8, '?' stands for each byte that is not ASCII. */
json_t *fxt_rpc_text(const char *string);

/* ---- at once; the connection may be closed afterwards ---- */

/* Sends a result, which is stolen. */
void fxt_rpc_reply(const struct fxt_request *request, json_t *result);

/* Sends an error instead: one of those above, and what is wrong. */
void fxt_rpc_refuse(const struct fxt_request *request, int code, const char *reason);

/* Sends an error of the Fuchsia controller's tables, with its name there as "data". */
void fxt_rpc_refuse_by_name(
        const struct fxt_request *request, int code, const char *name, const char *reason);

/* ---- later ---- */

/* A request that outlives the call it came in. Whoever keeps it must finish, fail or forget it; its
 * connection stays open until then, or has it forgotten. */
struct fxt_request fxt_rpc_keep(const struct fxt_request *request);

/* Replies to a kept request, with a result, which is stolen, or an error (`name` NULL: of those above). *kept
 * is none afterwards, and may be none before. */
void fxt_rpc_finish(struct fxt_request *kept, json_t *result);
void fxt_rpc_fail(struct fxt_request *kept, int code, const char *name, const char *reason);

/* Gives a kept request back without a reply. */
void fxt_rpc_forget(struct fxt_request *kept);

#endif
