/*
 * fxt cut: writes a part of a trace as a trace of its own; fxt/cut/ has the parts of that.
 * Runs on the main thread. Calls across a boundary must stay whole, and the output must say
 * that it is a part.
 */
#include "reader/trace/cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "cut/others.h"
#include "cut/write.h"
#include "named.h"
#include "options.h"
#include "output.h"
#include "profiled.h"
#include "reader/trace/index.h"
#include "reader/trace/source.h"
#include "reader/trace/text.h"

static const char help[] =
        "usage: fxt cut [OPTION]... [FILE]\n"
        "\n"
        "Writes the chosen part of a trace as a trace of its own, for all commands and\n"
        "for viewers. It has the names, modules and call paths that it needs, and no\n"
        "others. Calls that cross the boundaries of the time stay whole, with an\n"
        "argument \"cut\" that says so; fxt counts the part inside, as it does if that\n"
        "time of the whole trace is chosen. Flows that cross them are removed. The heap\n"
        "that was live when the time began is kept, for whole processes, and so are\n"
        "losses in the time. The trace says that it was cut, and how: fxt info and all\n"
        "answers repeat it.\n"
        "\n"
        "  -o, --output=OUT  the output; - is the standard output; compressed if it ends\n"
        "                    in .gz or .zst [FILE with .cut.fxt for .fxt]\n" FXT_HELP_CHOICE FXT_HELP_FILE;

static const struct option options[] = {
        {"help", no_argument, NULL, 'h'}, FXT_OPTIONS_CHOICE, {"output", required_argument, NULL, 'o'}, {0}};

/* The options that choose, as the trace will record them. */
struct cut_said {
	FILE *out;
	char *text;
	size_t bytes;
};

static void cut_begin_saying(struct cut_said *said)
{
	said->out = fxt_memory_open(&said->text, &said->bytes);
}

static void cut_say(struct cut_said *said, int value)
{
	const struct option *option = options;

	while (option->val != value)
		option++;
	fprintf(said->out, "%s--%s=%s", ftell(said->out) > 0 ? " " : "", option->name, optarg);
}

static struct fxt_cut cut_note(const struct fxt_scan *scan, const struct fxt_filter *f)
{
	bool is_timed = f->from > 0 || f->to < UINT64_MAX;
	bool is_damaged = scan->fault.reason || scan->malformed > 0;

	return (struct fxt_cut){.what = scan->cut.what | (is_timed ? FXT_CUT_TIME : 0) |
	                                (f->threads ? FXT_CUT_THREADS : 0) |
	                                (f->names || f->under || f->least ? FXT_CUT_FUNCTIONS : 0) |
	                                (is_damaged ? FXT_CUT_DAMAGED : 0),
	        .ticks_per_second = scan->rate.ticks_per_second,
	        .from = f->from,
	        .to = f->to,
	        .start = scan->start,
	        .end = f->to < scan->end ? f->to : scan->end};
}

struct cutting {
	const struct fxt_archive *archive;
	struct fxt_keep *keep;
	const struct fxt_cut *note;
	const char *said;
};

static void cut_write_trace(void *cutting, FILE *out)
{
	const struct cutting *c = cutting;

	fxt_cut_write(out, c->archive, c->keep, c->note, c->said);
}

static int cut_write(const char *name, const struct fxt_scan *scan, const char *file, const char *said)
{
	const struct fxt_cut note = cut_note(scan, scan->filter);
	struct fxt_archive archive;
	struct fxt_keep keep;
	struct cutting cutting = {&archive, &keep, &note, said};
	char error[4096 + 256];
	int status = FXT_FAILED;

	if (fxt_archive_open_fd(&archive, scan->source->fd, name, error, sizeof(error)) != 0) {
		fprintf(stderr, "fxt: %s\n", error);
		return FXT_FAILED;
	}
	bool is_whole = fxt_keep_slices(&keep, scan, &archive);

	if (is_whole) {
		fxt_keep_others(&keep, &archive);
		const struct fxt_profiled profiled = {
		        .has_profiles = keep.has_profiles, .write = cut_write_trace, .context = &cutting};

		if (fxt_profiled_write(file, &scan->source->file, &profiled) == 0)
			status = FXT_DONE;
	}
	fxt_keep_free(&keep);
	fxt_archive_close(&archive);
	return is_whole ? status : fxt_report_changed(name, false);
}

static int cut_trace(
        const char *name, const struct fxt_query_filter *choice, const char *file, const char *said)
{
	struct fxt_source source;
	struct fxt_filter filter;
	struct fxt_scan scan;
	char error[4096 + 256];
	int status = FXT_FAILED;

	if (fxt_named_source_open(&source, name, error, sizeof(error)) != 0) {
		fprintf(stderr, "fxt: %s\n", error);
		return FXT_FAILED;
	}
	fxt_scan(&scan, &source, NULL);
	if (fxt_query_filter_apply(choice, &scan, &filter, error, sizeof(error)) == 0)
		status = cut_write(name, &scan, file, said);
	else
		fxt_report_name(name, error);
	int unread = fxt_report_unread(name, scan.malformed, scan.unknown, &scan.fault);

	fxt_filter_free(&filter);
	fxt_scan_free(&scan);
	fxt_source_close(&source);
	return status > unread ? status : unread;
}

int fxt_command_cut(int argc, char **argv)
{
	struct fxt_options chosen = {0};
	struct cut_said said;
	const char *output = NULL;
	int option;

	cut_begin_saying(&said);
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1) {
		if (option == 'o')
			output = optarg;
		else if (fxt_options_take(&chosen, argv[0], option))
			cut_say(&said, option);
	}
	fxt_memory_close(said.out, &said.text);
	if (fxt_query_filter_is_all(&chosen.choice))
		return fxt_bad_usage(
		        argv[0], "nothing is chosen; use --time, --process, --thread or another option");
	const char *trace = fxt_one_trace(argc, argv);

	if (!trace)
		return FXT_FAILED;
	char *usual = fxt_output_name(trace, "cut.fxt");
	int status = cut_trace(trace, &chosen.choice, output ? output : usual, said.text);

	if (!output && status != FXT_FAILED && strcmp(usual, "-") != 0)
		printf("%s\n", usual);
	free(usual);
	free(said.text);
	fxt_query_filter_free(&chosen.choice);
	return status;
}
