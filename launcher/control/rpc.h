/*
 * JSON-RPC 2.0 replies to a client of the control socket.
 */
#ifndef FXT_LAUNCHER_CONTROL_RPC_H
#define FXT_LAUNCHER_CONTROL_RPC_H

#include <jansson.h>
#include "control.h"

enum {
	FXT_RPC_PARSE_ERROR = -32700,
	FXT_RPC_INVALID_REQUEST = -32600,
	FXT_RPC_METHOD_NOT_FOUND = -32601,
	FXT_RPC_INVALID_PARAMS = -32602,
	FXT_RPC_NO_SNAPSHOT = -32000, /* ours, as are those of StartError and StopError, which are positive */
};

/* A string for JSON, which holds only UTF-8: names of files and programs may be anything. */
json_t *fxt_rpc_text(const char *string);

/* Sends a result, which is stolen; `id` NULL = a notification, which has no reply. */
void fxt_rpc_reply(struct fxt_client *client, json_t *id, json_t *result);

void fxt_rpc_error(struct fxt_client *client, json_t *id, int code, const char *reason);

/* An error of the controller's tables, with its name there. */
void fxt_rpc_named_error(
        struct fxt_client *client, json_t *id, int code, const char *name, const char *reason);

/* Whether params (NULL = none) has these fields only; if not, says so. `fields` ends with NULL. */
bool fxt_rpc_has_only(struct fxt_client *client, json_t *id, json_t *params, const char *const *fields);

/* ---- replies that come later ---- */

/* Keeps a request, to be answered by one of those below. */
struct fxt_request fxt_rpc_keep(struct fxt_client *client, json_t *id);

/* Replies to a request that was kept, if it is one, and forgets it. */
void fxt_rpc_finish(struct fxt_request *request, json_t *result);

/* The same with an error. */
void fxt_rpc_fail(struct fxt_request *request, int code, const char *name, const char *reason);

/* Forgets a request of that client. */
void fxt_rpc_forget(struct fxt_request *request, const struct fxt_client *client);

#endif
