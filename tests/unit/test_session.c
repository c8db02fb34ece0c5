/*
 * The life of a session without a program: its providers are this process, again and again,
 * and what their agents would send stands in the shared memory. The ways between the states
 * are written down here once more, by hand, as the drawing of recording.h has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>
#include "launcher/manager/admission.h"
#include "launcher/manager/providers.h"
#include "launcher/manager/session.h"
#include "writer/shared/sys.h"

static struct fxt_options options;
static struct fxt_session session;
static const struct fxt_categories none;
static char states[64]; /* reported to the listener, a letter each */
static FILE *file;

static void state_changed(void *context)
{
	static const char letters[FXT_SESSION_STATES] = "?RISsPpT";

	(void)context;
	states[strlen(states)] = letters[session.recording.state];
	assert_true(fxt_session_is_valid(&session));
}

static void alerted(void *context, const char *name)
{
	(void)context;
	(void)name;
	fail();
}

static int open_session(void **state)
{
	(void)state;
	options = (struct fxt_options){.buffering_mode = FXT_CIRCULAR,
	        .buffer_bytes = 1 << 20,
	        .descendant_buffer_bytes = 1 << 20,
	        .follow = FXT_FOLLOW_EXEC,
	        .start_timeout_ns = UINT64_C(3600000000000)};
	memset(states, 0, sizeof(states));
	file = tmpfile();
	if (!file ||
	        fxt_session_open(&session, &options, FXT_CLOCK_MONOTONIC, (struct fxt_clock_pair){0}) != 0)
		return -1;
	session.listener = (struct fxt_session_listener){.state_changed = state_changed, .alerted = alerted};
	fxt_archive_begin(session.archive, fileno(file), "test", NULL);
	return 0;
}

static int close_session(void **state)
{
	struct fxt_totals totals;

	(void)state;
	fxt_session_terminate(&session);
	fxt_session_finish(&session, &totals);
	assert_int_equal(session.alive, 0);
	assert_true(fxt_session_is_valid(&session));
	fxt_session_close(&session);
	return fclose(file);
}

static struct fxt_provider *say_hello(uint32_t version, uint32_t image, enum fxt_welcome_status expected)
{
	struct fxt_hello hello = {.magic = FXT_HELLO_MAGIC,
	        .version = version,
	        .pid = (uint32_t)getpid(),
	        .name_bytes = 4,
	        .name = "fake",
	        .image = image};
	struct fxt_welcome welcome;
	struct fxt_provider *p = fxt_session_connect(&session, getpid(), &hello, &welcome);

	assert_int_equal(welcome.status, expected);
	assert_int_equal(p != NULL, expected == FXT_WELCOME_OK);
	assert_true(fxt_session_is_valid(&session));
	return p;
}

/* A provider with a buffer as its agent would have set it up. */
static struct fxt_provider *connect_provider(void)
{
	struct fxt_provider *p = say_hello(FXT_SHARED_VERSION, 1, FXT_WELCOME_OK);

	fxt_buffer_clear((struct fxt_buffer_header *)p->memory.buffer, FXT_CIRCULAR, p->memory.buffer_bytes);
	fxt_session_welcomed(&session, p, true);
	return p;
}

static void sends(struct fxt_provider *p, uint16_t request)
{
	struct fxt_packet packet = {request, 0, request == FXT_PROVIDER_STARTED ? 1 : 0, 0};

	assert_true(fxt_ring_send(&p->memory.control->to_manager, &packet));
}

/* Waits as the manager does: the provider's thread wakes us when its state has changed. */
static void wait_for(enum fxt_session_state expected)
{
	while (session.recording.state != expected)
		fxt_watch_wait(session.epoll, -1);
	assert_true(fxt_session_is_valid(&session));
}

static void the_drawing(void **state)
{
	static const char *const ways[FXT_SESSION_STATES] = {
	        /* to:                      ?RISsPpT */
	        [FXT_SESSION_READY] = /*       */ "00100001",
	        [FXT_SESSION_INITIALIZED] = /* */ "00010101",
	        [FXT_SESSION_STARTING] = /*    */ "00001101",
	        [FXT_SESSION_STARTED] = /*     */ "00000101",
	        [FXT_SESSION_STOPPING] = /*    */ "00000011",
	        [FXT_SESSION_STOPPED] = /*     */ "00010001",
	        [FXT_SESSION_TERMINATING] = /* */ "01000000",
	};

	(void)state;
	for (int from = FXT_SESSION_READY; from < FXT_SESSION_STATES; from++)
		for (int to = 0; to < FXT_SESSION_STATES; to++)
			assert_int_equal(fxt_recording_may_enter(
			                         (enum fxt_session_state)from, (enum fxt_session_state)to),
			        ways[from][to] == '1');
	assert_false(fxt_recording_may_enter(FXT_SESSION_STATES, FXT_SESSION_TERMINATING));
	assert_false(fxt_recording_may_enter(FXT_SESSION_READY, FXT_SESSION_STATES));
}

static void without_providers(void **state)
{
	(void)state;
	assert_true(fxt_session_is_valid(&session));
	assert_int_equal(fxt_recording_may_start(&session), FXT_START_NOT_INITIALIZED);
	assert_int_equal(fxt_recording_may_stop(&session), FXT_STOP_NOT_INITIALIZED);
	fxt_recording_initialize(&session);
	fxt_recording_start(&session, FXT_START_CLEAR_ENTIRE, &none);
	assert_int_equal(fxt_recording_may_start(&session), FXT_START_ALREADY_STARTED);
	fxt_recording_stop(&session, true);
	assert_true(session.recording.results_written);
	assert_int_equal(fxt_recording_may_stop(&session), FXT_STOP_NOT_STARTED);
	fxt_recording_start(&session, FXT_START_RETAIN, &none);
	assert_false(session.recording.results_written);
	fxt_session_terminate(&session);
	fxt_session_terminate(&session);
	assert_int_equal(fxt_recording_may_start(&session), FXT_START_IS_TERMINATING);
	assert_string_equal(states, "ISsPpSsT");
}

/* The session has started, and stopped, when the last of its providers has. */
static void the_last_provider_counts(void **state)
{
	struct fxt_provider *first = connect_provider(), *second;

	(void)state;
	fxt_recording_initialize(&session);
	fxt_recording_start(&session, FXT_START_RETAIN, &none);
	fxt_session_beat(&session);
	assert_int_equal(session.recording.state, FXT_SESSION_STARTING);
	sends(first, FXT_PROVIDER_STARTED);
	wait_for(FXT_SESSION_STARTED);
	fxt_recording_stop(&session, false);
	fxt_session_beat(&session);
	assert_int_equal(session.recording.state, FXT_SESSION_STOPPING);
	sends(first, FXT_PROVIDER_STOPPED);
	wait_for(FXT_SESSION_STOPPED);
	/* The same process again: its earlier image has ended. */
	second = connect_provider();
	assert_ptr_not_equal(first, second);
	assert_int_not_equal(first->end, FXT_END_NONE);
	assert_int_equal(second->process_koid, first->process_koid);
	assert_string_equal(states, "ISsPp");
}

/* A provider that does not answer holds up the session only until the deadline. */
static void the_deadline(void **state)
{
	(void)state;
	options.start_timeout_ns = 0;
	connect_provider();
	fxt_recording_initialize(&session);
	fxt_recording_start(&session, FXT_START_RETAIN, &none);
	assert_string_equal(states, "ISs");
}

/* A stop and an end come while the session is starting. */
static void in_the_midst_of_a_start(void **state)
{
	struct fxt_control *control = connect_provider()->memory.control;

	(void)state;
	fxt_recording_initialize(&session);
	fxt_recording_start(&session, FXT_START_RETAIN, &none);
	fxt_recording_stop(&session, false);
	fxt_session_beat(&session);
	assert_int_equal(session.recording.state, FXT_SESSION_STOPPING);
	store_release(
	        &control->carried_out, control->session_command); /* the stop came before it had begun */
	fxt_session_beat(&session);
	wait_for(FXT_SESSION_STOPPED);
	fxt_recording_start(&session, FXT_START_RETAIN, &none);
	fxt_session_terminate(&session);
	assert_string_equal(states, "ISPpST");
}

static void who_is_refused(void **state)
{
	(void)state;
	say_hello(FXT_SHARED_VERSION + 1, 1, FXT_WELCOME_VERSION);
	assert_int_equal(session.refused, 1);
	say_hello(FXT_SHARED_VERSION, 0, FXT_WELCOME_REFUSED); /* a forked child, which --follow leaves out */
	assert_int_equal(session.refused, 1);
	assert_int_equal(session.count, 0);
}

/* Deferred ends are reported when the session may report again. */
static void ends_that_are_put_off(void **state)
{
	struct fxt_provider *p = connect_provider();

	(void)state;
	fxt_session_note_snapshot(&session, FXT_SNAPSHOT_WAITS);
	say_hello(FXT_SHARED_VERSION, 0, FXT_WELCOME_REFUSED); /* ends the earlier image */
	assert_int_equal(p->end, FXT_END_KNOWN);
	fxt_session_note_snapshot(&session, FXT_SNAPSHOT_COPIES);
	assert_int_equal(p->end, FXT_END_SENT);
	assert_true(fxt_session_is_valid(&session));
}

/* Invalid combinations. */
static void invalid(void **state)
{
	struct fxt_session good;
	struct fxt_provider *p = connect_provider();
	uint32_t id = p->identity.id;

	(void)state;
	fxt_recording_initialize(&session);
	good = session;
#define WITH(field, value)                                    \
	do {                                                  \
		session.field = (value);                      \
		assert_false(fxt_session_is_valid(&session)); \
		session.field = good.field;                   \
		assert_true(fxt_session_is_valid(&session));  \
	} while (0)
	WITH(recording.state, FXT_SESSION_STATES);
	WITH(recording.state, 0);
	WITH(recording.state, FXT_SESSION_STOPPING); /* without a deadline */
	WITH(recording.state, FXT_SESSION_STARTED);  /* new providers do not begin */
	WITH(config.begin, true);
	WITH(recording.results_written, true);
	WITH(recording.terminate_ns, 1);
	WITH(config.ticks_per_second, 0);
	WITH(alive, 0);
	WITH(alive, 2);
	WITH(capacity, 0);
#undef WITH
	p->identity.id = 7;
	assert_false(fxt_session_is_valid(&session));
	p->identity.id = id;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_session, close_session)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_drawing),
	        TEST(without_providers),
	        TEST(the_last_provider_counts),
	        TEST(the_deadline),
	        TEST(in_the_midst_of_a_start),
	        TEST(who_is_refused),
	        TEST(ends_that_are_put_off),
	        TEST(invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
