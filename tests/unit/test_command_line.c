/*
 * The command line of fxtrun: what each option means, and the exact words for what is
 * wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "launcher/fxtrun/command_line.h"
#include "launcher/fxtrun/option_words.h"

#define ARGV(...)                             \
	(char *[])                            \
	{                                     \
		"fxtrun", ##__VA_ARGS__, NULL \
	}

static char error[256];

static enum fxt_command_line_result parse(struct fxt_options *o, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	memset(o, 0xa5, sizeof(*o));
	*error = 0;
	return fxt_command_line_parse(o, argc, argv, error, sizeof(error));
}

static void defaults(void **state)
{
	struct fxt_options o;
	char **argv = ARGV("./prog", "-o", "x", "--help");

	(void)state;
	assert_int_equal(parse(&o, argv), FXT_COMMAND_LINE_RUN);
	assert_string_equal(o.output_file, "trace.fxt");
	assert_int_equal(o.buffer_bytes, 67108864);
	assert_int_equal(o.descendant_buffer_bytes, 16777216);
	assert_int_equal(o.buffering_mode, FXT_STREAMING);
	assert_int_equal(o.on_full, FXT_ON_FULL_BLOCK);
	assert_int_equal(o.categories.bytes, 0);
	assert_int_equal(o.follow, FXT_FOLLOW_FORK | FXT_FOLLOW_EXEC);
	assert_int_equal(o.duration_ns, 0);
	assert_false(o.detach || o.decouple);
	/* Arguments after the program are the program's. */
	assert_ptr_equal(o.program, argv + 1);
	assert_string_equal(o.program[3], "--help");
}

static void muting(void **state)
{
	static const char *const wrong[] = {
	        "--auto=", "--auto=0", "--auto=100", "--auto=-1", "--auto=5%", "--auto= 5", "--auto=x"};
	struct fxt_options o;

	(void)state;
	assert_int_equal(parse(&o, ARGV("--auto", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.muting_percent, 20);
	assert_true(o.calibrate);
	assert_int_equal(parse(&o, ARGV("--auto=99", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.muting_percent, 99);
	assert_int_equal(parse(&o, ARGV("p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.muting_percent, 0);
	assert_int_equal(parse(&o, ARGV("--auto", "--buffering-mode=oneshot", "p")), FXT_COMMAND_LINE_WRONG);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(parse(&o, ARGV((char *)wrong[i], "p")), FXT_COMMAND_LINE_WRONG);
		assert_non_null(strstr(error, ": must be a number of percent, from 1 to 99"));
	}
}

static void filters(void **state)
{
	struct fxt_options o;

	(void)state;
	assert_int_equal(
	        parse(&o, ARGV("-F", "a", "--not-under=b", "-D", "4094", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.filter.under, FXT_UNDER_ONLY | FXT_UNDER_NOT);
	assert_int_equal(o.depth_limit, 4094);
	fxt_record_filter_free(&o.filter);
	assert_int_equal(parse(&o, ARGV("-t", "a::b:1us", "-t2us", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.limits.min_duration_ns, 2000);
	assert_true(o.filter.has_limits);
	assert_true(fxt_options_elide_calls(&o));
	assert_int_equal(o.limits.first_counted, 0);
	assert_int_equal(parse(&o, ARGV("--max-calls=0", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.limits.first_counted, 1);
	assert_true(fxt_options_elide_calls(&o));
	fxt_record_filter_free(&o.filter);
	assert_int_equal(parse(&o, ARGV("--trigger=a>b:start", "--trigger=v<x::y>::get>2ms:snapshot/1s",
	                                   "--trigger=c>1us:terminate", "p")),
	        FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.trigger_count, 3);
	assert_string_equal(o.triggers[0].alert, "a>b");
	assert_int_equal(o.triggers[0].event, FXT_TRIGGER_ON_ALERT);
	assert_int_equal(o.triggers[1].event, FXT_TRIGGER_ON_LONG_CALL);
	assert_int_equal(o.triggers[1].pattern_bytes, strlen("v<x::y>::get"));
	assert_int_equal(o.triggers[1].call_ns, 2000000);
	assert_int_equal(o.triggers[1].every_ns, 1000000000);
	assert_int_equal(o.triggers[1].action, FXT_TRIGGER_SNAPSHOT);
	assert_int_equal(o.triggers[2].call_ns, 1000);
	assert_int_equal(o.filter.count, 2);
	assert_int_equal(o.filter.triggers, FXT_TRIGGERS_END);
	assert_false(o.filter.has_limits || fxt_options_elide_calls(&o));
	fxt_record_filter_free(&o.filter);
	assert_int_equal(parse(&o, ARGV("--trigger=f=begin:start/once-after=3", "--trigger=f=end:stop",
	                                   "--trigger=signal=SIGSEGV:snapshot/after=10ms/1h",
	                                   "--trigger=signal=KILL:stop", "--trigger=exit!=0:terminate", "p")),
	        FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.filter.triggers, FXT_TRIGGERS_BEGIN | FXT_TRIGGERS_END);
	assert_true(fxt_trigger_is_of_process(&o.triggers[0]) && fxt_trigger_is_of_process(&o.triggers[1]));
	assert_int_equal(o.triggers[0].once_after, 3);
	assert_int_equal(o.triggers[2].event, FXT_TRIGGER_ON_SIGNAL);
	assert_int_equal(o.triggers[2].number, 11);
	assert_int_equal(o.triggers[2].after_ns, 10000000);
	assert_int_equal(o.triggers[2].every_ns, UINT64_C(3600000000000));
	assert_int_equal(o.triggers[3].number, 9);
	assert_int_equal(o.triggers[4].event, FXT_TRIGGER_ON_OTHER_EXIT);
	fxt_record_filter_free(&o.filter);
	for (int i = 0; i < 17; i++) {
		static const char *const wrong[] = {"--trigger=x", "--trigger=:stop", "--trigger=f>1ms:start",
		        "--trigger==begin:start", "--trigger=f=begin:start/1s",
		        "--trigger=f=end:stop/after=1s", "--trigger=signal=NONE:stop",
		        "--trigger=signal=:stop", "--trigger=exit!=256:stop", "--trigger=exit=x:stop",
		        "--trigger=a:stop/once-after=0", "--trigger=a:stop/after=1",
		        "--trigger=a:stop/later=1", "--trigger=a>1ms:", "--trigger=>1ms:go",
		        "--trigger=a:stop/", "--trigger=fifteen_letters:stop"};

		assert_int_equal(parse(&o, ARGV((char *)wrong[i], "p")), FXT_COMMAND_LINE_WRONG);
		fxt_record_filter_free(&o.filter);
	}
	for (int i = 0; i < 4; i++) {
		static const char *const wrong[] = {"0", "8191", "-1", "2x"};

		assert_int_equal(parse(&o, ARGV("-D", (char *)wrong[i], "p")), FXT_COMMAND_LINE_WRONG);
		assert_non_null(strstr(error, "must be a number of calls, from 1 to 4094"));
	}
}

static void end_of_options(void **state)
{
	struct fxt_options o;

	(void)state;
	assert_int_equal(parse(&o, ARGV("-o", "a.fxt", "--", "--prog", "x")), FXT_COMMAND_LINE_RUN);
	assert_string_equal(o.output_file, "a.fxt");
	assert_string_equal(o.program[0], "--prog");
}

static void output_file(void **state)
{
	struct fxt_options o;

	(void)state;
	for (char ***argv = (char **[]){ARGV("-o", "d/x.fxt", "p"), ARGV("-od/x.fxt", "p"),
	             ARGV("--output-file=d/x.fxt", "p"), ARGV("--output-file", "d/x.fxt", "p"), NULL};
	        *argv; argv++) {
		assert_int_equal(parse(&o, *argv), FXT_COMMAND_LINE_RUN);
		assert_string_equal(o.output_file, "d/x.fxt");
	}
}

/* As a shell takes them, without variables and patterns. */
static void quotes(void **state)
{
	char text[] = " -o \"a 'b\"  'c\\d'\te\\ f\\\\g h\"\"i \"\" ", open[] = "a 'b", many[] = "a b c";
	char *found[8];
	int count;

	(void)state;
	assert_null(fxt_option_words(text, found, 8, &count));
	assert_int_equal(count, 6);
	assert_string_equal(found[0], "-o");
	assert_string_equal(found[1], "a 'b");
	assert_string_equal(found[2], "c\\d");
	assert_string_equal(found[3], "e f\\g");
	assert_string_equal(found[4], "hi");
	assert_string_equal(found[5], "");
	assert_null(found[6]);
	assert_string_equal(fxt_option_words(open, found, 8, &count), "has a quote that is not closed");
	assert_string_equal(fxt_option_words(many, found, 3, &count), "has too many words");
}

static void words(void **state)
{
	struct fxt_options o;

	(void)state;
	assert_int_equal(
	        parse(&o, ARGV("--buffering-mode=oneshot", "--on-full=drop", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.buffering_mode, FXT_ONESHOT);
	assert_int_equal(o.on_full, FXT_ON_FULL_DROP);
	assert_int_equal(
	        parse(&o, ARGV("--buffering-mode=circular", "--on-full=block", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.buffering_mode, FXT_CIRCULAR);
	assert_int_equal(o.on_full, FXT_ON_FULL_BLOCK);
	assert_int_equal(parse(&o, ARGV("--buffering-mode=streaming", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.buffering_mode, FXT_STREAMING);
}

static void buffer_sizes(void **state)
{
	static const struct {
		char *text;
		uint64_t bytes;
	} good[] = {{"--buffer-size=1", 1048576}, {"--buffer-size=64", 67108864}, {"--buffer-size=4K", 4096},
	        {"--buffer-size=12K", 12288}, {"--buffer-size=3M", 3145728}, {"--buffer-size=2G", 2147483648},
	        {"--buffer-size=4G", 4294967296}, {"--buffer-size=4096", 4294967296},
	        {"--buffer-size=4194304K", 4294967296}};
	struct fxt_options o;

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(parse(&o, ARGV(good[i].text, "p")), FXT_COMMAND_LINE_RUN);
		assert_int_equal(o.buffer_bytes, good[i].bytes);
		assert_int_equal(o.descendant_buffer_bytes, good[i].bytes);
	}
}

static void provider_buffer_sizes(void **state)
{
	struct fxt_options o;
	char *many[104] = {"fxtrun"};

	(void)state;
	assert_int_equal(parse(&o, ARGV("--provider-buffer-size=a:b:8K", "--provider-buffer-size=sh:1",
	                                   "--buffer-size=2", "--provider-buffer-size", "sh:3", "p")),
	        FXT_COMMAND_LINE_RUN);
	assert_int_equal(fxt_options_buffer_bytes(&o, "a:b", 3, true), 8192);
	assert_int_equal(fxt_options_buffer_bytes(&o, "sh", 2, false), 3145728);
	assert_int_equal(fxt_options_buffer_bytes(&o, "sh", 1, false), 2097152);
	assert_int_equal(fxt_options_buffer_bytes(&o, "ssh", 3, true), 2097152);
	assert_int_equal(parse(&o, ARGV("p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(fxt_options_buffer_bytes(&o, "sh", 2, true), 67108864);
	assert_int_equal(fxt_options_buffer_bytes(&o, "sh", 2, false), 16777216);

	for (int i = 1; i <= 101; i++)
		many[i] = "--provider-buffer-size=x:1";
	many[102] = "p";
	assert_int_equal(parse(&o, many), FXT_COMMAND_LINE_WRONG);
	many[101] = "p";
	assert_int_equal(parse(&o, many), FXT_COMMAND_LINE_RUN);
}

static void total_sizes(void **state)
{
	struct fxt_options o;

	(void)state;
	assert_int_equal(parse(&o, ARGV("p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(fxt_options_total_bytes(&o), 256 << 20);
	assert_int_equal(parse(&o, ARGV("--buffer-size=1M", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(fxt_options_total_bytes(&o), 256 << 20);
	assert_int_equal(parse(&o, ARGV("--buffer-size=100", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(fxt_options_total_bytes(&o), 400 << 20);
	assert_int_equal(parse(&o, ARGV("--total-size=5001K", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(fxt_options_total_bytes(&o), 5001 << 10);
	assert_int_equal(parse(&o, ARGV("--total-size=1023K", "p")), FXT_COMMAND_LINE_WRONG);
	assert_int_equal(parse(&o, ARGV("--total-size=1025G", "p")), FXT_COMMAND_LINE_WRONG);
}

static void durations(void **state)
{
	static const struct {
		char *text;
		uint64_t ns;
	} good[] = {{"--duration=1", 1000000000}, {"--duration=0.25", 250000000},
	        {"--duration=.5", 500000000}, {"--duration=100ms", 100000000},
	        {"--duration=2min", 120000000000}, {"--duration=20.", 20000000000},
	        {"--duration=1000000000", 1000000000000000000}};
	struct fxt_options o;

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(parse(&o, ARGV(good[i].text, "p")), FXT_COMMAND_LINE_RUN);
		assert_int_equal(o.duration_ns, good[i].ns);
	}
}

static void what_is_followed(void **state)
{
	static const struct {
		char *text;
		unsigned follow;
	} good[] = {{"--follow=none", 0}, {"--follow=fork", 1}, {"--follow=exec", 2},
	        {"--follow=fork,exec", 3}, {"--follow=exec,fork", 3}};
	struct fxt_options o;

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(parse(&o, ARGV(good[i].text, "p")), FXT_COMMAND_LINE_RUN);
		assert_int_equal(o.follow, good[i].follow);
	}
	assert_int_equal(parse(&o, ARGV("--detach", "--decouple", "p")), FXT_COMMAND_LINE_RUN);
	assert_true(o.detach && o.decouple);
}

static void category_names(void **state)
{
	static const char two[] = "net\0disk*";
	struct fxt_options o;
	char longest[128] = "--categories=";
	char most[4096] = "--categories=";

	(void)state;
	assert_int_equal(parse(&o, ARGV("--categories=net,disk*", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.categories.bytes, sizeof(two));
	assert_memory_equal(o.categories.names, two, sizeof(two));
	/* The last one given counts. */
	assert_int_equal(
	        parse(&o, ARGV("--categories=net,disk", "--categories=x", "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.categories.bytes, 2);
	assert_memory_equal(o.categories.names, "x", 2);

	memset(longest + 13, 'a', 100);
	assert_int_equal(parse(&o, ARGV(longest, "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.categories.bytes, 101);
	longest[113] = 'a';
	assert_int_equal(parse(&o, ARGV(longest, "p")), FXT_COMMAND_LINE_WRONG);
	assert_non_null(strstr(error, ": a name may have at most 100 bytes"));

	/* 128 names of 15 bytes and their ends are the 2048 bytes there are. */
	for (int i = 0; i < 128; i++)
		strcat(most, i ? ",123456789012345" : "123456789012345");
	assert_int_equal(parse(&o, ARGV(most, "p")), FXT_COMMAND_LINE_RUN);
	assert_int_equal(o.categories.bytes, 2048);
	strcat(most, ",1");
	assert_int_equal(parse(&o, ARGV(most, "p")), FXT_COMMAND_LINE_WRONG);
}

static void wrong(void **state)
{
#define SIZE_FORM  "must be a number of MiB, or a number with K, M or G, such as 64 or 256K"
#define TIME       "must be a time above 0, such as 10 (seconds), 0.5 or 100ms"
#define NAME_SIZE  "must be the name of a program and a size, such as server:256"
#define FOLLOW     "must be fork, exec, both with a comma between them, or none"
#define SIZE_RANGE "must be a multiple of 4K, at least 4K and at most 4G"
	static const struct {
		char *arguments[3];
		const char *message;
	} cases[] = {
	        {{NULL}, "no program given; use: fxtrun [options] program [arguments]"},
	        {{"-o", "x"}, "no program given; use: fxtrun [options] program [arguments]"},
	        {{"--"}, "no program given; use: fxtrun [options] program [arguments]"},
	        {{"--colour", "p"}, "unknown option --colour; fxtrun --help lists them all"},
	        {{"--buffer", "p"}, "unknown option --buffer (did you mean --buffer-size?); fxtrun --help "
	                            "lists them all"},
	        {{"--heaps=objects", "p"}, "unknown option --heaps=objects (did you mean --heap?); fxtrun "
	                                   "--help lists them all"},
	        {{"-x", "p"}, "unknown option -x; fxtrun --help lists them all"},
	        {{"-xo", "p"}, "unknown option -x; fxtrun --help lists them all"},
	        {{"--help=yes"}, "--help takes no value"},
	        {{"-o"}, "--output-file=FILE: the value is missing; fxtrun --help explains it"},
	        {{"--buffer-size"}, "--buffer-size=MB: the value is missing; fxtrun --help explains it"},
	        {{"--output-file=", "p"}, "--output-file=: needs the name of a file"},
	        {{"--buffer-size=", "p"}, "--buffer-size=: " SIZE_FORM},
	        {{"--buffer-size=big", "p"}, "--buffer-size=big: " SIZE_FORM},
	        {{"--buffer-size=-1", "p"}, "--buffer-size=-1: " SIZE_FORM},
	        {{"--buffer-size= 1", "p"}, "--buffer-size= 1: " SIZE_FORM},
	        {{"--buffer-size=1T", "p"}, "--buffer-size=1T: " SIZE_FORM},
	        {{"--buffer-size=1MB", "p"}, "--buffer-size=1MB: " SIZE_FORM},
	        {{"--buffer-size=1.5", "p"}, "--buffer-size=1.5: " SIZE_FORM},
	        {{"--buffer-size=0", "p"}, "--buffer-size=0: " SIZE_RANGE},
	        {{"--buffer-size=5K", "p"}, "--buffer-size=5K: " SIZE_RANGE},
	        {{"--buffer-size=4097", "p"}, "--buffer-size=4097: " SIZE_RANGE},
	        {{"--buffer-size=17179869184G", "p"}, "--buffer-size=17179869184G: " SIZE_RANGE},
	        {{"--buffer-size=99999999999999999999999", "p"},
	                "--buffer-size=99999999999999999999999: " SIZE_RANGE},
	        {{"--provider-buffer-size=1", "p"}, "--provider-buffer-size=1: " NAME_SIZE},
	        {{"--provider-buffer-size=:1", "p"}, "--provider-buffer-size=:1: " NAME_SIZE},
	        {{"--provider-buffer-size=sh:", "p"}, "--provider-buffer-size=sh:: " SIZE_FORM},
	        {{"--provider-buffer-size=sh:5K", "p"}, "--provider-buffer-size=sh:5K: " SIZE_RANGE},
	        {{"--duration=", "p"}, "--duration=: " TIME},
	        {{"--duration=0", "p"}, "--duration=0: " TIME},
	        {{"--duration=-1", "p"}, "--duration=-1: " TIME},
	        {{"--duration=.", "p"}, "--duration=.: " TIME},
	        {{"--duration=1.2.3", "p"}, "--duration=1.2.3: " TIME},
	        {{"--duration=1d", "p"}, "--duration=1d: " TIME},
	        {{"--duration=inf", "p"}, "--duration=inf: " TIME},
	        {{"--duration=0x10", "p"}, "--duration=0x10: " TIME},
	        {{"--duration=1e3", "p"}, "--duration=1e3: " TIME},
	        {{"--duration=1000000001", "p"}, "--duration=1000000001: " TIME},
	        {{"--follow=", "p"}, "--follow=: " FOLLOW},
	        {{"--follow=all", "p"}, "--follow=all: " FOLLOW},
	        {{"--follow=fork,", "p"}, "--follow=fork,: " FOLLOW},
	        {{"--follow=none,fork", "p"}, "--follow=none,fork: " FOLLOW},
	        {{"--detach=1", "p"}, "--detach takes no value"},
	        {{"--buffering-mode=ring", "p"},
	                "--buffering-mode=ring: must be oneshot, circular or streaming"},
	        {{"--on-full=wait", "p"}, "--on-full=wait: must be block or drop"},
	        {{"--categories=", "p"}, "--categories=: must be names with one comma between two of them"},
	        {{"--categories=a,,b", "p"},
	                "--categories=a,,b: must be names with one comma between two of them"},
	        {{"--categories=a,", "p"},
	                "--categories=a,: must be names with one comma between two of them"},
	};
	struct fxt_options o;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *const *a = cases[i].arguments;

		assert_int_equal(parse(&o, ARGV(a[0], a[1])), FXT_COMMAND_LINE_WRONG);
		assert_string_equal(error, cases[i].message);
	}
}

static void help_and_version(void **state)
{
	struct fxt_options o;

	(void)state;
	assert_int_equal(parse(&o, ARGV("--help")), FXT_COMMAND_LINE_HELP);
	assert_int_equal(parse(&o, ARGV("--version", "p")), FXT_COMMAND_LINE_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(defaults),
	        cmocka_unit_test(filters),
	        cmocka_unit_test(muting),
	        cmocka_unit_test(end_of_options),
	        cmocka_unit_test(output_file),
	        cmocka_unit_test(quotes),
	        cmocka_unit_test(words),
	        cmocka_unit_test(buffer_sizes),
	        cmocka_unit_test(provider_buffer_sizes),
	        cmocka_unit_test(total_sizes),
	        cmocka_unit_test(durations),
	        cmocka_unit_test(what_is_followed),
	        cmocka_unit_test(category_names),
	        cmocka_unit_test(wrong),
	        cmocka_unit_test(help_and_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
