/*
 * Requests of JSON-RPC 2.0 and their replies, either at once or later through a kept
 * request. A request without an id is a notification: replies to it are dropped.
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
	FXT_RPC_NO_ATTACH = -32002, /* our own codes from here on */
	FXT_RPC_NO_FILTER = -32001,
	FXT_RPC_NO_SNAPSHOT = -32000, /* our own; the codes of StartError and StopError are
	                               * too, and are positive */
};

struct fxt_request {
	struct fxt_connection *connection; /* NULL = none */
	json_t *id;                        /* NULL = a notification */
};

/* Makes a JSON string, which must be UTF-8. Names of files and programs may hold any bytes:
 * if `string` is not UTF-8, '?' replaces each byte that is not ASCII. */
json_t *fxt_rpc_text(const char *string);

/* ---- at once; the connection may be closed afterwards ---- */

/* Sends a result, and takes ownership of it. */
void fxt_rpc_reply(const struct fxt_request *request, json_t *result);

/* Sends an error instead: one of the codes above, and the reason. */
void fxt_rpc_refuse(const struct fxt_request *request, int code, const char *reason);

/* Sends an error from the Fuchsia controller's tables, with its name there as "data". */
void fxt_rpc_refuse_by_name(
        const struct fxt_request *request, int code, const char *name, const char *reason);

/* ---- later ---- */

/* Keeps a request beyond the call it came in. The caller must later finish, fail or forget
 * it. Its connection stays open until then, or has it forgotten. */
struct fxt_request fxt_rpc_keep(const struct fxt_request *request);

/* Replies to a kept request, with a result, which is taken over, or with an error (`name`
 * NULL: one of the codes above). *kept is empty afterwards; the calls do nothing on an
 * empty one. */
void fxt_rpc_finish(struct fxt_request *kept, json_t *result);
void fxt_rpc_fail(struct fxt_request *kept, int code, const char *name, const char *reason);

/* Gives a kept request back without a reply. */
void fxt_rpc_forget(struct fxt_request *kept);

#endif
