/*
 * The output and status of fxt's commands, as far as people and scripts rely on them; and
 * no broken archive makes one of them crash or hang.
 */
#include "random.h"
#include "trace.h"

#include <sys/mman.h>
#include <unistd.h>
#include "fxt/commands.h"

static struct trace trace;

/* ---- running a command ---- */

typedef int command(int argc, char **argv);

static char printed[1 << 16], complained[1 << 12];
static int saved[3];

static void redirect(int fd, int to)
{
	saved[fd] = dup(fd);
	dup2(to, fd);
	close(to);
}

static void restore(int fd, char *text, size_t room)
{
	ssize_t got = text ? pread(fd, text, room - 1, 0) : 0;

	if (text)
		text[got > 0 ? got : 0] = '\0';
	dup2(saved[fd], fd);
	close(saved[fd]);
}

/* Runs a command on bytes that it gets through a pipe, and so holds in memory of their
 * size. */
static int run_on(const void *bytes, size_t count, command *run, char **argv)
{
	int argc = 0, ends[2];

	while (argv[argc])
		argc++;
	assert_int_equal(pipe(ends), 0);
	assert_true(write(ends[1], bytes, count) == (ssize_t)count);
	close(ends[1]);
	fflush(stdout);
	redirect(STDIN_FILENO, ends[0]);
	redirect(STDOUT_FILENO, memfd_create("stdout", 0));
	redirect(STDERR_FILENO, memfd_create("stderr", 0));
	int status = run(argc, argv);

	fflush(stdout);
	restore(STDIN_FILENO, NULL, 0);
	restore(STDOUT_FILENO, printed, sizeof(printed));
	restore(STDERR_FILENO, complained, sizeof(complained));
	return status;
}

/* RUN("report", "--threads") runs fxt_command_report on the trace. */
#define RUN(name, ...) \
	run_on(trace.words, trace.count * 8, fxt_command_##name, (char *[]){#name, ##__VA_ARGS__, "-", NULL})

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* Makes one blank of many, and none of those before a line. */
static void squeeze(char *to, const char *text)
{
	bool is_start = true;

	for (; *text; text++) {
		if (*text == ' ' && (is_start || text[1] == ' '))
			continue;
		is_start = *text == '\n';
		*to++ = *text;
	}
	*to = '\0';
}

/* Asserts that the lines appear in this order, with anything between them, however their
 * columns are aligned. */
static void has_lines(const char *const *lines, size_t count)
{
	static char squeezed[sizeof(printed)], wanted[1024];
	const char *at = squeezed;

	squeeze(squeezed, printed);
	for (size_t i = 0; i < count; i++) {
		squeeze(wanted, lines[i]);
		const char *line = strstr(at, wanted);

		while (line && ((line > squeezed && line[-1] != '\n') || line[strlen(wanted)] != '\n'))
			line = strstr(line + 1, wanted);
		if (!line)
			fail_msg("no line \"%s\" where it belongs in:\n%s", lines[i], printed);
		at = line + strlen(wanted);
	}
}

#define HAS_LINES(...)                                                     \
	do {                                                               \
		static const char *const expected_lines[] = {__VA_ARGS__}; \
		has_lines(expected_lines, COUNT(expected_lines));          \
	} while (0)

/* ---- what they print ---- */

static void dump(void **state)
{
	(void)state;
	every_record(&trace);
	assert_int_equal(RUN(dump), FXT_DONE);
	assert_string_equal(complained, "");
	assert_int_equal(lines_of(printed), 38);
	HAS_LINES("0x00000000 magic", "0x00000008 provider-info id=1 name=\"program\"",
	        "0x00000018 initialization ticks_per_second=1000000000",
	        "0x00000028 string index=1 text=\"function\"", "0x00000078 thread index=1 thread=100/101",
	        "0x00000090 provider-event id=1 event=0 (buffer full)",
	        "0x00000098 kernel-object type=process koid=100 name=\"program\"",
	        "0x000000b0 kernel-object type=thread koid=101 name=\"main thread\" {process=koid:100}",
	        "0x000000e0 instant thread=100/101 time=1000 category=\"function\" name=\"main\" {key=null, "
	        "key=int32:-5, key=uint32:4000000000, key=int64:-5000000000, inline=uint64:10000000000, "
	        "key=double:0.5, key=\"main\", a long name=\"a long value\", key=\"\", "
	        "key=pointer:0xdeadbeef, "
	        "key=koid:100 \"program\", key=true, key=false, key=blob:9, key=blob:0}",
	        "0x00000258 duration-complete thread=100/101 time=1003 end=1005 category=\"function\" "
	        "name=\"main\"",
	        "0x00000398 blob name=\"blob\" type=1 bytes=9",
	        "0x00000408 userspace-object process=100 pointer=0x1234 name=\"main\"",
	        "0x00000420 context-switch time=1009 cpu=3 out=101 state=3 in=102 {incoming_weight=int32:7}",
	        "0x00000458 thread-wakeup time=1010 cpu=3 thread=101",
	        "0x00000470 legacy-context-switch time=1011 cpu=3 out=100/101 state=5 priority=1 in=100/102 "
	        "priority=2",
	        "0x00000490 log thread=100/101 time=1012 text=\"hello, world\"",
	        "0x00000510 large-blob category=\"function\" name=\"large\" bytes=9",
	        "0x00000560 provider-section id=1");
}

/* Names are shown on one line whatever they hold; references to nothing and malformed
 * records have a line. */
static void dump_of_odd_records(void **state)
{
	static const uint64_t words[] = {0x0009000502040034, 10, 20, 0x11, 0x0000000000000004};

	(void)state;
	begin_trace(&trace);
	put_text(&trace, 7, "a\n\"b\"\\\x1b[31m\xff\xc3\xa4");
	put_words(&trace, words, COUNT(words));
	assert_int_equal(RUN(dump), FXT_BROKEN);
	HAS_LINES("0x00000090 string index=7 text=\"a\\n\\\"b\\\"\\\\\\x1b[31m\\xff\xc3\xa4\"",
	        "0x000000a8 duration-complete thread=?2 time=10 end=20 category=\"fxt\" name=?9",
	        "0x000000c0 initialization malformed: record is shorter than its contents");
	assert_string_equal(
	        complained, "fxt: -: offset 0xc8: record of size 0, so nothing after it can be found\n");
}

static void check(void **state)
{
	(void)state;
	every_record(&trace);
	assert_int_equal(RUN(check), FXT_DONE);
	assert_string_equal(printed, "-: ok, 38 records\n");
	put_words(&trace, (const uint64_t[]){0x0000000000a20010, 0x11}, 2);
	for (uint64_t i = 0; i < 12; i++)
		put_words(&trace, (const uint64_t[]){0x11}, 1);
	assert_int_equal(RUN(check), FXT_BROKEN);
	assert_int_equal(lines_of(printed), 1 + 10 + 2);
	HAS_LINES("-: offset 0x578: section of a provider never announced (provider 10)",
	        "-: offset 0x580: record is shorter than its contents",
	        "-: offset 0x588: record is shorter than its contents",
	        "-: offset 0x5c8: record is shorter than its contents",
	        "-: 3 more: record is shorter than its contents", "-: not ok, 14 violations in 52 records");
	assert_string_equal(complained, "");
}

/* Records of an unknown type, or of an unknown kind of a type, are skipped alike: every
 * command goes on after them, and counts them once. */
static void unknown_records(void **state)
{
	(void)state;
	begin_trace(&trace);
	put_words(&trace, (const uint64_t[]){0x2a, 1, 0x3000000000000038, 10, 0, 0x0000000000050010}, 6);
	assert_int_equal(RUN(dump), FXT_DONE);
	HAS_LINES("0x00000090 unknown type=10 words=2", "0x000000a0 unknown type=8 kind=3 words=3",
	        "0x000000b8 unknown type=0 kind=5 words=1");
	assert_string_equal(complained, "");
	assert_int_equal(RUN(info), FXT_DONE);
	HAS_LINES("           3  unknown");
	assert_int_equal(RUN(report), FXT_DONE);
	assert_string_equal(
	        complained, "fxt: -: has 3 records of a kind that this fxt does not know; see fxt check\n");
	assert_int_equal(RUN(check), FXT_DONE);
	assert_string_equal(printed, "-: offset 0x90: warning: unknown type of record (type 10)\n"
	                             "-: offset 0xa0: warning: unknown type of record (type 8, kind 3)\n"
	                             "-: offset 0xb8: warning: unknown type of record (type 0, kind 5)\n"
	                             "-: ok, 12 records, 3 warnings\n");
}

/* Violations are reported in the order of the file, whenever they are found: here only at
 * the end. */
static void check_in_order(void **state)
{
	static const uint64_t words[] = {0x0002000101020024, 15, 0x0002000101040034, 10, 20, 0x1a};

	(void)state;
	begin_trace(&trace);
	put_words(&trace, words, COUNT(words));
	assert_int_equal(RUN(check), FXT_BROKEN);
	assert_string_equal(printed, "-: offset 0x90: slice overlaps another one of its thread (thread 101)\n"
	                             "-: offset 0xb8: warning: unknown type of record (type 10)\n"
	                             "-: not ok, 1 violation in 12 records, 1 warning\n");
}

static void call(const char *name, uint64_t start, uint64_t end)
{
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), INDEX(FUNCTION),
	        fxt_string_text(name), start, NO_ARGUMENTS, end);
}

#define HEADER                                                                                               \
	"calls       total        self         avg         p50         p90         p99         min         " \
	"max  function"
#define ALPHA                                                                                         \
	"    3  600.000 us  600.000 us  200.000 us   20.000 us  560.000 us  560.000 us   20.000 us  " \
	"560.000 "                                                                                    \
	"us  alpha"
#define BETA                                                                                          \
	"    1  500.000 us  500.000 us  500.000 us  500.000 us  500.000 us  500.000 us  500.000 us  " \
	"500.000 "                                                                                    \
	"us  beta"
#define MAIN                                                                                            \
	"    1    1.200 ms  100.000 us    1.200 ms    1.200 ms    1.200 ms    1.200 ms    1.200 ms    " \
	"1.200 "                                                                                        \
	"ms  main"

static void report(void **state)
{
	(void)state;
	begin_trace(&trace);
	call("alpha", 10000, 30000);
	call("alpha", 40000, 60000);
	call("beta", 100000, 600000);
	call("alpha", 600001, 1160001);
	call("main", 0, 1200000);
	assert_int_equal(RUN(report), FXT_DONE);
	assert_string_equal(complained, "");
	assert_string_equal(printed, "-: 5 calls of 3 functions in 1 thread, 1.200 ms\n\n" HEADER "\n" MAIN
	                             "\n" ALPHA "\n" BETA "\n");
	RUN(report, "--sort=total");
	HAS_LINES(HEADER, MAIN, ALPHA, BETA);
	RUN(report, "--sort=self");
	HAS_LINES(HEADER, ALPHA, BETA, MAIN);
	RUN(report, "--sort=calls");
	HAS_LINES(HEADER, ALPHA, BETA, MAIN);
	RUN(report, "--sort", "avg");
	HAS_LINES(HEADER, MAIN, BETA, ALPHA);
	RUN(report, "--sort=max");
	HAS_LINES(HEADER, MAIN, ALPHA, BETA);
	RUN(report, "--sort=name");
	HAS_LINES(HEADER, ALPHA, BETA, MAIN);
	RUN(report, "--limit=2");
	assert_int_equal(lines_of(printed), 5);
	HAS_LINES(HEADER, MAIN, ALPHA);
}

static void report_corrected(void **state)
{
	struct fxt_argument cost[] = {fxt_argument_uint64(TEXT("within_ps"), 10000000),
	        fxt_argument_uint64(TEXT("around_ps"), 20000000),
	        fxt_argument_uint64(TEXT("error_ps"), 1000000)};

	(void)state;
	begin_trace(&trace);
	call("alpha", 10000, 30000);
	call("main", 0, 1200000);
	assert_int_equal(RUN(report, "--corrected"), FXT_FAILED);
	assert_string_equal(
	        complained, "fxt: - lacks the cost of recording; fxtrun --calibrate measures it\n");
	PUT(&trace, event, FXT_EVENT_INSTANT, fxt_thread_index(1), INDEX(TRACER), TEXT("fxt: cost of a call"),
	        0, cost, COUNT(cost), 0);
	assert_int_equal(RUN(report, "--corrected"), FXT_DONE);
	HAS_LINES("without the cost of recording: 10000.0 ns within and 20000.0 ns around each call, +/- "
	          "1000.0 ns",
	        "       calls        total          +/-         self          +/-  function",
	        "           1     1.160 ms     2.000 us     1.150 ms     2.000 us  main",
	        "           1    10.000 us     1.000 us    10.000 us     1.000 us  alpha");
}

static void report_by_thread(void **state)
{
	(void)state;
	every_record(&trace);
	assert_int_equal(RUN(report, "--threads"), FXT_DONE);
	HAS_LINES("-: ≥ 3 calls of 2 functions in 2 threads, 14 ns",
	        "thread 101 \"main thread\" of process 100 \"program\"",
	        "calls total self on CPU off CPU avg p50 p90 p99 min max function",
	        "≥ 1 ≥ 7 ns 5 ns - - 7 ns 7 ns 7 ns 7 ns 7 ns ≥ 7 ns b",
	        "thread 102 of process 100 \"program\"",
	        "≥ 1 ≥ 5 ns 5 ns 5 ns 0 ns 5 ns 5 ns 5 ns 5 ns 5 ns ≥ 5 ns main (1 not ended)",
	        "1 1 ns 1 ns - - 1 ns 1 ns 1 ns 1 ns 1 ns 1 ns fxt: records lost",
	        "12 records were lost: their calls are missing above");
}

/* Two calls of a forked child, inside two of its parent's: they took less than a tick. */
static void tree_of_inherited(void **state)
{
	(void)state;
	begin_trace(&trace);
	call("quick", 3000, 3000);
	call("quick", 4000, 4000);
	for (int i = 0; i < 2; i++)
		PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), TEXT("inherited"),
		        fxt_string_inline("main", 4), (uint64_t)(2000 - 1000 * i), NO_ARGUMENTS,
		        (uint64_t)(5000 + 1000 * i));
	assert_int_equal(RUN(tree, "--fold=0"), FXT_DONE);
	HAS_LINES("0.0% 0 ns 0 ns 0 main", "0.0% 0 ns 0 ns 0 main", "0.0% 0 ns 0 ns 2 quick");
	begin_trace(&trace);
	assert_int_equal(RUN(tree), FXT_DONE);
	HAS_LINES("-: 0 calls, 0 ns in all threads together");
}

static void info(void **state)
{
	struct fxt_argument overwritten = fxt_argument_uint64(TEXT("records"), 7);

	(void)state;
	every_record(&trace);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), INDEX(TRACER),
	        TEXT("fxt: waited"), 2000, NO_ARGUMENTS, 3500);
	PUT(&trace, event, FXT_EVENT_INSTANT, fxt_thread_index(1), INDEX(TRACER),
	        TEXT("fxt: 7 records overwritten"), 2000, &overwritten, 1, 0);
	PUT(&trace, kernel_object, FXT_OBJECT_PROCESS, 50, TEXT("idle"), NO_ARGUMENTS);
	PUT(&trace, thread, 7, 60, 61);
	assert_int_equal(RUN(info, "--csv"), FXT_DONE);
	HAS_LINES("trace,1560,42,2500,3,120,12,7,2,1,1,1500,0", "providers,\"program\",100,1000000000",
	        "providers,\"other\",,2400000000", "threads,50,\"idle\",,,", "threads,60,,61,,0",
	        "threads,100,\"program\",101,\"main thread\",13", "threads,100,\"program\",102,,3",
	        "records,\"magic\",1", "records,\"duration-complete\",3");
	assert_int_equal(RUN(info), FXT_DONE);
	assert_string_equal(complained, "");
	HAS_LINES("-: 1560 bytes, 42 records, 2.500 us", "3 calls, 40.0 bytes a call",
	        "lost: 12 records, overwritten: 7, in 2 gaps; buffer full: 1 time",
	        "waited: 1 time, 1.500 us in all", "provider \"program\", process 100: 1000000000 ticks/s",
	        "provider \"other\": 2400000000 ticks/s", "process 50 \"idle\"", "process 60",
	        "  thread 61: 0 events", "process 100 \"program\"", "  thread 101 \"main thread\": 13 events",
	        "  thread 102: 3 events", "           1  magic", "           5  string",
	        "           3  duration-complete", "           1  flow-step", "           2  large-blob");
}

/* The time of waits and children is not that of a call, in any command; a call's bytes are
 * those of its own records. */
static void calls_and_waits(void **state)
{
	(void)state;
	begin_trace(&trace);
	call("alpha", 10000, 30000);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), TEXT("sync"), TEXT("wait"),
	        11000, NO_ARGUMENTS, 12000);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), TEXT("process"), TEXT("waitpid"),
	        13000, NO_ARGUMENTS, 14000);
	put_words(&trace, (uint64_t[]){0x0002000101040034, 20000, 19000}, 3);
	assert_int_equal(RUN(info), FXT_DONE);
	HAS_LINES("1 call, 32.0 bytes a call");
	RUN(report);
	HAS_LINES("-: ≥ 1 call of 1 function in 1 thread, 20.000 us");
}

/* Plain calls of two threads and categories in turn, in no order; what is the tracer's is
 * no call. */
static void calls_in_rows(void **state)
{
	(void)state;
	begin_trace(&trace);
	PUT(&trace, thread, 2, PROCESS, 102);
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t thread = 1 + i / 10 % 2, category = i % 25 == 24 ? TRACER : NAME,
		         start = 40500 + 500 * ((i * 37 + 63) % 100);

		put_words(&trace,
		        (uint64_t[]){0x0001000000040034 | category << 32 | thread << 24, start, start + 400},
		        3);
	}
	put_words(&trace, (uint64_t[]){0x0001000201040034, 50000, 60000}, 3);
	assert_int_equal(RUN(info), FXT_DONE);
	HAS_LINES("-: 2592 bytes, 111 records, 49.900 us", "97 calls, 24.0 bytes a call",
	        "  thread 101: 51 events", "  thread 102: 50 events", "         101  duration-complete");
}

/* A process in every second record: providers of one name are one line. */
static void many_providers(void **state)
{
	(void)state;
	begin_trace(&trace);
	for (uint32_t i = 2; i < 300; i++) {
		PUT(&trace, provider_info, i, "bash", 4);
		PUT(&trace, kernel_object, FXT_OBJECT_PROCESS, 1000 + i, TEXT("bash"), NO_ARGUMENTS);
	}
	PUT(&trace, provider_info, UINT32_MAX, "scheduler", 9);
	assert_int_equal(RUN(info), FXT_DONE);
	HAS_LINES("provider \"program\", process 100: 1000000000 ticks/s",
	        "provider \"bash\", 298 processes: 1000000000 ticks/s",
	        "provider \"scheduler\": 1000000000 ticks/s");
}

/* ---- broken archives ---- */

static command *const all_commands[] = {
        fxt_command_dump, fxt_command_info, fxt_command_report, fxt_command_check};

static void run_all(const void *bytes, size_t count, int status[4])
{
	for (size_t i = 0; i < COUNT(all_commands); i++) {
		status[i] = run_on(bytes, count, all_commands[i], (char *[]){"command", "-", NULL});
		assert_in_range(status[i], FXT_DONE, FXT_FAILED);
	}
}

/* Truncated anywhere: every whole record before is dumped, and the truncation is
 * reported. */
static void cut_at_every_byte(void **state)
{
	static char whole[sizeof(printed)];
	int status[4];

	(void)state;
	every_record(&trace);
	assert_int_equal(RUN(dump), FXT_DONE);
	strcpy(whole, printed);
	for (size_t bytes = 8; bytes < trace.count * 8; bytes++) {
		run_all(trace.words, bytes, status);
		bool between = status[3] == FXT_DONE;

		for (int i = 0; i < 3; i++)
			assert_int_equal(status[i], between ? FXT_DONE : FXT_BROKEN);
		run_on(trace.words, bytes, fxt_command_dump, (char *[]){"dump", "-", NULL});
		assert_memory_equal(printed, whole, strlen(printed));
		assert_int_equal(strstr(complained, ": truncated inside a record\n") == NULL, between);
	}
}

/* Breaks a word: a bit, a small number in place of a field, all of it; or moves the end. */
static void mutate(uint64_t *words, size_t *bytes)
{
	static const uint64_t values[] = {0, 1, UINT64_MAX, UINT64_MAX >> 1, 0x8000800080008000};
	uint64_t *word = &words[random_below(trace.count)];

	switch (random_below(8)) {
	case 0:
	case 1:
	case 2:
		*word ^= UINT64_C(1) << random_below(64);
		break;
	case 3: /* a size */
		*word = (*word & ~UINT64_C(0xfff0)) | random_below(16) << 4;
		break;
	case 4:
		*word = (*word & ~UINT64_C(0xff)) | random_below(256);
		break;
	case 5:
		*word = values[random_below(COUNT(values))];
		break;
	case 6:
		*word = words[random_below(trace.count)];
		break;
	case 7:
		*bytes = 8 + random_below(*bytes - 7);
		break;
	}
}

static void mutations(void **state)
{
	static uint64_t words[COUNT(trace.words)];

	(void)state;
	alarm(600); /* a command that hangs */
	every_record(&trace);
	random_state = 88172645463325252;
	for (int round = 0; round < 8000; round++) {
		size_t bytes = trace.count * 8;
		int status[4];

		memcpy(words, trace.words, bytes);
		for (size_t i = 0; i <= random_below(4); i++)
			mutate(words, &bytes);
		run_all(words, bytes, status);
		/* Every command reads a trace that check accepts. */
		for (int i = 0; i < 3 && status[3] == FXT_DONE; i++)
			assert_int_equal(status[i], FXT_DONE);
	}
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(dump),
	        cmocka_unit_test(dump_of_odd_records),
	        cmocka_unit_test(check),
	        cmocka_unit_test(unknown_records),
	        cmocka_unit_test(check_in_order),
	        cmocka_unit_test(report),
	        cmocka_unit_test(report_by_thread),
	        cmocka_unit_test(report_corrected),
	        cmocka_unit_test(tree_of_inherited),
	        cmocka_unit_test(info),
	        cmocka_unit_test(calls_in_rows),
	        cmocka_unit_test(calls_and_waits),
	        cmocka_unit_test(many_providers),
	        cmocka_unit_test(cut_at_every_byte),
	        cmocka_unit_test(mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
