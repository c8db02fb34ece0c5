#include "rpc.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void send_json(struct fxt_client *client, json_t *message)
{
	char *line = json_dumps(message, JSON_COMPACT);

	if (line)
		fxt_client_send(client, line);
	free(line);
	json_decref(message);
}

void fxt_rpc_reply(struct fxt_client *client, json_t *id, json_t *result)
{
	if (id)
		send_json(client, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
	else
		json_decref(result);
}

void fxt_rpc_error(struct fxt_client *client, json_t *id, int code, const char *reason)
{
	fxt_rpc_named_error(client, id, code, NULL, reason);
}

void fxt_rpc_named_error(
        struct fxt_client *client, json_t *id, int code, const char *name, const char *reason)
{
	if (id)
		send_json(client,
		        json_pack("{s:s, s:O, s:{s:i, s:o, s:s*}}", "jsonrpc", "2.0", "id", id, "error",
		                "code", code, "message", fxt_rpc_text(reason), "data", name));
}

bool fxt_rpc_has_only(struct fxt_client *client, json_t *id, json_t *params, const char *const *fields)
{
	char reason[128];
	const char *key;
	json_t *value;

	json_object_foreach(params, key, value)
	{
		const char *const *field = fields;

		while (*field && strcmp(*field, key) != 0)
			field++;
		if (*field)
			continue;
		snprintf(reason, sizeof(reason), "%.64s: no such field", key);
		fxt_rpc_error(client, id, FXT_RPC_INVALID_PARAMS, reason);
		return false;
	}
	return true;
}

struct fxt_request fxt_rpc_keep(struct fxt_client *client, json_t *id)
{
	return (struct fxt_request){client, json_incref(id)};
}

/* Before the reply: with that the client may be gone. */
static struct fxt_request take(struct fxt_request *request)
{
	struct fxt_request taken = *request;

	*request = (struct fxt_request){0};
	return taken;
}

void fxt_rpc_finish(struct fxt_request *request, json_t *result)
{
	struct fxt_request taken = take(request);

	if (taken.client)
		fxt_rpc_reply(taken.client, taken.id, result);
	else
		json_decref(result);
	json_decref(taken.id);
}

void fxt_rpc_fail(struct fxt_request *request, int code, const char *name, const char *reason)
{
	struct fxt_request taken = take(request);

	if (taken.client)
		fxt_rpc_named_error(taken.client, taken.id, code, name, reason);
	json_decref(taken.id);
}

void fxt_rpc_forget(struct fxt_request *request, const struct fxt_client *client)
{
	if (request->client == client)
		json_decref(take(request).id);
}
