/*
 * Finds sessions, connects to one, and makes calls. fxtctl has one thread. Every wait has a
 * time limit unless the caller passes FXT_CLIENT_FOREVER, and every error ends the process.
 */
#include "client.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "reader/trace/text.h"

void fxt_client_fail(int status, const char *format, ...)
{
	char line[2 * PATH_MAX + 512]; /* two paths and a sentence */
	va_list arguments;

	fflush(stdout);
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	fputs("fxtctl: ", stderr);
	fxt_write_text(stderr, fxt_span(line));
	fputc('\n', stderr);
	exit(status);
}

/* Ends the process, unless other sessions must be queried too. */
static void client_does_not_answer(const struct fxt_client *client)
{
	if (!client->is_one_of_many)
		fxt_client_fail(1, "session %s does not answer", client->session);
	fprintf(stderr, "fxtctl: session %s does not answer\n", client->session);
}

/* ---- sessions ---- */

static const struct fxt_runtime_dir *client_dir(void)
{
	static struct fxt_runtime_dir dir;

	if (!dir.path[0])
		fxt_runtime_dir_find(&dir);
	return &dir;
}

static bool client_try(struct fxt_client *client, const char *name)
{
	int fd;

	if (!fxt_session_name_is_valid(name) || fxt_runtime_dir_connect(client_dir(), name, &fd) != 0)
		return false;
	snprintf(client->session, sizeof(client->session), "%s", name);
	client->stream = fdopen(fd, "r");
	if (!client->stream)
		fxt_client_fail(1, "%s", strerror(errno));
	return true;
}

void fxt_client_each(void (*found)(struct fxt_client *client))
{
	const char *path = client_dir()->path;
	int error = fxt_runtime_dir_check(client_dir());
	struct fxt_client client = {.is_one_of_many = true};
	DIR *directory = error ? NULL : opendir(path);
	struct dirent *entry;

	if (!error && !directory)
		error = errno;
	if (error == ENOENT) /* no session was started yet */
		return;
	if (error)
		fxt_client_fail(1, "%s: %s", path, fxt_runtime_dir_error(error));
	while ((entry = readdir(directory))) {
		if (!client_try(&client, entry->d_name))
			continue;
		found(&client);
		fclose(client.stream);
	}
	closedir(directory);
}

/* The session that client_match() searches for among all sessions, and the result. */
static struct {
	long pid; /* 0 = any */
	unsigned count;
	char name[FXT_SESSION_NAME_BYTES];
} wanted;

static void client_match(struct fxt_client *client)
{
	json_t *state =
	        wanted.pid ? fxt_client_call(client, "GetState", json_object(), FXT_CLIENT_SOON) : NULL;

	if (!wanted.pid || json_integer_value(json_object_get(state, "pid")) == wanted.pid ||
	        json_integer_value(json_object_get(state, "program_pid")) == wanted.pid) {
		wanted.count++;
		snprintf(wanted.name, sizeof(wanted.name), "%s", client->session);
	}
	json_decref(state);
}

void fxt_client_connect(struct fxt_client *client, const char *name)
{
	char *end = NULL;

	if (name && !fxt_session_name_is_valid(name))
		fxt_client_fail(2, "--session=%s: no session has such a name", name);
	if (name && client_try(client, name))
		return;
	wanted.pid = name ? strtol(name, &end, 10) : 0;
	if (!name || (*end == 0 && wanted.pid > 0))
		fxt_client_each(client_match);
	if (name && wanted.count == 0)
		fxt_client_fail(1, "no session named %s runs; fxtctl list shows those that do", name);
	if (wanted.count == 0)
		fxt_client_fail(1, "no session runs; fxtrun begins one");
	if (wanted.count > 1)
		fxt_client_fail(1, "%u sessions run; choose one with --session, fxtctl list shows them",
		        wanted.count);
	if (!client_try(client, wanted.name))
		fxt_client_fail(1, "session %s has ended", wanted.name);
}

/* ---- calls ---- */

/* Sends the text with a newline. If the session has hung up or takes nothing, this shows
 * when no reply comes. */
static void client_send_line(struct fxt_client *client, char *text)
{
	size_t bytes = strlen(text) + 1, sent = 0;

	text[bytes - 1] = '\n';
	while (sent < bytes) {
		ssize_t result = send(fileno(client->stream), text + sent, bytes - sent, MSG_NOSIGNAL);

		if (result < 0)
			return;
		sent += (size_t)result;
	}
}

void fxt_client_send_request(struct fxt_client *client, const char *method, json_t *params)
{
	json_t *request = json_pack(
	        "{s:s, s:i, s:s, s:o}", "jsonrpc", "2.0", "id", 1, "method", method, "params", params);
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;

	if (!text)
		fxt_client_fail(1, "an argument is not UTF-8");
	client_send_line(client, text);
	free(text);
	json_decref(request);
}

json_t *fxt_client_next(struct fxt_client *client, unsigned timeout_seconds)
{
	struct timeval timeout = {.tv_sec = timeout_seconds};
	json_t *object;

	setsockopt(fileno(client->stream), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	errno = 0;
	object = json_loadf(client->stream, JSON_DISABLE_EOF_CHECK, NULL);
	if (!object && (errno == EAGAIN || errno == EWOULDBLOCK))
		client_does_not_answer(client);
	return object;
}

void fxt_client_check(const struct fxt_client *client, const json_t *reply)
{
	const json_t *error = json_object_get(reply, "error");

	if (error)
		fxt_client_fail(1, "session %s: %s", client->session,
		        json_string_value(json_object_get(error, "message")));
}

json_t *fxt_client_call(
        struct fxt_client *client, const char *method, json_t *params, unsigned timeout_seconds)
{
	json_t *reply = NULL, *result;

	fxt_client_send_request(client, method, params);
	do { /* notifications may come before the reply */
		json_decref(reply);
		reply = fxt_client_next(client, timeout_seconds);
	} while (reply && !json_object_get(reply, "id"));
	fxt_client_check(client, reply);
	result = json_incref(json_object_get(reply, "result"));
	json_decref(reply);
	return result;
}
