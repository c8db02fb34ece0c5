/*
 * fxtctl: asks a running session of fxtrun what it does, has it write a snapshot, or ends it, over its
 * control socket (control.h).
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "place.h"

static const char help[] =
        "Usage: fxtctl [--session=NAME] [--json] COMMAND\n"
        "Controls a session of fxtrun that runs.\n\n"
        "  list                the sessions that run\n"
        "  status              what a session does\n"
        "  providers           the processes it traces\n"
        "  snapshot [-o FILE]  has it write what its buffers hold (--buffering-mode=circular)\n"
        "  terminate           ends its program by SIGTERM, and so the session\n\n"
        "      --session=NAME  the session [the only one that runs]\n"
        "      --json          show replies as they come, for programs\n"
        "      --help          show this and exit\n"
        "      --version       show the version and exit\n\n"
        "The exit status is 0, or 1: it failed, or 2: wrong usage.\n";

static struct fxt_place place;
static const char *session; /* NULL = the only one */
static bool as_json;

static void fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

static void fail(int status, const char *format, ...)
{
	va_list arguments;

	fputs("fxtctl: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(status);
}

/* ---- sessions ---- */

/* Calls *found for each session that runs. */
static void each_session(void (*found)(const char *name, int connection))
{
	DIR *directory = fxt_place_is_safe(&place) ? opendir(place.directory) : NULL;
	struct dirent *entry;

	if (!directory && errno != ENOENT)
		fail(1, "%s: %s", place.directory, strerror(errno));
	while (directory && (entry = readdir(directory))) {
		int connection = fxt_session_name_is_valid(entry->d_name)
		                         ? fxt_place_connect(&place, entry->d_name)
		                         : -1;

		if (connection < 0)
			continue;
		found(entry->d_name, connection);
		close(connection);
	}
	if (directory)
		closedir(directory);
}

static char only_name[FXT_SESSION_NAME_BYTES];
static unsigned sessions;

static void take_name(const char *name, int connection)
{
	(void)connection;
	sessions++;
	snprintf(only_name, sizeof(only_name), "%s", name);
}

static int connect_session(void)
{
	int connection;

	if (!session) {
		each_session(take_name);
		if (sessions == 0)
			fail(1, "no session runs; fxtrun begins one");
		if (sessions > 1)
			fail(1, "%u sessions run; choose one with --session, fxtctl list shows them",
			        sessions);
		session = only_name;
	}
	if (!fxt_session_name_is_valid(session))
		fail(2, "--session=%s: no session has such a name", session);
	connection = fxt_place_connect(&place, session);
	if (connection < 0)
		fail(1, "no session named %s runs; fxtctl list shows those that do", session);
	return connection;
}

/* ---- calls ---- */

/* The result of a call; steals `params`. NULL: the session has ended meanwhile. Other errors end fxtctl. */
static json_t *call(int connection, const char *method, json_t *params)
{
	json_t *request = json_pack(
	        "{s:s, s:i, s:s, s:o}", "jsonrpc", "2.0", "id", 1, "method", method, "params", params);
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	FILE *stream = fdopen(dup(connection), "r+");
	json_t *reply = NULL, *result;

	if (!text)
		fail(1, "the file's name is not UTF-8");
	if (stream && fprintf(stream, "%s\n", text) > 0 && fflush(stream) == 0)
		do { /* notifications may come before */
			json_decref(reply);
			reply = json_loadf(stream, JSON_DISABLE_EOF_CHECK, NULL);
		} while (reply && !json_object_get(reply, "id"));
	free(text);
	json_decref(request);
	if (stream)
		fclose(stream);
	if (json_object_get(reply, "error"))
		fail(1, "session %s: %s", session,
		        json_string_value(json_object_get(json_object_get(reply, "error"), "message")));
	result = json_incref(json_object_get(reply, "result"));
	json_decref(reply);
	return result;
}

static json_t *must_call(const char *method, json_t *params)
{
	int connection = connect_session();
	json_t *result = call(connection, method, params);

	close(connection);
	if (!result)
		fail(1, "session %s has ended", session);
	return result;
}

static const char *string_of(const json_t *object, const char *key)
{
	const char *string = json_string_value(json_object_get(object, key));

	return string ? string : "";
}

static int64_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* Steals the object. */
static void print_json(json_t *object)
{
	json_dumpf(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
}

/* ---- commands ---- */

static json_t *listed;

static void list_session(const char *name, int connection)
{
	session = name;
	json_array_append_new(listed, call(connection, "GetState", json_object()));
}

static void list(void)
{
	json_t *state;
	size_t i;

	listed = json_array();
	each_session(list_session);
	if (as_json) {
		print_json(listed);
		return;
	}
	printf("%-16s %8s  %-12s %-10s %s\n", "SESSION", "PID", "STATE", "MODE", "PROGRAM");
	json_array_foreach(listed, i, state) printf("%-16s %8" PRId64 "  %-12s %-10s %s\n",
	        string_of(state, "name"), number_of(state, "pid"), string_of(state, "state"),
	        string_of(state, "buffering_mode"), string_of(state, "program"));
	json_decref(listed);
}

static void status(void)
{
	json_t *state = must_call("GetState", json_object()), *stats;
	size_t i;

	if (as_json) {
		print_json(state);
		return;
	}
	printf("session    %s\nstate      %s\nprogram    %s (process %" PRId64 ")\nmode       %s\n"
	       "output     %s (%" PRId64 " bytes so far)\n\n",
	        string_of(state, "name"), string_of(state, "state"), string_of(state, "program"),
	        number_of(state, "program_pid"), string_of(state, "buffering_mode"),
	        string_of(state, "output"), number_of(state, "output_bytes"));
	printf("%8s  %12s %12s %12s  %s\n", "PID", "WRAPPED", "DROPPED", "DURABLE", "PROVIDER");
	json_array_foreach(json_object_get(state, "provider_stats"), i, stats)
	        printf("%8" PRId64 "  %12" PRId64 " %12" PRId64 " %11.1f%%  %s\n", number_of(stats, "pid"),
	                number_of(stats, "buffer_wrapped_count"), number_of(stats, "records_dropped"),
	                json_number_value(json_object_get(stats, "percentage_durable_buffer_used")),
	                string_of(stats, "name"));
	json_decref(state);
}

static void providers(void)
{
	json_t *result = must_call("GetProviders", json_object()), *provider;
	size_t i;

	if (as_json) {
		print_json(result);
		return;
	}
	printf("%4s %8s  %s\n", "ID", "PID", "NAME");
	json_array_foreach(json_object_get(result, "providers"), i, provider)
	        printf("%4" PRId64 " %8" PRId64 "  %s\n", number_of(provider, "id"),
	                number_of(provider, "pid"), string_of(provider, "name"));
	json_decref(result);
}

/* The session has a working directory of its own. */
static json_t *absolute_path(const char *file)
{
	char directory[PATH_MAX], path[2 * PATH_MAX];

	if (*file == '/')
		return json_string(file);
	if (!getcwd(directory, sizeof(directory)))
		fail(1, "no working directory: %s", strerror(errno));
	snprintf(path, sizeof(path), "%s/%s", directory, file);
	return json_string(path);
}

static void snapshot(const char *file)
{
	json_t *result =
	        must_call("Snapshot", file ? json_pack("{s:o}", "path", absolute_path(file)) : json_object());

	if (as_json) {
		print_json(result);
		return;
	}
	printf("%s: %" PRId64 " events, %" PRId64 " bytes\n", string_of(result, "path"),
	        number_of(result, "events"), number_of(result, "bytes"));
	json_decref(result);
}

static void terminate(void)
{
	json_t *result = must_call("TerminateTracing", json_object());

	if (as_json)
		print_json(result);
	else
		json_decref(result);
}

int main(int argc, char **argv)
{
	static const struct option table[] = {{"session", required_argument, NULL, 's'},
	        {"json", no_argument, NULL, 'j'}, {"output-file", required_argument, NULL, 'o'},
	        {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'v'}, {NULL, 0, NULL, 0}};
	const char *file = NULL, *command;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "o:", table, NULL)) != -1)
		switch (option) {
		case 's':
			session = optarg;
			break;
		case 'j':
			as_json = true;
			break;
		case 'o':
			file = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return 0;
		case 'v':
			puts("fxtctl " FXT_VERSION);
			return 0;
		default:
			fail(2, "%s: no such option, or its value is missing; fxtctl --help lists them all",
			        argv[optind - 1]);
		}
	command = argv[optind];
	if (!command || argv[optind + 1])
		fail(2, "%s; fxtctl --help lists the commands",
		        command ? "more than one command given" : "no command given");
	if (file && strcmp(command, "snapshot") != 0)
		fail(2, "-o is for snapshot only");
	fxt_place_find(&place);
	if (!strcmp(command, "list"))
		list();
	else if (!strcmp(command, "status"))
		status();
	else if (!strcmp(command, "providers"))
		providers();
	else if (!strcmp(command, "snapshot"))
		snapshot(file);
	else if (!strcmp(command, "terminate"))
		terminate();
	else
		fail(2, "%s: no such command; fxtctl --help lists them all", command);
	return fflush(stdout) == 0 ? 0 : 1;
}
