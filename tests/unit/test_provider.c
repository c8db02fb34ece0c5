/*
 * The life of a provider without one: packets and shared memory as an agent would write
 * them, and others that it would not. The calls allowed in each state are written down here
 * again, by hand, from the drawing in provider.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>
#include "launcher/manager/packets.h"
#include "launcher/manager/provider_thread.h"
#include "writer/engine/elided.h"
#include "writer/shared/sys.h"

enum { BUFFER_BYTES = 1 << 20 };

static struct fxt_options options;
static struct fxt_provider_config config;
static struct fxt_archive_writer archive;
static struct fxt_wakeup wakeup;
static struct fxt_sched sched; /* not open */
static struct fxt_provider p;
static FILE *file;
static int epoll;

static void never(struct fxt_watch *watch, void *context)
{
	(void)watch;
	(void)context;
}

static int make_provider(void **state)
{
	(void)state;
	options = (struct fxt_options){.buffering_mode = FXT_CIRCULAR};
	config = (struct fxt_provider_config){.options = &options, .clock = FXT_CLOCK_MONOTONIC};
	config.ticks_per_second = 1000000000;
	file = tmpfile();
	epoll = epoll_create1(0);
	if (!file || epoll < 0 || fxt_wakeup_open(&wakeup, epoll, never, NULL) != 0)
		return -1;
	fxt_archive_begin(&archive, fileno(file), "test", NULL);
	p = (struct fxt_provider){.archive = &archive,
	        .wakeup = &wakeup,
	        .sched = &sched,
	        .identity = {.id = 1},
	        .pid = getpid(),
	        .own_pid = getpid(),
	        .process_koid = 1,
	        .process = {.fd = -1}};
	fxt_archive_name(&p.identity, "fake", 4);
	if (fxt_memory_create(&p.memory, BUFFER_BYTES, FXT_CIRCULAR, false) != 0)
		return -1;
	fxt_provider_prepare(&p, &config);
	fxt_buffer_clear((struct fxt_buffer_header *)p.memory.buffer, FXT_CIRCULAR, BUFFER_BYTES);
	return 0;
}

static int unmake_provider(void **state)
{
	(void)state;
	fxt_collector_free(&p.collector);
	fxt_memory_free(&p.memory);
	fxt_wakeup_close(&wakeup);
	close(epoll);
	return fclose(file);
}

/* As an agent puts a packet into the ring. */
static void put(uint16_t request, uint32_t data32, uint16_t reserved)
{
	struct fxt_ring *ring = &p.memory.control->to_manager;

	ring->packet[ring->written % FXT_FIFO_DEPTH] = (struct fxt_packet){request, reserved, data32, 0};
	store_release(&ring->written, ring->written + 1);
}

static void sends(uint16_t request)
{
	put(request, request == FXT_PROVIDER_STARTED ? FXT_FIFO_PROTOCOL_VERSION : 0, 0);
	fxt_packets_handle(&p);
	assert_true(fxt_provider_is_valid(&p));
}

static void state_is(enum fxt_provider_state expected)
{
	assert_int_equal(fxt_provider_state(&p), expected);
	assert_true(fxt_provider_is_valid(&p));
}

static bool was_told_to_quit(void)
{
	return FXT_SESSION_COMMAND(p.memory.control->session_command) == FXT_COMMAND_QUIT;
}

static void the_drawing(void **state)
{
	static const char *const ways[FXT_STATES] = {
	        /* to:            W R r S s e A D G */
	        [FXT_STATE_WAITING] = "010000110",
	        [FXT_STATE_RECORDING] = "001011100",
	        [FXT_STATE_SAVING_RESULTS] = "000100000",
	        [FXT_STATE_SAVED] = "010000110",
	        [FXT_STATE_STOPPED] = "010001100",
	        [FXT_STATE_SAVING_REST] = "000000010",
	        [FXT_STATE_ABORTED] = "000000010",
	        [FXT_STATE_DONE] = "000000000",
	        [FXT_STATE_REGISTERED] = "100000010",
	};
	static const char *const ends[FXT_ENDS] = {"0101", "0011", "0001", "0000"};

	(void)state;
	for (int from = 0; from < FXT_STATES; from++)
		for (int to = 0; to < FXT_STATES; to++)
			assert_int_equal(fxt_provider_may_enter(
			                         (enum fxt_provider_state)from, (enum fxt_provider_state)to),
			        ways[from][to] == '1');
	assert_false(fxt_provider_may_enter(FXT_STATES, FXT_STATE_DONE));
	assert_false(fxt_provider_may_enter(FXT_STATE_WAITING, FXT_STATES));
	for (int from = 0; from < FXT_ENDS; from++)
		for (int to = 0; to < FXT_ENDS; to++)
			assert_int_equal(
			        fxt_provider_may_end((enum fxt_provider_end)from, (enum fxt_provider_end)to),
			        ends[from][to] == '1');
}

/* A provider that must stop before anything is known about it may have begun, as its birth
 * says. */
static void a_stop_before_the_start_is_known(void **state)
{
	struct fxt_control *control = p.memory.control;
	struct fxt_categories none = {0};

	(void)state;
	fxt_provider_begin(&p, &none, FXT_START_RETAIN);
	fxt_provider_stop(&p, true);
	assert_false(fxt_provider_follows(&p, false));
	control->to_manager.written++; /* it had begun, which its thread has not taken yet */
	control->carried_out = control->session_command;
	state_is(FXT_STATE_WAITING);
	assert_false(fxt_provider_follows(&p, false));
	control->to_manager.read++; /* that takes it, and deals with it */
	assert_false(fxt_provider_follows(&p, false));
	control->to_manager.read--;
	control->to_manager.written--; /* or not: the stop came first */
	assert_true(fxt_provider_follows(&p, false));
}

/* The same of one that has recorded before, and takes a start late. */
static void a_stop_before_a_later_start_is_known(void **state)
{
	struct fxt_categories none = {0};

	(void)state;
	sends(FXT_PROVIDER_STARTED);
	sends(FXT_PROVIDER_STOPPED);
	state_is(FXT_STATE_STOPPED);
	assert_true(fxt_provider_follows(&p, false));
	fxt_provider_begin(&p, &none, FXT_START_RETAIN);
	put(FXT_PROVIDER_STARTED, FXT_FIFO_PROTOCOL_VERSION, 0);
	fxt_provider_stop(&p, true);
	assert_false(fxt_provider_follows(&p, false));
	fxt_packets_handle(&p);
	assert_false(fxt_provider_follows(&p, false));
	sends(FXT_PROVIDER_STOPPED);
	state_is(FXT_STATE_SAVED);
	assert_true(fxt_provider_follows(&p, false));
}

static void runs_that_follow_commands(void **state)
{
	struct fxt_categories none = {0};

	(void)state;
	state_is(FXT_STATE_WAITING);
	assert_true(fxt_provider_is_live(&p));
	assert_true(fxt_provider_follows(&p, false));
	fxt_provider_begin(&p, &none, FXT_START_RETAIN);
	assert_false(fxt_provider_follows(&p, true));
	sends(FXT_PROVIDER_STARTED);
	state_is(FXT_STATE_RECORDING);
	assert_true(fxt_provider_follows(&p, true));
	fxt_provider_stop(&p, false);
	sends(FXT_PROVIDER_STOPPED);
	state_is(FXT_STATE_STOPPED);
	assert_true(fxt_provider_follows(&p, false));
	sends(FXT_PROVIDER_STARTED);
	fxt_provider_stop(&p, true);
	assert_false(fxt_provider_follows(&p, false));
	sends(FXT_PROVIDER_STOPPED);
	state_is(FXT_STATE_SAVED);
	assert_true(fxt_provider_follows(&p, false));
	sends(FXT_PROVIDER_STARTED);
	state_is(FXT_STATE_RECORDING);
	assert_int_equal(p.runs, 3);
	assert_false(p.incomplete || p.misplaced);
}

/* Triggers raised by calls are alerts, each once, however many packets report it, and also
 * without a packet. */
static void triggers_that_calls_raise(void **state)
{
	uint32_t *triggered = &p.memory.control->triggered;
	char name[FXT_ALERT_NAME_BYTES];
	struct fxt_alerts alerts;

	(void)state;
	p.memory.control->triggers[1].raised = 3;
	p.memory.control->triggers[14].raised = 1;
	*triggered = 1;
	sends(FXT_PROVIDER_TRIGGERED); /* before it has begun there is no call */
	fxt_wakeup_receive(&wakeup, &alerts);
	assert_false(fxt_alerts_take(&alerts, name));
	*triggered = 0;
	sends(FXT_PROVIDER_STARTED);
	*triggered = UINT32_C(0xffffc002); /* some that there are not */
	sends(FXT_PROVIDER_TRIGGERED);
	sends(FXT_PROVIDER_TRIGGERED);
	fxt_wakeup_receive(&wakeup, &alerts);
	assert_int_equal(alerts.triggered[1], 3);
	assert_true(fxt_alerts_take(&alerts, name));
	assert_string_equal(name, "trigger 2");
	assert_true(fxt_alerts_take(&alerts, name));
	assert_string_equal(name, "trigger 15");
	assert_false(fxt_alerts_take(&alerts, name));
	assert_int_equal(*triggered, 0);
	*triggered = 2; /* fewer than were reported */
	fxt_packets_handle(&p);
	fxt_wakeup_receive(&wakeup, &alerts);
	assert_false(fxt_alerts_take(&alerts, name));
	p.memory.control->triggers[1].raised = 5;
	*triggered = 2;
	fxt_packets_handle(&p);
	fxt_wakeup_receive(&wakeup, &alerts);
	assert_int_equal(alerts.triggered[1], 2);
}

/* A snapshot waits for what has begun to record and is not heard of yet. */
static void heard_of(void **state)
{
	(void)state;
	assert_true(fxt_provider_is_heard(&p));
	put(FXT_PROVIDER_STARTED, FXT_FIFO_PROTOCOL_VERSION, 0);
	state_is(FXT_STATE_WAITING);
	assert_false(fxt_provider_is_heard(&p));
	fxt_packets_handle(&p);
	state_is(FXT_STATE_RECORDING);
	assert_true(fxt_provider_is_heard(&p));
}

/* However many calls raise triggers, and however many others a program raises, before
 * anybody takes them. */
static void alerts_that_come_at_once(void **state)
{
	uint32_t *triggered = &p.memory.control->triggered, taken = 0;
	char name[FXT_ALERT_NAME_BYTES];
	struct fxt_alerts alerts;

	(void)state;
	sends(FXT_PROVIDER_STARTED);
	for (unsigned i = 0; i < FXT_ALERTS_KEPT; i++) {
		*triggered = UINT32_C(0x7fff);
		for (unsigned j = 0; j < FXT_TRIGGERS; j++)
			p.memory.control->triggers[j].raised = i + 1;
		sends(FXT_PROVIDER_ALERT);
	}
	fxt_wakeup_receive(&wakeup, &alerts);
	assert_int_equal(alerts.lost, 0);
	for (; fxt_alerts_take(&alerts, name); taken++)
		assert_true(taken < FXT_ALERTS_KEPT ? !strcmp(name, "") : !strncmp(name, "trigger ", 8));
	assert_int_equal(taken, FXT_ALERTS_KEPT + FXT_TRIGGERS);
	for (unsigned i = 0; i < FXT_ALERTS_KEPT + 3; i++)
		sends(FXT_PROVIDER_ALERT);
	fxt_wakeup_receive(&wakeup, &alerts);
	assert_int_equal(alerts.lost, 3);
	fxt_wakeup_receive(&wakeup, &alerts);
	assert_int_equal(alerts.lost, 0);
}

/* They are ignored, and change nothing. */
static void packets_at_the_wrong_time(void **state)
{
	(void)state;
	sends(FXT_PROVIDER_STOPPED);
	assert_true(p.misplaced);
	sends(FXT_PROVIDER_ALERT);
	sends(FXT_PROVIDER_SAVE_BUFFER);
	state_is(FXT_STATE_WAITING);
	sends(FXT_PROVIDER_STARTED);
	sends(FXT_PROVIDER_STARTED);
	sends(FXT_PROVIDER_SAVE_BUFFER); /* not in a circular session */
	state_is(FXT_STATE_RECORDING);
	assert_int_equal(p.runs, 1);
	sends(FXT_PROVIDER_STOPPED);
	sends(FXT_PROVIDER_STOPPED);
	state_is(FXT_STATE_STOPPED);
	assert_false(p.incomplete);
}

static void aborted(void)
{
	state_is(FXT_STATE_ABORTED);
	assert_true(p.incomplete);
	assert_true(was_told_to_quit());
	assert_false(fxt_provider_is_live(&p));
}

static void another_protocol(void **state)
{
	(void)state;
	put(FXT_PROVIDER_STARTED, FXT_FIFO_PROTOCOL_VERSION + 1, 0);
	put(FXT_PROVIDER_STARTED, FXT_FIFO_PROTOCOL_VERSION, 0);
	fxt_packets_handle(&p);
	aborted();
	assert_int_equal(p.runs, 0); /* what comes after is not taken */
}

static void an_unknown_packet(void **state)
{
	(void)state;
	sends(FXT_PROVIDER_STARTED);
	sends(77);
	aborted();
}

static void reserved_bits(void **state)
{
	(void)state;
	sends(FXT_PROVIDER_STARTED);
	sends(FXT_PROVIDER_STOPPED);
	put(FXT_PROVIDER_STARTED, FXT_FIFO_PROTOCOL_VERSION, 1);
	fxt_packets_handle(&p);
	aborted();
}

static void more_packets_than_the_ring_holds(void **state)
{
	(void)state;
	sends(FXT_PROVIDER_STARTED);
	p.memory.control->to_manager.written += FXT_FIFO_DEPTH + 1;
	fxt_packets_handle(&p);
	aborted();
}

/* Invalid combinations. */
static void invalid(void **state)
{
	struct fxt_provider good;

	(void)state;
	sends(FXT_PROVIDER_STARTED);
	good = p;
#define WITH(field, value)                               \
	do {                                             \
		p.field = (value);                       \
		assert_false(fxt_provider_is_valid(&p)); \
		p = good;                                \
		assert_true(fxt_provider_is_valid(&p));  \
	} while (0)
	WITH(state, FXT_STATES);
	WITH(end, FXT_ENDS);
	WITH(state, FXT_STATE_WAITING); /* it has begun once */
	WITH(runs, 0);
	WITH(state, FXT_STATE_ABORTED); /* and it was not reported */
	WITH(end, FXT_END_JOINED);      /* with memory */
	WITH(memory.buffer, NULL);
#undef WITH
}

/* With its thread; each step is awaited by the state, which the thread enters. */
static void wait_for(enum fxt_provider_state expected)
{
	struct epoll_event event;

	while (fxt_provider_state(&p) != expected) {
		struct fxt_alerts alerts;

		epoll_wait(epoll, &event, 1, -1);
		fxt_wakeup_receive(&wakeup, &alerts);
	}
	assert_true(fxt_provider_is_valid(&p));
}

static void send_to_thread(uint16_t request)
{
	put(request, request == FXT_PROVIDER_STARTED ? FXT_FIFO_PROTOCOL_VERSION : 0, 0);
	sys_futex_wake(&p.memory.control->to_manager.written, 1);
}

static void end_and_join(enum fxt_ending ending)
{
	fxt_provider_note_end(&p, ending, 123);
	assert_int_equal(p.end, FXT_END_KNOWN);
	assert_true(fxt_provider_is_live(&p)); /* its thread goes on until the end is sent */
	fxt_provider_send_end(&p);
	assert_false(fxt_provider_is_live(&p));
	wait_for(FXT_STATE_DONE);
	fxt_provider_join(&p, NULL);
	assert_int_equal(p.end, FXT_END_JOINED);
	assert_true(fxt_provider_is_valid(&p));
}

static void a_whole_life(void **state)
{
	(void)state;
	assert_int_equal(fxt_provider_start(&p, &config), 0);
	send_to_thread(FXT_PROVIDER_STARTED);
	wait_for(FXT_STATE_RECORDING);
	send_to_thread(FXT_PROVIDER_STOPPED);
	wait_for(FXT_STATE_STOPPED);
	end_and_join(FXT_ENDED_NORMALLY);
	assert_int_equal(p.runs, 1);
}

/* The packet is in the ring when the end is reported: it is not lost. */
static void started_at_the_end(void **state)
{
	(void)state;
	put(FXT_PROVIDER_STARTED, FXT_FIFO_PROTOCOL_VERSION, 0);
	assert_int_equal(fxt_provider_start(&p, &config), 0);
	end_and_join(FXT_ENDED_BY_SIGNAL);
	assert_int_equal(p.runs, 1);
}

static void an_end_without_a_start(void **state)
{
	(void)state;
	assert_int_equal(fxt_provider_start(&p, &config), 0);
	end_and_join(FXT_STILL_RUNNING);
	assert_int_equal(p.runs, 0);
	assert_int_equal(archive.bytes, 8); /* the magic record alone */
}

static void aborted_by_its_thread(void **state)
{
	(void)state;
	assert_int_equal(fxt_provider_start(&p, &config), 0);
	send_to_thread(77);
	wait_for(FXT_STATE_DONE);
	assert_true(was_told_to_quit());
	assert_int_equal(p.end, FXT_END_NONE);
	fxt_provider_join(&p, NULL);
	assert_int_equal(p.end, FXT_END_JOINED);
	assert_true(p.incomplete && fxt_provider_is_valid(&p));
}

static blkcnt_t writers_of_control(const struct fxt_memory *memory)
{
	struct stat status;

	assert_int_equal(fstat(memory->control_fd, &status), 0);
	return status.st_blocks;
}

/* Every table of elided calls: the first, the last, and that of threads that have ended. */
static void pages_are_given_back(void **state)
{
	static const uint32_t tables[] = {0, FXT_ELIDED_THREADS - 1, FXT_ELIDED_RECYCLED};
	struct fxt_memory memory;
	blkcnt_t before;

	(void)state;
	assert_int_equal(fxt_memory_create(&memory, BUFFER_BYTES, FXT_CIRCULAR, true), 0);
	memory.control->slots_used = 0; /* its page stays */
	before = writers_of_control(&memory);
	for (unsigned i = 0; i < 3; i++)
		fxt_elided(memory.control, tables[i])->end = 1;
	assert_true(writers_of_control(&memory) > before);
	fxt_memory_release(&memory);
	assert_int_equal(writers_of_control(&memory), before);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(fxt_elided(memory.control, tables[i])->end, 0);
	fxt_memory_free(&memory);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_provider, unmake_provider)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_drawing),
	        TEST(a_stop_before_the_start_is_known),
	        TEST(a_stop_before_a_later_start_is_known),
	        TEST(runs_that_follow_commands),
	        TEST(triggers_that_calls_raise),
	        TEST(heard_of),
	        TEST(alerts_that_come_at_once),
	        TEST(packets_at_the_wrong_time),
	        TEST(another_protocol),
	        TEST(an_unknown_packet),
	        TEST(reserved_bits),
	        TEST(more_packets_than_the_ring_holds),
	        TEST(invalid),
	        TEST(a_whole_life),
	        TEST(started_at_the_end),
	        TEST(an_end_without_a_start),
	        TEST(pages_are_given_back),
	        TEST(aborted_by_its_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
