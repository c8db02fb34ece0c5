#include "rpc.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

json_t *fxt_rpc_text(const char *string)
{
	char copy[PATH_MAX + 256];
	json_t *json = json_string(string);

	if (json)
		return json;
	snprintf(copy, sizeof(copy), "%s", string);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	return json_string(copy);
}

/* Sends a reply to a request and takes ownership of `value`: {"jsonrpc", "id", `key`:
 * value}. */
static void rpc_send(const struct fxt_request *request, const char *key, json_t *value)
{
	json_t *message;
	char *line;

	if (!request->id) {
		json_decref(value);
		return;
	}
	message = json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", request->id, key, value);
	line = json_dumps(message, JSON_COMPACT);
	if (line)
		fxt_connection_send(request->connection, line);
	free(line);
	json_decref(message);
}

void fxt_rpc_reply(const struct fxt_request *request, json_t *result)
{
	rpc_send(request, "result", result);
}

void fxt_rpc_refuse(const struct fxt_request *request, int code, const char *reason)
{
	fxt_rpc_refuse_by_name(request, code, NULL, reason);
}

void fxt_rpc_refuse_by_name(const struct fxt_request *request, int code, const char *name, const char *reason)
{
	rpc_send(request, "error",
	        json_pack("{s:i, s:o, s:s*}", "code", code, "message", fxt_rpc_text(reason), "data", name));
}

struct fxt_request fxt_rpc_keep(const struct fxt_request *request)
{
	fxt_connection_owe(request->connection);
	return (struct fxt_request){request->connection, json_incref(request->id)};
}

/* A reply may close the connection, which then has its requests forgotten: *kept must be
 * empty before that. */
static struct fxt_request rpc_take(struct fxt_request *kept)
{
	struct fxt_request taken = *kept;

	*kept = (struct fxt_request){0};
	return taken;
}

static void rpc_settle(struct fxt_request *taken)
{
	json_decref(taken->id);
	fxt_connection_settle(taken->connection);
}

void fxt_rpc_finish(struct fxt_request *kept, json_t *result)
{
	struct fxt_request taken = rpc_take(kept);

	if (!taken.connection) {
		json_decref(result);
		return;
	}
	fxt_rpc_reply(&taken, result);
	rpc_settle(&taken);
}

void fxt_rpc_fail(struct fxt_request *kept, int code, const char *name, const char *reason)
{
	struct fxt_request taken = rpc_take(kept);

	if (!taken.connection)
		return;
	fxt_rpc_refuse_by_name(&taken, code, name, reason);
	rpc_settle(&taken);
}

void fxt_rpc_forget(struct fxt_request *kept)
{
	struct fxt_request taken = rpc_take(kept);

	if (taken.connection)
		rpc_settle(&taken);
}
