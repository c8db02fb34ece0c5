/*
 * The kernel's records of context switches become those of a trace: rings filled by hand,
 * as perf_event_open(2) describes them, and a log written into an archive that the reader
 * reads.
 */
#include "trace.h"
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "launcher/sched/sched.h"
#include "writer/shared/atomics.h"
#include "writer/shared/clock.h"
#include "reader/time/switches.h"

enum { RING_BYTES = 4096, PID = 70, TID = 71, OTHER = 72 };

/* ---- rings ---- */

static struct fxt_perf_ring ring;

static uint8_t *ring_data(void)
{
	return (uint8_t *)ring.page + sysconf(_SC_PAGESIZE);
}

static int make_ring(void **state)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE) + RING_BYTES;

	(void)state;
	ring = (struct fxt_perf_ring){.cpu = 3, .fd = -1, .bytes = RING_BYTES};
	ring.page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return ring.page == MAP_FAILED ? -1 : 0;
}

static int unmake_ring(void **state)
{
	(void)state;
	return munmap(ring.page, (size_t)sysconf(_SC_PAGESIZE) + RING_BYTES);
}

static void put_word(uint64_t word)
{
	memcpy(ring_data() + ring.page->data_head % RING_BYTES, &word, sizeof(word));
	ring.page->data_head += sizeof(word);
}

/* A record of so many bytes, with `first` and zeros as its body, and the thread and time in
 * its trailer. */
static void put_record(
        uint32_t type, uint16_t misc, uint16_t bytes, uint64_t first, uint32_t tid, uint64_t ns)
{
	put_word(type | (uint64_t)misc << 32 | (uint64_t)bytes << 48);
	for (unsigned at = 8; at < bytes - 24u; at += 8)
		put_word(at == 16 ? first : 0);
	put_word(PID | (uint64_t)tid << 32);
	put_word(ns);
	put_word(ring.cpu);
}

static void put_in(uint32_t tid, uint64_t ns)
{
	put_record(PERF_RECORD_SWITCH, 0, 32, 0, tid, ns);
}

static void put_out(uint32_t tid, uint64_t ns, bool preempted)
{
	put_record(PERF_RECORD_SWITCH,
	        PERF_RECORD_MISC_SWITCH_OUT | (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0), 32, 0,
	        tid, ns);
}

static void next_is(enum fxt_perf_kind kind, uint32_t tid, uint64_t ns)
{
	struct fxt_perf_record record;

	assert_true(fxt_perf_next(&ring, fxt_perf_end(&ring), &record));
	assert_int_equal(record.kind, kind);
	assert_int_equal(record.pid, PID);
	assert_int_equal(record.tid, tid);
	assert_int_equal(record.ns, ns);
}

static void every_kind(void **state)
{
	struct fxt_perf_record record;

	(void)state;
	put_in(TID, 10);
	put_record(PERF_RECORD_FORK, 0, 56, 0, TID, 11);
	put_out(TID, 12, false);
	put_record(PERF_RECORD_LOST, 0, 48, 1234, TID, 13);
	put_in(OTHER, 14);
	put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 32, 0, OTHER, 14);
	put_out(OTHER, 15, true);
	put_record(PERF_RECORD_EXIT, 0, 56, 0, OTHER, 16);
	next_is(FXT_PERF_IN, TID, 10);
	next_is(FXT_PERF_OUT, TID, 12);
	assert_true(fxt_perf_next(&ring, fxt_perf_end(&ring), &record));
	assert_int_equal(record.kind, FXT_PERF_LOST);
	assert_int_equal(record.lost, 1234);
	next_is(FXT_PERF_IN, OTHER, 14);
	next_is(FXT_PERF_FAULT, OTHER, 14);
	next_is(FXT_PERF_PREEMPTED, OTHER, 15);
	next_is(FXT_PERF_EXIT, OTHER, 16);
	assert_false(fxt_perf_next(&ring, fxt_perf_end(&ring), &record));
	assert_int_equal(ring.page->data_tail, ring.page->data_head);
}

/* Records of 32 and 56 bytes, which do not divide the ring: some lie on its end. */
static void round_the_ring(void **state)
{
	uint64_t ns = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		put_in(TID, ++ns);
		put_record(PERF_RECORD_EXIT, 0, 56, 0, TID, ++ns);
		next_is(FXT_PERF_IN, TID, ns - 1);
		next_is(FXT_PERF_EXIT, TID, ns);
	}
}

/* Records that the kernel cannot have written end the reading of that ring, and no more. */
static void broken_ring(void **state)
{
	struct fxt_perf_record record;

	(void)state;
	put_word(PERF_RECORD_SWITCH | UINT64_C(16) << 48);
	put_word(0);
	assert_false(fxt_perf_next(&ring, fxt_perf_end(&ring), &record));
	put_word(PERF_RECORD_SWITCH | UINT64_C(4000) << 48);
	assert_false(fxt_perf_next(&ring, fxt_perf_end(&ring), &record));
	put_in(TID, 10);
	next_is(FXT_PERF_IN, TID, 10);
}

/* ---- a CPU ---- */

struct world {
	struct fxt_sched_log log;
	struct fxt_sched_registry registry;
	struct fxt_sched_blocked blocked;
	struct fxt_sched_cpu cpu;
	struct fxt_control *control;
};

static struct world w;

/* A command from that time on. */
static void command(uint64_t ticks, bool record)
{
	fxt_sched_registry_add_command(
	        &w.registry, FXT_CLOCK_MONOTONIC, (struct fxt_sched_command){.record = record});
	w.registry.commands[w.registry.command_count - 1].ticks = ticks;
}

static int make_world(void **state)
{
	(void)state;
	w = (struct world){
	        .cpu = {.number = 3, .log = &w.log, .registry = &w.registry, .blocked = &w.blocked}};
	w.control = mmap(NULL, FXT_CONTROL_BYTES, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	fxt_sched_registry_open(&w.registry);
	fxt_sched_registry_add_process(
	        &w.registry, (struct fxt_sched_process){PID, PID, PID, 0, w.control, 0});
	command(0, true);
	return w.control == MAP_FAILED || fxt_sched_log_open(&w.log, true) != 0 ? -1 : 0;
}

static int unmake_world(void **state)
{
	(void)state;
	fxt_sched_registry_close(&w.registry);
	fxt_sched_log_close(&w.log);
	return munmap(w.control, FXT_CONTROL_BYTES);
}

static void happens(enum fxt_perf_kind kind, uint32_t tid, uint64_t ticks)
{
	fxt_sched_cpu_take(
	        &w.cpu, &(struct fxt_perf_record){.kind = kind, .pid = PID, .tid = tid, .lost = 5}, ticks);
}

/* The threads begin to record. */
static void attach(uint32_t tid, uint16_t uses)
{
	*fxt_tid_uses(w.control, tid) = uses;
}

static void log_is(const struct fxt_sched_event *expected, size_t count)
{
	assert_int_equal(w.log.end - w.log.begin, count);
	for (size_t i = 0; i < count; i++) {
		const struct fxt_sched_event *found = &w.log.items[(w.log.begin + i) % FXT_SCHED_LOG_MAX];

		assert_int_equal(found->ticks, expected[i].ticks);
		assert_int_equal(found->koid, expected[i].koid);
		assert_int_equal(found->cpu, 3);
		assert_int_equal(found->in, expected[i].in);
		if (!expected[i].in)
			assert_int_equal(found->state, expected[i].state);
	}
}

#define LOG_IS(...)                                                    \
	do {                                                           \
		const struct fxt_sched_event expected[] = __VA_ARGS__; \
		log_is(expected, COUNT(expected));                     \
	} while (0)
#define CAME(at, who)                                    \
	{                                                \
		.ticks = (at), .koid = (who), .in = true \
	}
#define LEFT(at, who, left_state)                                                    \
	{                                                                            \
		.ticks = (at), .koid = (who), .state = FXT_THREAD_STATE_##left_state \
	}

static void threads_come_and_go(void **state)
{
	(void)state;
	attach(TID, 1);
	attach(OTHER, 1);
	happens(FXT_PERF_IN, TID, 10);
	happens(FXT_PERF_OUT, TID, 20);
	happens(FXT_PERF_IN, OTHER, 21);
	happens(FXT_PERF_PREEMPTED, OTHER, 30);
	happens(FXT_PERF_IN, TID, 31);
	happens(FXT_PERF_EXIT, TID, 40);
	LOG_IS({CAME(10, TID), LEFT(20, TID, BLOCKED), CAME(21, OTHER), LEFT(30, OTHER, RUNNING),
	        CAME(31, TID), LEFT(40, TID, DEAD)});
}

/* One that comes to record while it runs came when it did; one that never does is not
 * there, nor is the thread of an untraced process, nor what was before the process was
 * traced. */
static void only_those_of_the_trace(void **state)
{
	struct fxt_perf_record foreign = {.kind = FXT_PERF_IN, .pid = PID + 1, .tid = TID};

	(void)state;
	happens(FXT_PERF_IN, TID, 10);
	fxt_sched_cpu_reached(&w.cpu, 11);
	LOG_IS({});
	attach(TID, 1);
	fxt_sched_cpu_reached(&w.cpu, 12);
	LOG_IS({CAME(10, TID)});
	fxt_sched_cpu_reached(&w.cpu, 13);
	happens(FXT_PERF_OUT, TID, 20);
	happens(FXT_PERF_IN, OTHER, 21);
	happens(FXT_PERF_OUT, OTHER, 22);
	fxt_sched_cpu_take(&w.cpu, &foreign, 23);
	foreign.kind = FXT_PERF_OUT;
	fxt_sched_cpu_take(&w.cpu, &foreign, 24);
	LOG_IS({CAME(10, TID), LEFT(20, TID, BLOCKED)});
}

/* A thread that runs while its process becomes part of the trace came to its CPU then, as
 * far as the trace is concerned: it may run on for long. One that had left its CPU before
 * is not there. */
static void before_the_process_is_traced(void **state)
{
	(void)state;
	fxt_sched_registry_remove_process(&w.registry, w.control);
	fxt_sched_registry_add_process(
	        &w.registry, (struct fxt_sched_process){PID, PID, PID, 100, w.control, 0});
	attach(TID, 1);
	happens(FXT_PERF_IN, TID, 80);
	happens(FXT_PERF_OUT, TID, 85);
	happens(FXT_PERF_IN, TID, 90);
	fxt_sched_cpu_reached(&w.cpu, 99);
	LOG_IS({});
	fxt_sched_cpu_reached(&w.cpu, 101);
	LOG_IS({CAME(100, TID)});
	happens(FXT_PERF_OUT, TID, 102);
	happens(FXT_PERF_IN, TID, 103);
	fxt_sched_cpu_reached(&w.cpu, 104);
	LOG_IS({CAME(100, TID), LEFT(102, TID, BLOCKED), CAME(103, TID)});
}

/* The kernel gives the number of a dead thread to a new one, which is another thread in the
 * trace. */
static void a_number_used_again(void **state)
{
	const uint64_t second = TID + (UINT64_C(1) << 22);

	(void)state;
	attach(TID, 1);
	happens(FXT_PERF_IN, TID, 10);
	happens(FXT_PERF_EXIT, TID, 20);
	happens(FXT_PERF_IN, TID, 30);
	fxt_sched_cpu_reached(&w.cpu, 31); /* it is not the first one, and not yet the second */
	LOG_IS({CAME(10, TID), LEFT(20, TID, DEAD)});
	attach(TID, 2);
	happens(FXT_PERF_OUT, TID, 40);
	LOG_IS({CAME(10, TID), LEFT(20, TID, DEAD), CAME(30, second), LEFT(40, second, BLOCKED)});
}

/* A CPU has one thread, whatever the kernel lost. */
static void records_lost(void **state)
{
	(void)state;
	attach(TID, 1);
	attach(OTHER, 1);
	happens(FXT_PERF_IN, TID, 10);
	happens(FXT_PERF_LOST, 0, 20);
	happens(FXT_PERF_IN, OTHER, 30);
	happens(FXT_PERF_LOST, 0, 40);
	happens(FXT_PERF_OUT, TID, 50);
	assert_int_equal(w.log.lost, 10);
	LOG_IS({CAME(10, TID), LEFT(30, TID, SUSPENDED), CAME(30, OTHER), LEFT(50, OTHER, SUSPENDED),
	        LEFT(50, TID, BLOCKED)});
}

static void recording_stops_and_starts(void **state)
{
	(void)state;
	attach(TID, 1);
	attach(OTHER, 1);
	command(20, false);
	command(40, true);
	happens(FXT_PERF_IN, TID, 10);
	happens(FXT_PERF_OUT, TID, 25);
	happens(FXT_PERF_IN, OTHER, 30);
	happens(FXT_PERF_OUT, OTHER, 50);
	LOG_IS({CAME(10, TID), LEFT(20, TID, SUSPENDED), CAME(40, OTHER), LEFT(50, OTHER, BLOCKED)});
}

/* The time of a command is in ticks, and the times of records are converted: a record that
 * was read already may be a little later than the command. No thread leaves a CPU before it
 * came. */
static void a_command_behind_a_record(void **state)
{
	(void)state;
	attach(TID, 1);
	happens(FXT_PERF_IN, TID, 30);
	command(29, false);
	command(29, true);
	happens(FXT_PERF_OUT, TID, 40);
	LOG_IS({CAME(30, TID), LEFT(30, TID, SUSPENDED), CAME(30, TID), LEFT(40, TID, BLOCKED)});
}

static uint32_t commander; /* its thread id */

static void *give_command(void *unused)
{
	store_release(&commander, (uint32_t)gettid());
	fxt_sched_registry_add_command(
	        &w.registry, FXT_CLOCK_MONOTONIC, (struct fxt_sched_command){.record = true});
	return unused;
}

/* Whether a thread of ours sleeps. */
static bool is_asleep(uint32_t tid)
{
	char path[64], line[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%u/stat", tid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	return strstr(line, ") S ") != NULL;
}

/* The thread that gives a command is held up, and at that time a reader finds no command
 * and reads events. Their times must be before the command's: otherwise the command would
 * lose them. */
static void a_reader_that_does_not_see_the_command_yet(void **state)
{
	pthread_t thread;
	uint64_t taken;

	(void)state;
	pthread_mutex_lock(&w.registry.lock);
	assert_int_equal(pthread_create(&thread, NULL, give_command, NULL), 0);
	while (!load_acquire(&commander) || !is_asleep(commander))
		sched_yield();
	taken = fxt_monotonic_ns();
	pthread_mutex_unlock(&w.registry.lock);
	pthread_join(thread, NULL);
	assert_true(w.registry.commands[w.registry.command_count - 1].ticks >= taken);
}

/* ---- the log ---- */

/* A thread came, and others went on and on, until the log had lost how it came. */
static void the_last_are_kept(void **state)
{
	struct fxt_sched_event older;

	(void)state;
	attach(TID, 1);
	happens(FXT_PERF_IN, TID, 10);
	fxt_sched_cpu_reached(&w.cpu, 11);
	for (uint64_t i = 1; i < FXT_SCHED_LOG_MAX; i++)
		fxt_sched_log_put(&w.log, (struct fxt_sched_event){.ticks = 100 + i, .koid = OTHER});
	assert_false(fxt_sched_cpu_is_older(&w.cpu, &older));
	fxt_sched_log_put(&w.log, (struct fxt_sched_event){.ticks = 99, .koid = OTHER});
	assert_true(fxt_sched_cpu_is_older(&w.cpu, &older));
	assert_int_equal(older.ticks, 10);
	assert_int_equal(older.koid, TID);
	assert_int_equal(w.log.end - w.log.begin, FXT_SCHED_LOG_MAX);
	assert_int_equal(w.log.lost, 0);
	fxt_sched_log_forget(&w.log, 100 + FXT_SCHED_LOG_MAX - 1);
	assert_int_equal(w.log.end - w.log.begin, 1);
}

/* The same after others were forgotten, which were before it in the log. */
static void a_start_that_clears(void **state)
{
	struct fxt_sched_event older;

	(void)state;
	attach(TID, 1);
	for (uint64_t i = 0; i < 1000; i++)
		fxt_sched_log_put(&w.log, (struct fxt_sched_event){.ticks = 5, .koid = OTHER});
	happens(FXT_PERF_IN, TID, 10);
	fxt_sched_cpu_reached(&w.cpu, 11);
	fxt_sched_log_forget(&w.log, 10);
	LOG_IS({CAME(10, TID)});
	for (uint64_t i = 1; i < FXT_SCHED_LOG_MAX; i++)
		fxt_sched_log_put(&w.log, (struct fxt_sched_event){.ticks = 100 + i, .koid = OTHER});
	assert_false(fxt_sched_cpu_is_older(&w.cpu, &older));
	fxt_sched_log_put(&w.log, (struct fxt_sched_event){.ticks = 99, .koid = OTHER});
	assert_true(fxt_sched_cpu_is_older(&w.cpu, &older));
	assert_int_equal(older.ticks, 10);
}

static void or_the_first(void **state)
{
	(void)state;
	w.log.keeps_last = false;
	for (uint64_t i = 0; i < FXT_SCHED_LOG_MAX + 7; i++)
		fxt_sched_log_put(&w.log, (struct fxt_sched_event){.ticks = i, .koid = TID});
	assert_int_equal(w.log.end - w.log.begin, FXT_SCHED_LOG_MAX);
	assert_int_equal(w.log.items[0].ticks, 0);
	assert_int_equal(w.log.lost, 7);
}

/* More than a block of records; what the reader sums up is known: the thread runs 3 of
 * every 10 ns, could run for 2, and waits for 5. */
static void into_an_archive(void **state)
{
	enum { TURNS = 700 };
	struct fxt_archive_provider provider = {.id = 9};
	struct fxt_archive_writer archive;
	struct fxt_archive read;
	struct fxt_switches switches;
	FILE *file = tmpfile();
	uint64_t *words;

	(void)state;
	for (uint64_t at = 0; at < TURNS * 10; at += 10) {
		fxt_sched_log_put(&w.log, (struct fxt_sched_event)CAME(at, TID));
		fxt_sched_log_put(&w.log, (struct fxt_sched_event)LEFT(at + 1, TID, RUNNING));
		fxt_sched_log_put(&w.log, (struct fxt_sched_event)CAME(at + 3, TID));
		fxt_sched_log_put(&w.log, (struct fxt_sched_event)LEFT(at + 5, TID, BLOCKED));
	}
	fxt_archive_name(&provider, "scheduler", 9);
	fxt_archive_begin(&archive, fileno(file), "test", NULL);
	fxt_sched_log_introduce(&archive, &provider, 1000000000);
	fxt_sched_log_write(&w.log, &archive, &provider);

	words = malloc(archive.bytes);
	assert_int_equal(pread(fileno(file), words, archive.bytes, 0), archive.bytes);
	read = (struct fxt_archive){.words = words, .bytes = archive.bytes};
	fxt_switches_read(&switches, &read, 0, 0);
	assert_int_equal(switches.count, 1);
	assert_non_null(fxt_switches_of(&switches, TID));
	assert_null(fxt_switches_of(&switches, OTHER));
	assert_int_equal(switches.threads[0].running, 3 * TURNS);
	assert_int_equal(switches.threads[0].runnable, 2 * TURNS);
	assert_int_equal(switches.threads[0].blocked, 5 * (TURNS - 1));
	assert_int_equal(switches.threads[0].switches, 2 * TURNS);
	fxt_switches_free(&switches);
	free(words);
	fclose(file);
}

/* Events of the only thread. */
static void name_thread(uint64_t koid, const char *name)
{
	struct fxt_thread_slot *slot = fxt_control_slot(w.control, 0);

	slot->koid = koid;
	strcpy(slot->name, name);
	slot->state = FXT_SLOT_LIVE;
	w.control->slots_used = 1;
}

/* Faults, as instant events of their threads, on rows of their own; and how many more there
 * were. */
static void faults_into_an_archive(void **state)
{
	struct fxt_archive_provider provider = {.id = 9};
	struct fxt_archive_writer archive;
	struct fxt_archive read;
	struct fxt_cursor cursor;
	struct fxt_tables tables;
	struct fxt_faults faults;
	struct fxt_record r;
	struct fxt_view view;
	struct fxt_sched_tracks rows = {0};
	FILE *file = tmpfile();
	uint64_t *words, before;

	(void)state;
	fxt_archive_name(&provider, "scheduler", 9);
	fxt_archive_begin(&archive, fileno(file), "test", NULL);
	fxt_sched_log_introduce(&archive, &provider, 1000000000);
	uint64_t row = fxt_sched_tracks_koid(&rows, (struct fxt_koids){PID, TID});

	assert_int_not_equal(row, TID);
	assert_int_equal(fxt_sched_tracks_koid(&rows, (struct fxt_koids){PID, TID}), row);
	for (uint64_t at = 0; at < FXT_SCHED_LOG_MAX + 5; at++)
		fxt_sched_log_put(&w.log, (struct fxt_sched_event){.ticks = at, .koid = row, .process = PID});
	name_thread(TID, "early");
	fxt_sched_tracks_name(&rows, w.control);
	fxt_sched_tracks_write_new(&rows, &archive, &provider);
	fxt_sched_log_write(&w.log, &archive, &provider);
	fxt_sched_log_write_missing(&w.log, &archive, &provider);
	before = archive.bytes;
	fxt_sched_tracks_name(&rows, w.control);
	fxt_sched_tracks_write_new(&rows, &archive, &provider);
	assert_int_equal(archive.bytes, before);
	name_thread(TID, "late");
	fxt_sched_tracks_name(&rows, w.control);
	fxt_sched_tracks_write_new(&rows, &archive, &provider);

	words = malloc(archive.bytes);
	assert_int_equal(pread(fileno(file), words, archive.bytes, 0), archive.bytes);
	read = (struct fxt_archive){.words = words, .bytes = archive.bytes};
	cursor = fxt_cursor(&read);
	fxt_tables_init(&tables);
	fxt_faults_init(&faults);
	while (fxt_next(&cursor, &r)) {
		assert_null(fxt_decode(&r, &view));
		fxt_tables_apply(&tables, &view);
		fxt_faults_record(&faults, &tables, &view);
	}
	fxt_faults_finish(&faults);
	assert_int_equal(tables.thread_count, 2);
	assert_int_equal(tables.threads[1].process, PID);
	assert_int_equal(tables.threads[1].thread, TID);
	assert_int_equal(fxt_faults_at(&faults, 1, UINT64_MAX), FXT_SCHED_LOG_MAX);
	assert_int_equal(fxt_faults_at(&faults, 1, 100), 95); /* the first five made room */
	assert_true(faults.has_missing);
	assert_true(
	        fxt_span_is(fxt_tables_object_text(&tables, FXT_OBJECT_THREAD, row), "late: page faults"));
	fxt_sched_tracks_free(&rows);
	fxt_faults_free(&faults);
	fxt_tables_free(&tables);
	free(words);
	fclose(file);
}

/* A fault is recorded if anything was at its time, however late it is read. */
static void when_anything_is_recorded(void **state)
{
	uint64_t since = 30;

	(void)state;
	attach(TID, 1);
	command(20, false);
	command(40, true);
	assert_true(fxt_sched_registry_is_recording(&w.registry, 19));
	assert_false(fxt_sched_registry_is_recording(&w.registry, 20));
	assert_false(fxt_sched_registry_is_recording(&w.registry, 39));
	assert_true(fxt_sched_registry_is_recording(&w.registry, 40));
	struct fxt_koids koids = fxt_sched_registry_koids(&w.registry, PID, TID, &since, since);

	assert_int_equal(koids.process, PID);
	assert_int_equal(koids.thread, TID);
}

/* ---- all CPUs ---- */

/* Threads go from CPU to CPU and end, before any of that is read: everything is reported in
 * the order of time (a stay counts at its end, because only then it is logged). */
static void a_thread_that_ended_ran_elsewhere(void **state)
{
	enum { CPUS = 7, STAYS = 12, STEP = 100 };
	struct fxt_perf_ring rings[CPUS];
	struct fxt_sched_cpu cpus[CPUS];
	struct fxt_sched_head heads[CPUS];
	uint64_t ends[CPUS], start = fxt_clock_ticks(FXT_CLOCK_MONOTONIC) - 1000000, latest = 0, ended;
	struct fxt_sched s = {.is_begun = true,
	        .clock = FXT_CLOCK_MONOTONIC,
	        .mode = FXT_ONESHOT,
	        .lock = PTHREAD_MUTEX_INITIALIZER,
	        .perf = {.rings = rings, .count = CPUS},
	        .cpus = cpus,
	        .ends = ends,
	        .heads = heads,
	        .registry = w.registry};

	for (unsigned i = 0; i < CPUS; i++) {
		assert_int_equal(make_ring(state), 0);
		ring.cpu = i;
		rings[i] = ring;
		cpus[i] = (struct fxt_sched_cpu){
		        .number = (uint16_t)i, .log = &w.log, .registry = &s.registry, .blocked = &s.blocked};
		attach(TID + i, 1);
	}
	for (unsigned stay = 0; stay < STAYS; stay++)
		for (unsigned thread = 0; thread < CPUS; thread++) {
			uint64_t came = start + (stay * CPUS + thread) * STEP, left = came + STEP / 2;

			ring = rings[(2 * (CPUS - thread) + stay) % CPUS];
			put_in(TID + thread, came);
			if (stay < STAYS - 1)
				put_out(TID + thread, left, false);
			else
				put_record(PERF_RECORD_EXIT, 0, 56, 0, TID + thread, left);
		}
	ended = fxt_sched_end_of(&s, w.control);
	assert_int_equal(w.log.end - w.log.begin, CPUS * STAYS * 2);
	for (uint64_t i = w.log.begin; i < w.log.end; i++)
		if (!w.log.items[i].in) {
			assert_true(w.log.items[i].ticks > latest);
			latest = w.log.items[i].ticks;
		}
	assert_int_equal(ended, latest);
	for (unsigned i = 0; i < CPUS; i++) {
		ring = rings[i];
		unmake_ring(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(every_kind, make_ring, unmake_ring),
	        cmocka_unit_test_setup_teardown(round_the_ring, make_ring, unmake_ring),
	        cmocka_unit_test_setup_teardown(broken_ring, make_ring, unmake_ring),
	        cmocka_unit_test_setup_teardown(threads_come_and_go, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(only_those_of_the_trace, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(before_the_process_is_traced, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(a_number_used_again, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(records_lost, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(recording_stops_and_starts, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(a_command_behind_a_record, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(
	                a_reader_that_does_not_see_the_command_yet, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(the_last_are_kept, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(a_start_that_clears, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(or_the_first, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(into_an_archive, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(faults_into_an_archive, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(when_anything_is_recorded, make_world, unmake_world),
	        cmocka_unit_test_setup_teardown(a_thread_that_ended_ran_elsewhere, make_world, unmake_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
