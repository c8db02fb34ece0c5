/*
 * Any bytes as what two clients send to the control socket of a session without programs. A
 * byte of the input says what happens: 0xfe, the other client speaks; 0xfd, the one that
 * speaks hangs up and comes back; 0xfc, an alert is raised; 0xfb, the session is READY,
 * where a controller says how to record. Others are sent.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "launcher/control/control.h"

enum { CLIENTS = 2 };

static struct fxt_options options;
static struct fxt_session session;
static struct fxt_snapshots snapshots;
static struct fxt_control_server server;
static char directory[] = "/tmp/fuzz-control-XXXXXX";

static int fuzz_initialize(void *context, const struct fxt_options *wanted, const json_t *config, char *error,
        size_t error_bytes)
{
	(void)config;
	(void)context, (void)error, (void)error_bytes;
	options = *wanted;
	return 0;
}

/* Streaming mode, which takes no snapshots: another process would write them, to any
 * file. */
static void fuzz_open(void)
{
	static char *program[] = {"prog", NULL};
	char error[512];

	fxt_options_default(&options);
	options.program = program;
	if (fxt_session_open(&session, &options, FXT_CLOCK_MONOTONIC, (struct fxt_clock_pair){0}) != 0)
		abort();
	fxt_snapshots_open(&snapshots, &session, "trace.fxt");
	if (fxt_control_open(&server, &session, &snapshots, "name", error, sizeof(error)) != 0)
		abort();
	server.controller.initialize = fuzz_initialize;
}

static void fuzz_close(void)
{
	fxt_control_close(&server, NULL);
	json_decref(server.controller.config);
	session.listener.state_changed = NULL;
	fxt_session_close(&session);
	fxt_record_filter_free(&options.filter); /* of the recording that was initialized */
}

/* Handles all that is ready, and takes what the clients are sent. */
static void fuzz_serve(const int clients[CLIENTS])
{
	struct pollfd ready = {session.epoll, POLLIN, 0};
	char sink[65536];

	while (poll(&ready, 1, 0) == 1) {
		fxt_watch_wait(session.epoll, 0);
		for (int i = 0; i < CLIENTS; i++)
			while (recv(clients[i], sink, sizeof(sink), MSG_DONTWAIT) > 0)
				;
	}
}

static int fuzz_connect(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/fxt/name", directory);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		abort();
	return fd;
}

static void fuzz_raise(void)
{
	static const char name[FXT_ALERT_NAME_BYTES] = "alert";

	session.listener.alerted(session.listener.context, name);
}

static void fuzz_speak(const uint8_t *data, size_t bytes)
{
	int clients[CLIENTS] = {fuzz_connect(), fuzz_connect()};
	unsigned speaker = 0;

	for (size_t at = 0, end; at < bytes; at = end) {
		for (end = at; end < bytes && data[end] < 0xfb; end++)
			;
		if (end > at)
			send(clients[speaker], data + at, end - at, MSG_NOSIGNAL | MSG_DONTWAIT);
		fuzz_serve(clients);
		if (end == bytes)
			break;
		switch (data[end++]) {
		case 0xfe:
			speaker ^= 1;
			break;
		case 0xfd:
			close(clients[speaker]);
			clients[speaker] = fuzz_connect();
			break;
		case 0xfc:
			fuzz_raise();
			break;
		default:
			break;
		}
		fuzz_serve(clients);
	}
	for (int i = 0; i < CLIENTS; i++)
		close(clients[i]);
	fuzz_serve(clients);
}

static void fuzz_remove_directory(void)
{
	rmdir(directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static bool begun;

	if (!begun && (!mkdtemp(directory) || setenv("XDG_RUNTIME_DIR", directory, 1) != 0 ||
	                      atexit(fuzz_remove_directory) != 0))
		abort();
	begun = true;
	fuzz_open();
	if (!bytes || data[0] != 0xfb)
		fxt_recording_initialize(&session);
	fuzz_speak(data, bytes);
	fuzz_close();
	return 0;
}
