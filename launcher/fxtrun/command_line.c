/*
 * Reads the options of fxtrun from a project's file, $FXT_OPTIONS and the command line.
 * Runs first, on the only thread. It must change nothing but the options.
 */
#include "command_line.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launcher/attach/unit.h"
#include "launcher/manager/output.h"
#include "launcher/proc_status.h"
#include "launcher/values.h"
#include "option_words.h"
#include "output_name.h"
#include "reader/slices/nearest.h"

enum { WORDS_MAX = 512, ERROR_BYTES = 1024 };

/* "must be a, b or c" */
static const char *option_must_be(const struct fxt_option *option)
{
	static char text[64];
	size_t used = 0;

	for (size_t i = 0; i < option->word_count; i++)
		if (option->words[i])
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
			        !used                        ? "must be "
			        : i + 1 < option->word_count ? ", "
			                                     : " or ",
			        option->words[i]);
	return text;
}

/* Applies an option. Returns NULL, or the error in its value. */
static const char *option_apply(const struct fxt_option *option, struct fxt_options *o, const char *value)
{
	void *member = (char *)o + option->member;

	if (option->set)
		return option->set(o, value);
	if (option->number)
		return option->number(value, member);
	if (option->is_flag)
		*(bool *)member = true;
	else if (!option->words)
		return fxt_record_filter_add(&o->filter, option->kind, value);
	else if (!fxt_value_word(value, strlen(value), option->words, option->word_count, member))
		return option_must_be(option);
	return NULL;
}

/* Describes an unknown option, and the option that was probably meant. */
static void option_say_unknown(
        const char *given, const struct option *options, char *error, size_t error_bytes)
{
	const char *meant = fxt_nearest_option(given, options);

	if (!meant)
		snprintf(error, error_bytes, "unknown option %s; fxtrun --help lists them all", given);
	else
		snprintf(error, error_bytes,
		        "unknown option %s (did you mean --%s?); fxtrun --help lists them all", given, meant);
}

/* Describes a refusal of getopt_long(): it returned `value`, and the option, if known, is
 * in optopt. */
static void option_say_refused(
        int value, char *const *argv, const struct option *options, char *error, size_t error_bytes)
{
	const struct fxt_option *option = fxt_option_of(optopt);

	if (value == ':')
		snprintf(error, error_bytes, "--%s=%s: the value is missing; fxtrun --help explains it",
		        option->name, option->argument);
	else if (option)
		snprintf(error, error_bytes, "--%s takes no value", option->name);
	else if (optopt)
		snprintf(error, error_bytes, "unknown option -%c; fxtrun --help lists them all", optopt);
	else
		option_say_unknown(argv[optind - 1], options, error, error_bytes);
}

/* Applies the options at the beginning of argv, behind argv[0]; optind is then the first
 * argument behind them. */
static enum fxt_command_line_result command_line_take(
        struct fxt_options *o, int argc, char **argv, bool is_project, char *error, size_t error_bytes)
{
	struct fxt_getopt tables;
	int value;

	fxt_getopt_fill(&tables, false);
	optind = 0; /* glibc: start anew, whatever was parsed before */
	opterr = 0;
	while ((value = getopt_long(argc, argv, tables.letters, tables.options, NULL)) != -1) {
		const struct fxt_option *option;
		const char *wrong;

		if (value == '?' || value == ':') {
			option_say_refused(value, argv, tables.options, error, error_bytes);
			return FXT_COMMAND_LINE_WRONG;
		}
		option = fxt_option_of(value);
		if (is_project && option->is_for_command_line) {
			snprintf(error, error_bytes,
			        "--%s is refused in a project's file, which may not set outputs or actions",
			        option->name);
			return FXT_COMMAND_LINE_WRONG;
		}
		if (option->result != FXT_COMMAND_LINE_RUN)
			return option->result;
		wrong = option_apply(option, o, optarg);
		if (wrong) {
			snprintf(error, error_bytes, "--%s=%s: %s", option->name, optarg, wrong);
			return FXT_COMMAND_LINE_WRONG;
		}
	}
	return FXT_COMMAND_LINE_RUN;
}

/* Applies options from a text, which must not contain a program. Keeps the text. */
static enum fxt_command_line_result command_line_take_text(struct fxt_options *o, char *text,
        const char *source, bool is_project, char *error, size_t error_bytes)
{
	char *words[WORDS_MAX], said[ERROR_BYTES];
	const char *wrong;
	int count;
	enum fxt_command_line_result result;

	words[0] = (char *)"fxtrun";
	wrong = fxt_option_words(text, words + 1, WORDS_MAX - 1, &count);
	if (wrong) {
		snprintf(error, error_bytes, "%s %s", source, wrong);
		return FXT_COMMAND_LINE_WRONG;
	}
	result = command_line_take(o, count + 1, words, is_project, said, sizeof(said));
	if (result == FXT_COMMAND_LINE_WRONG)
		snprintf(error, error_bytes, "%s: %s", source, said);
	if (result == FXT_COMMAND_LINE_RUN && optind <= count) {
		snprintf(error, error_bytes, "%s: '%s' is not an option", source, words[optind]);
		return FXT_COMMAND_LINE_WRONG;
	}
	return result;
}

static enum fxt_command_line_result command_line_take_project_file(
        struct fxt_options *o, char *error, size_t error_bytes)
{
	char *text = fxt_project_file_read(), *line;
	char source[64];

	for (unsigned number = 1; (line = strsep(&text, "\n")) != NULL; number++) {
		enum fxt_command_line_result result;

		line += strspn(line, " \t\r");
		if (*line == 0 || *line == '#')
			continue;
		snprintf(source, sizeof(source), FXT_PROJECT_FILE ", line %u", number);
		result = command_line_take_text(o, line, source, true, error, error_bytes);
		if (result != FXT_COMMAND_LINE_RUN)
			return result;
		o->uses_project_file = true;
	}
	return FXT_COMMAND_LINE_RUN;
}

static enum fxt_command_line_result command_line_take_environment(
        struct fxt_options *o, char *error, size_t error_bytes)
{
	static char *text;
	const char *value = getenv("FXT_OPTIONS");

	free(text);
	text = value ? strdup(value) : NULL;
	return text ? command_line_take_text(o, text, "FXT_OPTIONS", false, error, error_bytes)
	            : FXT_COMMAND_LINE_RUN;
}

/* Finds the process of --attach, or the first one of a unit. False: the unit has none. */
static bool command_line_find_process(struct fxt_options *o)
{
	char *end;

	o->attach_pid = (pid_t)strtol(o->attach, &end, 10);
	return !*end || fxt_unit_processes(o->attach, &o->attach_pid, 1) == 1;
}

/* Puts the process's name in the place of a program. False: other options do not go with
 * --attach. */
static bool command_line_attach(struct fxt_options *o, char *error, size_t error_bytes)
{
	static char name[64];
	static char *program[] = {name, NULL};
	const char *wrong = NULL;

	if (*o->program)
		wrong = "records a process that runs already; leave the program out";
	else if (o->start >= FXT_START_CONTROLLER)
		wrong = "records from when it attaches; leave --start out, or use --start=paused";
	else if (o->decouple)
		wrong = "ends with the process; leave --decouple out";
	if (wrong) {
		snprintf(error, error_bytes, "--attach %s", wrong);
		return false;
	}
	if (!command_line_find_process(o)) {
		snprintf(error, error_bytes, "no systemd unit %s has a process here", o->attach);
		return false;
	}
	if (!fxt_proc_status(o->attach_pid, "Name", name, sizeof(name))) {
		snprintf(error, error_bytes, "process %d does not exist", o->attach_pid);
		return false;
	}
	o->program = program;
	/* fxtrun did not start the process, so it must not end it. The kernel reports no
	 * context switches of threads that began before. */
	o->detach = true;
	o->no_sched = true;
	return true;
}

/* The number of files that --rotate keeps without --keep. */
enum { KEEP_DEFAULT = 4 };

/* Completes the options of a trace in several files. Returns NULL, or why they do not go
 * with others. */
static const char *command_line_rotate(struct fxt_options *o)
{
	uint64_t most = o->rotate.bytes & ~UINT64_C(4095);

	if (!fxt_options_rotate(o))
		return o->rotate.keep ? "--keep: only a trace that --rotate divides has files to keep" : NULL;
	if (o->buffering_mode != FXT_STREAMING)
		return "--rotate: only in streaming mode are records written while the program runs; "
		       "--buffering-mode=circular keeps the end without it";
	if (o->max_bytes)
		return "--rotate: --max-size ends the recording at a size, and --rotate goes on in another "
		       "file: use one or the other";
	if (o->start >= FXT_START_CONTROLLER)
		return "--rotate: with this --start a controller names the file of each recording";
	if (fxt_trace_output_is_standard(o->output_file))
		return "--rotate: the standard output is no file that another one can follow; name a file "
		       "with -o";
	if (o->heap_mode == FXT_HEAP_OBJECTS || o->heap_mode == FXT_HEAP_SAMPLED)
		return "--rotate: the call paths of the heap are only in the file in which they first occur; "
		       "use --heap=off or --heap=counters";
	if (!o->rotate.keep)
		o->rotate.keep = KEEP_DEFAULT;
	/* A buffer is written as a whole, and a file should not become much larger. */
	if (most && o->buffer_bytes > most)
		o->buffer_bytes = most;
	if (most && o->descendant_buffer_bytes > most)
		o->descendant_buffer_bytes = most;
	return NULL;
}

/* Completes the options of a trace with a file for each process. Returns the same. */
static const char *command_line_processes(struct fxt_options *o)
{
	static char pattern[PATH_MAX];

	if (!o->file_per_process)
		return NULL;
	if (fxt_options_rotate(o))
		return "each file of --rotate has all processes: use one or the other";
	if (o->start >= FXT_START_CONTROLLER)
		return "with this --start a controller names the file of each recording";
	if (fxt_trace_output_is_standard(o->output_file))
		return "the standard output is one file; name a file with -o";
	o->process_files = pattern;
	return fxt_output_name_of_processes(pattern, o->output_file);
}

enum fxt_command_line_result fxt_command_line_parse(
        struct fxt_options *o, int argc, char **argv, char *error, size_t error_bytes)
{
	enum fxt_command_line_result result;
	char unsaid[ERROR_BYTES];
	const char *wrong;

	fxt_options_default(o);
	result = command_line_take_project_file(o, error, error_bytes);
	if (result == FXT_COMMAND_LINE_RUN)
		result = command_line_take_environment(o, error, error_bytes);
	if (result == FXT_COMMAND_LINE_RUN) {
		result = command_line_take(o, argc, argv, false, error, error_bytes);
	} else if (result == FXT_COMMAND_LINE_WRONG) {
		/* A request for help is met whatever is wrong elsewhere. */
		result = command_line_take(o, argc, argv, false, unsaid, sizeof(unsaid));
		result = result == FXT_COMMAND_LINE_RUN ? FXT_COMMAND_LINE_WRONG : result;
	}
	if (result != FXT_COMMAND_LINE_RUN)
		return result;
	if (o->filter.count && o->raw) {
		snprintf(error, error_bytes,
		        "filters need the names of functions, which --raw leaves out: use "
		        "one or the other");
		return FXT_COMMAND_LINE_WRONG;
	}
	if (o->muting_percent && (o->raw || o->buffering_mode != FXT_STREAMING)) {
		snprintf(error, error_bytes, "--auto: %s",
		        o->raw ? "functions are muted by their names, which --raw leaves out: use one or the "
		                 "other"
		               : "calls are counted as they are written, which happens only in streaming "
		                 "mode");
		return FXT_COMMAND_LINE_WRONG;
	}
	if (o->max_bytes && o->buffering_mode == FXT_CIRCULAR) {
		snprintf(error, error_bytes,
		        "--max-size: a circular trace is limited by --total-size instead");
		return FXT_COMMAND_LINE_WRONG;
	}
	wrong = command_line_rotate(o);
	if (wrong) {
		snprintf(error, error_bytes, "%s", wrong);
		return FXT_COMMAND_LINE_WRONG;
	}
	if (o->start == FXT_START_IDLE && (!o->keeps_old || o->duration_ns || o->populate)) {
		snprintf(error, error_bytes, "--start=idle: %s",
		        !o->keeps_old ? "each recording has a file of its own, which fxtctl record -o names"
		        : o->duration_ns ? "fxtctl record --duration says how long to record"
		                         : "buffers exist only during recordings: leave --populate out");
		return FXT_COMMAND_LINE_WRONG;
	}
	o->program = argv + optind;
	if (o->attach && !command_line_attach(o, error, error_bytes))
		return FXT_COMMAND_LINE_WRONG;
	if (!*o->program) {
		snprintf(error, error_bytes, "no program given; use: fxtrun [options] program [arguments]");
		return FXT_COMMAND_LINE_WRONG;
	}
	/* The processes of a job share a directory. */
	if (o->keeps_old && fxt_output_is_of_job())
		o->output_file = "trace.%r.fxt";
	wrong = command_line_processes(o);
	if (wrong) {
		snprintf(error, error_bytes, "--file-per-process: %s", wrong);
		return FXT_COMMAND_LINE_WRONG;
	}
	/* Until the end there is one file. Its number is that of fxtrun, so no process has it. */
	if (o->file_per_process) {
		o->keeps_old = false;
		o->output_file = o->process_files;
	}
	o->output_file = fxt_output_name(o->output_file, *o->program);
	if (!o->output_file) {
		snprintf(error, error_bytes, "--output-file: the name is too long");
		return FXT_COMMAND_LINE_WRONG;
	}
	return FXT_COMMAND_LINE_RUN;
}

void fxt_command_line_help(void)
{
	printf("Usage: fxtrun [options] [--] program [arguments]\n"
	       "       fxtrun [options] --attach=PID|UNIT\n"
	       "Runs a program compiled by fxt-cc or fxt-c++, or with -finstrument-functions,\n"
	       "-fpatchable-function-entry=5 or clang's -fxray-instrument, and records its\n"
	       "calls; with --library-calls those of library functions, of any program.\n\n");
	for (unsigned i = 0; i < fxt_option_count; i++) {
		const struct fxt_option *option = &fxt_option_table[i];

		if (option->help)
			fxt_help_print(option->help, fxt_option_print(option), 30);
	}
	printf("\nThe exit status is the program's (128+n: ended by signal n), or 125: fxtrun\n"
	       "failed, 126: the program cannot be executed, 127: it was not found.\n");
}

void fxt_command_line_completion(void)
{
	for (unsigned i = 0; i < fxt_option_count; i++)
		if (fxt_option_table[i].help)
			fxt_option_print_completion(&fxt_option_table[i], fxt_option_table[i].help);
}
