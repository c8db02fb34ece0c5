/*
 * fxtctl record: makes one recording in a session of several recordings (fxtrun
 * --start=idle), and waits for its trace. The session ends the recording by itself if this
 * process dies.
 */
#include "commands.h"
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include "client.h"
#include "launcher/values.h"

static struct fxt_client client;
static int connection; /* the client's, for the handler */

/* Ends the recording at the end of its time or at an interrupt: the trace comes all the
 * same. A second interrupt kills the process. */
static void record_end(int signal)
{
	static const char request[] =
	        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"TerminateTracing\",\"params\":{}}\n";

	(void)signal;
	send(connection, request, sizeof(request) - 1, MSG_NOSIGNAL);
}

/* In nanoseconds; 0 = as long as it takes. */
static uint64_t record_duration(void)
{
	uint64_t ns = 0;
	const char *wrong = fxtctl.duration ? fxt_value_time(fxtctl.duration, &ns) : NULL;

	if (wrong)
		fxt_client_fail(2, "--duration=%s: %s", fxtctl.duration, wrong);
	return ns;
}

static void record_must_call(const char *method, json_t *params, unsigned timeout_seconds)
{
	json_t *result = fxt_client_call(&client, method, params, timeout_seconds);

	if (!result)
		fxt_client_fail(1, "session %s has ended", client.session);
	json_decref(result);
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};

/* Blocks the signals until their handler is ready: a signal sent as soon as the recording
 * has begun then still ends it with a trace. Returns the earlier mask. */
static sigset_t record_hold_signals(void)
{
	sigset_t held, before;

	sigemptyset(&held);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&held, signals[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
	return before;
}

static void record_await_signals(uint64_t duration_ns, const sigset_t *before)
{
	const struct sigaction action = {.sa_handler = record_end, .sa_flags = SA_RESTART | SA_RESETHAND};
	const struct itimerval timer = {.it_value = {(time_t)(duration_ns / 1000000000),
	                                        (suseconds_t)(duration_ns % 1000000000 / 1000)}};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	sigprocmask(SIG_SETMASK, before, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Returns the reply to the first request, not the reply to the request that ends the
 * recording. */
static json_t *record_await_trace(void)
{
	json_t *reply = NULL;

	do {
		json_decref(reply);
		reply = fxt_client_next(&client, FXT_CLIENT_FOREVER);
	} while (reply && json_integer_value(json_object_get(reply, "id")) != 1);
	if (!reply)
		fxt_client_fail(1,
		        "session %s ended before the trace was final; if its manager was killed, what is "
		        "left goes into %s",
		        client.session, json_string_value(json_object_get(fxtctl.params, "output")));
	fxt_client_check(&client, reply);
	return reply;
}

void fxtctl_record(void)
{
	uint64_t duration_ns = record_duration();
	json_t *reply, *result;
	sigset_t before;

	if (!json_object_get(fxtctl.params, "output"))
		fxt_client_fail(2, "record: needs a file for the trace: fxtctl record -o FILE");
	fxt_client_connect(&client, fxtctl.session);
	connection = fileno(client.stream);
	before = record_hold_signals();
	record_must_call("InitializeTracing", json_incref(fxtctl.params), FXT_CLIENT_SOON);
	record_must_call("StartTracing", json_object(), FXT_CLIENT_RECORDING);
	fxt_client_send_request(&client, "AwaitTrace", json_object());
	record_await_signals(duration_ns, &before);
	reply = record_await_trace();
	result = json_object_get(reply, "result");
	if (!fxtctl_show_json(result))
		puts(fxtctl_string(result, "summary"));
	if (!json_is_true(json_object_get(result, "complete")))
		fxt_client_fail(1, "the trace is not complete; fxtrun has said why");
	json_decref(reply);
}
