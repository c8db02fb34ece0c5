/*
 * A client's connection to the control socket: whole lines whatever the pieces they came
 * in, nothing read from a client that takes no replies, and replies that come later or
 * never. The client is the other end of a pair of sockets, in the same thread, so that
 * every step happens when the test has it happen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include "launcher/control/rpc.h"

/* The handler's arguments. */
static struct {
	char lines[8][64];
	unsigned line_count, too_long, closed;
	const char *answer; /* sent after each line */
	bool closes;        /* each line closes the connection */
} told;

static int epoll, peer;
static struct fxt_connection connection;

static void line_came(struct fxt_connection *c, const char *line, size_t bytes, void *context)
{
	assert_ptr_equal(context, &told);
	if (told.line_count < 8)
		snprintf(told.lines[told.line_count], sizeof(told.lines[0]), "%.*s", (int)bytes, line);
	told.line_count++;
	if (told.answer)
		fxt_connection_send(c, told.answer);
	if (told.closes)
		fxt_connection_close(c);
}

static void line_too_long(struct fxt_connection *c, void *context)
{
	(void)c, (void)context;
	told.too_long++;
}

static void closed(struct fxt_connection *c, void *context)
{
	(void)c, (void)context;
	told.closed++;
}

static const struct fxt_connection_handler handler = {line_came, line_too_long, closed, &told};

/* Handles all that is ready. */
static void serve(void)
{
	struct pollfd ready = {epoll, POLLIN, 0};

	while (poll(&ready, 1, 0) == 1)
		fxt_watch_wait(epoll, 0);
}

static int begin(void **state)
{
	int pair[2];

	(void)state;
	memset(&told, 0, sizeof(told));
	epoll = epoll_create1(0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return -1;
	peer = pair[1];
	return fxt_connection_open(&connection, epoll, pair[0], &handler);
}

static int end(void **state)
{
	(void)state;
	fxt_connection_close(&connection);
	if (peer >= 0)
		close(peer);
	close(epoll);
	return 0;
}

static void say(const char *text)
{
	assert_int_equal(send(peer, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	serve();
}

/* All that was sent to the client so far. */
static const char *heard(void)
{
	static char text[4096];
	ssize_t bytes = recv(peer, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[bytes > 0 ? bytes : 0] = 0;
	return text;
}

static void hang_up(void)
{
	close(peer);
	peer = -1;
	serve();
}

static void lines(void **state)
{
	(void)state;
	say("on");
	say("e\ntwo\nthr");
	assert_int_equal(told.line_count, 2);
	say("ee\n\n");
	assert_int_equal(told.line_count, 4);
	assert_string_equal(told.lines[0], "one");
	assert_string_equal(told.lines[1], "two");
	assert_string_equal(told.lines[2], "three");
	assert_string_equal(told.lines[3], "");
	fxt_connection_send(&connection, "reply");
	assert_string_equal(heard(), "reply\n");
	hang_up();
	assert_int_equal(told.closed, 1);
	assert_int_equal(connection.socket.fd, -1);
	fxt_connection_send(&connection, "nobody is there"); /* dropped */
	fxt_connection_close(&connection);
	assert_int_equal(told.closed, 1);
}

static void longest_line(void **state)
{
	static char text[FXT_CONNECTION_LINE_BYTES + 1];

	(void)state;
	memset(text, 'x', FXT_CONNECTION_LINE_BYTES);
	text[FXT_CONNECTION_LINE_BYTES - 1] = '\n';
	say(text);
	assert_int_equal(told.line_count, 1);
	text[FXT_CONNECTION_LINE_BYTES - 1] = 'x';
	say(text);
	assert_int_equal(told.line_count, 1);
	assert_int_equal(told.too_long, 1);
	/* Its rest is dropped, and the next line is heard. */
	say(text);
	say("rest\nnext\n");
	assert_int_equal(told.too_long, 1);
	assert_int_equal(told.line_count, 2);
	assert_int_equal(told.closed, 0);
}

static void closed_by_a_line(void **state)
{
	(void)state;
	told.closes = true;
	say("one\ntwo\n");
	assert_int_equal(told.line_count, 1);
	assert_int_equal(told.closed, 1);
}

/* A client that asks and asks and takes no reply: what it asks stays in the buffer, and in
 * the socket, until it takes them. */
static void no_replies_taken(void **state)
{
	static char answer[60000];
	unsigned answered;

	(void)state;
	memset(answer, 'a', sizeof(answer) - 1);
	told.answer = answer;
	say("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n"); /* more than a socket holds */
	answered = told.line_count;
	assert_true(answered > 0 && answered < 16);
	say("17\n18\n");
	assert_int_equal(told.line_count, answered);
	while (*heard())
		serve();
	assert_int_equal(told.line_count, 18);
	assert_int_equal(connection.output_bytes, 0);
	assert_int_equal(told.closed, 0);
}

/* Notifications go to all clients, also to one that reads nothing: its connection is closed
 * before memory runs out. */
static void too_much_to_be_sent(void **state)
{
	static char line[60000];

	(void)state;
	memset(line, 'n', sizeof(line) - 1);
	for (unsigned i = 0; i < 100 && !told.closed; i++) {
		fxt_connection_send(&connection, line);
		assert_true(connection.output_bytes <= FXT_CONNECTION_OUTPUT_BYTES);
	}
	assert_int_equal(told.closed, 1);
	assert_null(connection.output);
}

static struct fxt_request keep(int id)
{
	json_t *json = json_integer(id);
	struct fxt_request kept = fxt_rpc_keep(&(struct fxt_request){&connection, json});

	json_decref(json);
	return kept;
}

/* `socat` closes its sending side once its input ends, and waits for the replies. */
static void sends_no_more_and_waits(void **state)
{
	struct fxt_request first = keep(7), second = keep(8), notification = {&connection, NULL};
	struct fxt_request third = fxt_rpc_keep(&notification);

	(void)state;
	shutdown(peer, SHUT_WR);
	serve();
	assert_int_equal(told.closed, 0);
	fxt_rpc_finish(&first, json_string("x"));
	assert_string_equal(heard(), "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"x\"}\n");
	assert_null(first.connection);
	fxt_rpc_finish(&first, json_object()); /* it is none any more */
	fxt_rpc_fail(&second, 5, "NAME", "reason");
	assert_string_equal(heard(), "{\"jsonrpc\":\"2.0\",\"id\":8,\"error\":"
	                             "{\"code\":5,\"message\":\"reason\",\"data\":\"NAME\"}}\n");
	assert_int_equal(told.closed, 0);
	fxt_rpc_finish(&third, json_object()); /* a notification has no reply, but was waited for */
	assert_int_equal(told.closed, 1);
	assert_string_equal(heard(), "");
}

static void sends_no_more_and_is_forgotten(void **state)
{
	struct fxt_request kept = keep(1);

	(void)state;
	shutdown(peer, SHUT_WR);
	serve();
	assert_int_equal(told.closed, 0);
	fxt_rpc_forget(&kept);
	assert_int_equal(told.closed, 1);
	fxt_rpc_forget(&kept);
}

/* The client is gone altogether: nothing that is owed keeps its connection. */
static void goes_away(void **state)
{
	struct fxt_request kept = keep(1);

	(void)state;
	hang_up();
	assert_int_equal(told.closed, 1);
	fxt_rpc_fail(&kept, FXT_RPC_NO_SNAPSHOT, NULL, "nobody hears it");
	assert_int_equal(told.closed, 1);
}

static void text(void **state)
{
	json_t *json = fxt_rpc_text("a\xff"
	                            "b\xc3");

	(void)state;
	assert_string_equal(json_string_value(json), "a?b?");
	json_decref(json);
	json = fxt_rpc_text("\xc3\xa4");
	assert_string_equal(json_string_value(json), "\xc3\xa4");
	json_decref(json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(lines),
	        TEST(longest_line),
	        TEST(closed_by_a_line),
	        TEST(no_replies_taken),
	        TEST(too_much_to_be_sent),
	        TEST(sends_no_more_and_waits),
	        TEST(sends_no_more_and_is_forgotten),
	        TEST(goes_away),
	        cmocka_unit_test(text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
