/*
 * The control socket's server in every state of a session, without a program: the refusals
 * of each call, the requests that wait and their replies, and clients that go away while
 * they wait. The tables are those of the Fuchsia trace controller. Clients and server are
 * in one thread, so that every step happens when the test has it happen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "launcher/control/control.h"

static struct fxt_options options;
static struct fxt_session session;
static struct fxt_snapshots snapshots;
static struct fxt_control_server server;
static char directory[64], socket_path[96];

static int begin(void **state)
{
	static char *program[] = {"prog", NULL};
	char error[512];

	(void)state;
	options = (struct fxt_options){
	        .output_file = "trace.fxt", .buffering_mode = FXT_CIRCULAR, .program = program};
	strcpy(directory, "/tmp/test-control-XXXXXX");
	if (!mkdtemp(directory) || setenv("XDG_RUNTIME_DIR", directory, 1) != 0)
		return -1;
	snprintf(socket_path, sizeof(socket_path), "%s/fxt/name", directory);
	if (fxt_session_open(&session, &options, FXT_CLOCK_MONOTONIC, (struct fxt_clock_pair){0}) != 0)
		return -1;
	fxt_snapshots_open(&snapshots, &session, "trace.fxt");
	return fxt_control_open(&server, &session, &snapshots, "name", error, sizeof(error));
}

static int end(void **state)
{
	(void)state;
	fxt_control_close(&server, NULL);
	json_decref(server.controller.config);
	session.listener.state_changed = NULL;
	fxt_session_close(&session);
	return access(socket_path, F_OK) == 0 || rmdir(directory) != 0;
}

/* Handles all that is ready. */
static void serve(void)
{
	struct pollfd ready = {session.epoll, POLLIN, 0};

	while (poll(&ready, 1, 0) == 1)
		fxt_watch_wait(session.epoll, 0);
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int new_client(void)
{
	int fd = connect_to(socket_path);

	serve();
	return fd;
}

static void leave(int client)
{
	close(client);
	serve();
}

/* Sends a request with id 1, or with the id given; `params` NULL = none. */
static void ask_as(int client, int id, const char *method, const char *params)
{
	char line[512];
	int bytes = snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"%s%s}\n",
	        id, method, params ? ",\"params\":" : "", params ? params : "");

	assert_int_equal(send(client, line, (size_t)bytes, MSG_NOSIGNAL), bytes);
	serve();
}

static void ask(int client, const char *method, const char *params)
{
	ask_as(client, 1, method, params);
}

/* Returns what the client has received since: "READY " for a state, "1:ok " or "1:-32602 "
 * for replies, and "end" if the connection was closed. */
static const char *heard(int client)
{
	static char words[2048];
	char text[65536], *line = text;
	ssize_t bytes = recv(client, text, sizeof(text) - 1, MSG_DONTWAIT);
	size_t used = 0;

	words[0] = 0;
	text[bytes > 0 ? bytes : 0] = 0;
	for (char *newline; (newline = strchr(line, '\n')); line = newline + 1) {
		json_t *object = json_loadb(line, (size_t)(newline - line), 0, NULL);
		json_t *id = json_object_get(object, "id"), *error = json_object_get(object, "error");

		assert_non_null(object);
		if (!id)
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s ",
			        json_string_value(
			                json_object_get(json_object_get(object, "params"), "state")));
		else if (error)
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%d:%d ",
			        (int)json_integer_value(id),
			        (int)json_integer_value(json_object_get(error, "code")));
		else
			used += (size_t)snprintf(
			        words + used, sizeof(words) - used, "%d:ok ", (int)json_integer_value(id));
		json_decref(object);
	}
	if (bytes == 0 || (bytes > 0 && recv(client, text, 1, MSG_DONTWAIT) == 0))
		strcpy(words + used, "end");
	return words;
}

/* A request that waits, as if it had been made by that client earlier. */
static struct fxt_request keep(unsigned index, int id)
{
	json_t *json = json_integer(id);
	struct fxt_request kept = fxt_rpc_keep(&(struct fxt_request){server.clients[index], json});

	json_decref(json);
	return kept;
}

/* Sets the session's state and notifies its listener. */
static void enter(enum fxt_session_state state)
{
	session.recording.state = state;
	session.listener.state_changed(session.listener.context);
}

static int initialize(void *context, const struct fxt_options *wanted, const json_t *config, char *error,
        size_t error_bytes)
{
	(void)config;
	assert_ptr_equal(context, &session);
	if (!strcmp(wanted->output_file, "/refused")) {
		snprintf(error, error_bytes, "no");
		return -1;
	}
	return 0;
}

static void wait_for_a_controller(void)
{
	server.controller.initialize = initialize;
	server.controller.initialize_context = &session;
}

/* ---- calls in each state ---- */

static void call_in_state(enum fxt_session_state state, const char *method, const char *expected)
{
	int client;

	assert_int_equal(begin(NULL), 0);
	wait_for_a_controller();
	session.recording.state = state;
	client = new_client();
	pthread_mutex_lock(&session.archive->lock); /* a snapshot waits, then, instead of being written */
	ask(client, method, NULL);
	assert_string_equal(heard(client), expected);
	leave(client);
	snapshots.count = 0;
	pthread_mutex_unlock(&session.archive->lock);
	assert_int_equal(end(NULL), 0);
}

static void every_call_in_every_state(void **unused)
{
#define STARTS     "STARTING STARTED 1:ok "
#define STOPS      "STOPPING STOPPED 1:ok "
#define TERMINATES "TERMINATING "
	static const struct {
		enum fxt_session_state state;
		const char *initialize, *start, *stop, *terminate, *snapshot;
	} table[] = {
	        {FXT_SESSION_READY, "INITIALIZED 1:ok ", "1:1 ", "1:1 ", "1:-32600 ", "1:-32000 "},
	        {FXT_SESSION_INITIALIZED, "1:-32602 end", STARTS, STOPS, TERMINATES, ""},
	        {FXT_SESSION_STARTING, "1:-32602 end", "1:2 ", STOPS, TERMINATES, ""},
	        {FXT_SESSION_STARTED, "1:-32602 end", "1:2 ", STOPS, TERMINATES, ""},
	        {FXT_SESSION_STOPPING, "1:-32602 end", "1:3 ", "1:2 ", TERMINATES, ""},
	        {FXT_SESSION_STOPPED, "1:-32602 end", STARTS, "1:2 ", TERMINATES, ""},
	        {FXT_SESSION_TERMINATING, "1:-32602 end", "1:4 ", "1:2 ", "", ""},
	};

	(void)unused;
	for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) {
		call_in_state(table[i].state, "InitializeTracing", table[i].initialize);
		call_in_state(table[i].state, "StartTracing", table[i].start);
		call_in_state(table[i].state, "StopTracing", table[i].stop);
		call_in_state(table[i].state, "TerminateTracing", table[i].terminate);
		call_in_state(table[i].state, "Snapshot", table[i].snapshot);
		call_in_state(table[i].state, "GetState", "1:ok ");
		call_in_state(table[i].state, "GetProviders", "1:ok ");
		call_in_state(table[i].state, "GetKnownCategories", "1:ok ");
		call_in_state(table[i].state, "RaiseAlert", "1:-32602 ");
		call_in_state(table[i].state, "WatchAlert", "");
	}
}

static void wrong_params(void **state)
{
	static const struct {
		const char *method, *params;
	} wrong[] = {
	        {"GetState", "[]"},
	        {"StartTracing", "{\"buffer_disposition\":\"ALL\"}"},
	        {"StartTracing", "{\"buffer_disposition\":1}"},
	        {"StartTracing", "{\"additional_categories\":\"a\"}"},
	        {"StartTracing", "{\"additional_categories\":[\"\"]}"},
	        {"StartTracing", "{\"write_results\":true}"},
	        {"StopTracing", "{\"write_results\":1}"},
	        {"StopTracing", "{\"colour\":1}"},
	        {"WatchAlert", "{\"alert_name\":\"x\"}"},
	        {"RaiseAlert", "{\"alert_name\":\"\"}"},
	        {"RaiseAlert", "{\"alert_name\":\"fifteen bytes..\"}"},
	        {"RaiseAlert", "{\"alert_name\":\"x\",\"colour\":1}"},
	        {"Snapshot", "{\"path\":\"relative\"}"},
	};
	int client = new_client();

	(void)state;
	session.recording.state = FXT_SESSION_STARTED;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ask(client, wrong[i].method, wrong[i].params);
		assert_string_equal(heard(client), "1:-32602 ");
	}
	assert_int_equal(session.recording.state, FXT_SESSION_STARTED);
	leave(client);
}

/* The protocol discards categories past the limit, and does not refuse the start. */
static void categories_without_room(void **state)
{
	int client = new_client();

	(void)state;
	memset(session.config.session_categories.names, 'x', FXT_CATEGORIES_BYTES);
	session.config.session_categories.bytes = FXT_CATEGORIES_BYTES - 3;
	session.recording.state = FXT_SESSION_INITIALIZED;
	session.config.categories = session.config.session_categories;
	ask(client, "StartTracing", "{\"additional_categories\":[\"abc\",\"d\",\"ef\"]}");
	assert_string_equal(heard(client), "STARTING STARTED 1:ok ");
	assert_int_equal(session.config.categories.bytes, FXT_CATEGORIES_BYTES - 1);
	assert_string_equal(session.config.categories.names + FXT_CATEGORIES_BYTES - 3, "d");
	session.config.session_categories.bytes = session.config.categories.bytes = 0;
	leave(client);
}

/* ---- requests that wait ---- */

static void what_a_start_waits_for(void **state)
{
	static const struct {
		enum fxt_session_state next;
		const char *told;
	} table[] = {
	        {FXT_SESSION_STARTED, "STARTED 5:ok "},
	        {FXT_SESSION_STOPPING, "STOPPING 5:3 "},
	        {FXT_SESSION_TERMINATING, "TERMINATING 5:4 "},
	};
	int client = new_client();

	(void)state;
	for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) {
		server.controller.start = keep(0, 5);
		enter(FXT_SESSION_STARTING);
		assert_string_equal(heard(client), "STARTING ");
		enter(table[i].next);
		assert_string_equal(heard(client), table[i].told);
		assert_null(server.controller.start.connection);
	}
	leave(client);
}

static void what_a_stop_waits_for(void **state)
{
	static const struct {
		enum fxt_session_state next;
		bool results;
		int archive_error;
		const char *told;
	} table[] = {
	        {FXT_SESSION_STOPPED, false, 0, "STOPPED 6:ok "},
	        {FXT_SESSION_STOPPED, true, 0, "STOPPED 6:ok "},
	        {FXT_SESSION_STOPPED, false, 28, "STOPPED 6:ok "},
	        {FXT_SESSION_STOPPED, true, 28, "STOPPED 6:3 "},
	        {FXT_SESSION_TERMINATING, false, 0, "TERMINATING 6:ok "},
	        {FXT_SESSION_TERMINATING, true, 28, "TERMINATING 6:3 "},
	};
	int client = new_client();

	(void)state;
	for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) {
		server.controller.stop = keep(0, 6);
		enter(FXT_SESSION_STOPPING);
		assert_string_equal(heard(client), "STOPPING ");
		session.recording.results_written = table[i].results;
		session.archive->error = table[i].archive_error;
		enter(table[i].next);
		assert_string_equal(heard(client), table[i].told);
		assert_null(server.controller.stop.connection);
	}
	leave(client);
}

/* A client in the place of one that went away gets no replies to that one's requests. */
static void waits_and_goes_away(void **state)
{
	int client = new_client(), other;

	(void)state;
	session.recording.state = FXT_SESSION_STARTED;
	server.controller.start = keep(0, 5);
	server.controller.stop = keep(0, 6);
	ask_as(client, 7, "WatchAlert", NULL);
	ask_as(client, 8, "WatchAlert", NULL);
	pthread_mutex_lock(&session.archive->lock);
	ask_as(client, 9, "Snapshot", NULL);
	assert_string_equal(heard(client), "");
	leave(client);
	assert_int_equal(server.clients[0]->socket.fd, -1);
	assert_int_equal(snapshots.count, 1);    /* it is written all the same */
	assert_null(snapshots.requests[0].done); /* and not reported */
	other = new_client();
	assert_true(server.clients[0]->socket.fd >= 0);
	enter(FXT_SESSION_STARTED);
	enter(FXT_SESSION_STOPPED);
	ask_as(other, 3, "RaiseAlert", "{\"alert_name\":\"a\"}");
	fxt_snapshots_close(&snapshots);
	pthread_mutex_unlock(&session.archive->lock);
	assert_string_equal(heard(other), "STARTED STOPPED 3:ok ");
	ask_as(other, 4, "WatchAlert", NULL); /* that alert was not taken yet */
	assert_string_equal(heard(other), "4:ok ");
	leave(other);
}

static void alerts_and_watchers(void **state)
{
	int first = new_client(), second = new_client();

	(void)state;
	ask_as(first, 1, "WatchAlert", NULL);
	ask_as(second, 2, "WatchAlert", NULL);
	ask_as(first, 3, "WatchAlert", NULL);
	ask_as(second, 4, "RaiseAlert", "{\"alert_name\":\"a\"}");
	assert_string_equal(heard(first), "1:ok ");
	assert_string_equal(heard(second), "4:ok ");
	ask_as(first, 5, "RaiseAlert", "{\"alert_name\":\"b\"}");
	assert_string_equal(heard(second), "2:ok ");
	leave(first); /* and with it the third watcher */
	ask_as(second, 6, "RaiseAlert", "{\"alert_name\":\"c\"}");
	assert_string_equal(heard(second), "6:ok ");
	for (int i = 0; i < FXT_CONTROLLER_WATCHERS + 1; i++)
		ask_as(second, 100, "WatchAlert", NULL); /* the first gets c */
	assert_string_equal(heard(second), "100:ok ");
	ask_as(second, 101, "WatchAlert", NULL);
	assert_string_equal(heard(second), "101:-32600 ");
	leave(second);
	assert_int_equal(server.controller.watcher_count, 0);
}

/* Triggers that calls raise while no client waits push no other alert out. */
static void alerts_amid_triggers(void **state)
{
	int client = new_client();

	(void)state;
	assert_null(fxt_trigger_read(&session.config.triggers[0], "serve>1ms:stop/1h"));
	ask_as(client, 1, "RaiseAlert", "{\"alert_name\":\"own\"}");
	for (unsigned i = 0; i < FXT_ALERTS_KEPT; i++)
		session.listener.triggered(session.listener.context, 0, 1);
	for (int i = 2; i < 5; i++)
		ask_as(client, i, "WatchAlert", NULL);
	assert_string_equal(heard(client), "1:ok 2:ok 3:ok ");
	leave(client);
	session.config.triggers[0] = (struct fxt_trigger){0};
}

static void one_snapshot_a_client(void **state)
{
	int first = new_client(), second = new_client();

	(void)state;
	session.recording.state = FXT_SESSION_STARTED;
	pthread_mutex_lock(&session.archive->lock);
	ask_as(first, 1, "Snapshot", NULL);
	ask_as(first, 2, "Snapshot", NULL);
	assert_string_equal(heard(first), "2:-32000 ");
	ask_as(second, 3, "Snapshot", "{\"path\":\"/x\"}");
	assert_int_equal(snapshots.count, 2);
	fxt_snapshots_close(&snapshots); /* both fail: the program has ended */
	pthread_mutex_unlock(&session.archive->lock);
	assert_string_equal(heard(first), "1:-32000 ");
	assert_string_equal(heard(second), "3:-32000 ");
	leave(first);
	leave(second);
}

/* ---- the owner ---- */

static void owner_goes_away(void **state)
{
	int owner = new_client(), other = new_client();

	(void)state;
	wait_for_a_controller();
	ask(other, "InitializeTracing", "{\"output\":\"/refused\"}");
	assert_string_equal(heard(other), "1:-32602 end");
	leave(other);
	other = new_client();
	ask(owner, "InitializeTracing", "{\"output\":\"/x\"}");
	assert_string_equal(heard(owner), "INITIALIZED 1:ok ");
	leave(other);
	assert_int_equal(session.recording.terminate_ns, 0);
	other = new_client();
	leave(owner);
	assert_string_equal(heard(other), "TERMINATING ");
	assert_int_not_equal(session.recording.terminate_ns, 0);
	leave(other);
}

/* ---- the socket ---- */

static void many_clients(void **state)
{
	enum { CLIENTS = 100 };
	int clients[CLIENTS];

	(void)state;
	for (unsigned i = 0; i < CLIENTS; i++)
		clients[i] = new_client();
	leave(clients[3]);
	clients[3] = new_client();
	for (unsigned i = 0; i < CLIENTS; i++) {
		ask(clients[i], "GetState", NULL);
		assert_string_equal(heard(clients[i]), "1:ok ");
		leave(clients[i]);
	}
}

static void no_descriptor_for_a_client(void **state)
{
	struct rlimit before, none;
	int client = connect_to(socket_path);

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	fxt_watch_wait(session.epoll, 0);
	fxt_control_resume(&server);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_false(server.paused);
	setrlimit(RLIMIT_NOFILE, &none);
	fxt_watch_wait(session.epoll, 0);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_true(server.paused);
	serve(); /* returns: the listener is not waited for */
	assert_true(server.client_count == 0 || server.clients[0]->socket.fd < 0);
	fxt_control_resume(&server);
	serve();
	ask(client, "GetState", NULL);
	assert_string_equal(heard(client), "1:ok ");
	leave(client);
}

static void names(void **state)
{
	static struct fxt_control_server other;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char error[512], dir[80];
	int fd;

	(void)state;
	assert_int_equal(fxt_control_open(&other, &session, &snapshots, "name", error, sizeof(error)), -1);
	assert_string_equal(error, "a session named name runs already; choose another name with --session");
	/* A killed session leaves a socket without a listener. */
	snprintf(address.sun_path, sizeof(address.sun_path), "%.60s/fxt/killed", directory);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	assert_int_equal(fxt_control_open(&other, &session, &snapshots, "killed", error, sizeof(error)), 0);
	fxt_control_close(&other, NULL);
	assert_int_equal(access(address.sun_path, F_OK), -1);
	snprintf(dir, sizeof(dir), "%s/fxt", directory);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(fxt_control_open(&other, &session, &snapshots, "open", error, sizeof(error)), -1);
	assert_non_null(strstr(error, "XDG_RUNTIME_DIR"));
	assert_int_equal(chmod(dir, 0700), 0);
	fxt_control_close(&other, NULL); /* needless, and allowed */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_call_in_every_state),
	        TEST(wrong_params),
	        TEST(categories_without_room),
	        TEST(what_a_start_waits_for),
	        TEST(what_a_stop_waits_for),
	        TEST(waits_and_goes_away),
	        TEST(alerts_and_watchers),
	        TEST(alerts_amid_triggers),
	        TEST(one_snapshot_a_client),
	        TEST(owner_goes_away),
	        TEST(many_clients),
	        TEST(no_descriptor_for_a_client),
	        TEST(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
