#include "client.h"
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "launcher/runtime_dir.h"

_Static_assert(sizeof(((struct fxt_client_session *)0)->name) == FXT_SESSION_NAME_BYTES, "");

void fxt_client_fail(int status, const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fputs("fxtctl: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(status);
}

/* Where it is one of many, the others are asked all the same. */
static void does_not_answer(const struct fxt_client_session *session)
{
	if (!session->is_one_of_many)
		fxt_client_fail(1, "session %s does not answer", session->name);
	fprintf(stderr, "fxtctl: session %s does not answer\n", session->name);
}

static const struct fxt_place *place(void)
{
	static struct fxt_place place;

	if (!place.directory[0])
		fxt_place_find(&place);
	return &place;
}

/* ---- sessions ---- */

static bool try_connect(struct fxt_client_session *session, const char *name)
{
	int connection = fxt_session_name_is_valid(name) ? fxt_place_connect(place(), name) : -1;

	if (connection < 0)
		return false;
	snprintf(session->name, sizeof(session->name), "%s", name);
	session->stream = fdopen(connection, "r");
	if (!session->stream)
		fxt_client_fail(1, "%s", strerror(errno));
	return true;
}

void fxt_client_each(void (*found)(struct fxt_client_session *session))
{
	DIR *directory = fxt_place_is_safe(place()) ? opendir(place()->directory) : NULL;
	struct fxt_client_session session = {.is_one_of_many = true};
	struct dirent *entry;

	if (!directory && errno != ENOENT)
		fxt_client_fail(1, "%s: %s", place()->directory, strerror(errno));
	while (directory && (entry = readdir(directory))) {
		if (!try_connect(&session, entry->d_name))
			continue;
		found(&session);
		fclose(session.stream);
	}
	if (directory)
		closedir(directory);
}

/* What a look through all sessions is for, and what it found. */
static struct {
	long pid; /* 0 = any */
	unsigned count;
	char name[FXT_SESSION_NAME_BYTES];
} wanted;

static void look_at(struct fxt_client_session *session)
{
	json_t *state =
	        wanted.pid ? fxt_client_call(session, "GetState", json_object(), FXT_CLIENT_SOON) : NULL;

	if (!wanted.pid || json_integer_value(json_object_get(state, "pid")) == wanted.pid ||
	        json_integer_value(json_object_get(state, "program_pid")) == wanted.pid) {
		wanted.count++;
		snprintf(wanted.name, sizeof(wanted.name), "%s", session->name);
	}
	json_decref(state);
}

void fxt_client_connect(struct fxt_client_session *session, const char *name)
{
	char *end = NULL;

	if (name && !fxt_session_name_is_valid(name))
		fxt_client_fail(2, "--session=%s: no session has such a name", name);
	if (name && try_connect(session, name))
		return;
	wanted.pid = name ? strtol(name, &end, 10) : 0;
	if (!name || (*end == 0 && wanted.pid > 0))
		fxt_client_each(look_at);
	if (name && wanted.count == 0)
		fxt_client_fail(1, "no session named %s runs; fxtctl list shows those that do", name);
	if (wanted.count == 0)
		fxt_client_fail(1, "no session runs; fxtrun begins one");
	if (wanted.count > 1)
		fxt_client_fail(1, "%u sessions run; choose one with --session, fxtctl list shows them",
		        wanted.count);
	if (!try_connect(session, wanted.name))
		fxt_client_fail(1, "session %s has ended", wanted.name);
}

/* ---- calls ---- */

/* One who hangs up, or takes nothing, is found out when the reply does not come. */
static void send_line(struct fxt_client_session *session, char *text)
{
	size_t bytes = strlen(text) + 1, sent = 0;

	text[bytes - 1] = '\n';
	while (sent < bytes) {
		ssize_t result = send(fileno(session->stream), text + sent, bytes - sent, MSG_NOSIGNAL);

		if (result < 0)
			return;
		sent += (size_t)result;
	}
}

void fxt_client_send_request(struct fxt_client_session *session, const char *method, json_t *params)
{
	json_t *request = json_pack(
	        "{s:s, s:i, s:s, s:o}", "jsonrpc", "2.0", "id", 1, "method", method, "params", params);
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;

	if (!text)
		fxt_client_fail(1, "an argument is not UTF-8");
	send_line(session, text);
	free(text);
	json_decref(request);
}

json_t *fxt_client_next(struct fxt_client_session *session, unsigned patience_seconds)
{
	struct timeval patience = {.tv_sec = patience_seconds};
	json_t *object;

	setsockopt(fileno(session->stream), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	errno = 0;
	object = json_loadf(session->stream, JSON_DISABLE_EOF_CHECK, NULL);
	if (!object && (errno == EAGAIN || errno == EWOULDBLOCK))
		does_not_answer(session);
	return object;
}

void fxt_client_check(const struct fxt_client_session *session, const json_t *reply)
{
	const json_t *error = json_object_get(reply, "error");

	if (error)
		fxt_client_fail(1, "session %s: %s", session->name,
		        json_string_value(json_object_get(error, "message")));
}

json_t *fxt_client_call(
        struct fxt_client_session *session, const char *method, json_t *params, unsigned patience_seconds)
{
	json_t *reply = NULL, *result;

	fxt_client_send_request(session, method, params);
	do { /* notifications may come before */
		json_decref(reply);
		reply = fxt_client_next(session, patience_seconds);
	} while (reply && !json_object_get(reply, "id"));
	fxt_client_check(session, reply);
	result = json_incref(json_object_get(reply, "result"));
	json_decref(reply);
	return result;
}
