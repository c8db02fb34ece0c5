/*
 * The options that queries share, the loop over their traces, and the notes about an
 * incomplete trace (options.h). Runs on the main thread. It must print an answer's notes
 * for every trace: without them, figures of an incomplete trace look exact.
 */
#include "options.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "reader/trace/source.h"
#include "reader/trace/text.h"
#include "symbolizer/image.h"
#include "writer/format/c_library.h"

static const struct {
	int option;
	enum fxt_choose what;
} letters[] = {{'p', FXT_CHOOSE_PROCESS}, {'t', FXT_CHOOSE_THREAD}, {'f', FXT_CHOOSE_FUNCTION},
        {'m', FXT_CHOOSE_MODULE}, {'u', FXT_CHOOSE_UNDER}};

/* Returns the property of calls that an option chooses by; FXT_CHOICES: none. */
static enum fxt_choose options_choice_of(int option)
{
	if (option >= FXT_OPTION_CHOICE && option < FXT_OPTION_CHOICE + FXT_CHOICES)
		return (enum fxt_choose)(option - FXT_OPTION_CHOICE);
	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		if (letters[i].option == option)
			return letters[i].what;
	return FXT_CHOICES;
}

static uint64_t options_limit_of(const char *command, const char *number)
{
	char *end;
	uint64_t limit = strtoull(number, &end, 10);

	if (*number < '0' || *number > '9' || *end || limit == 0)
		exit(fxt_bad_usage(command, "'%s' is not a number of lines", number));
	return limit;
}

bool fxt_options_take(struct fxt_options *options, const char *command, int option)
{
	enum fxt_choose what = options_choice_of(option);
	const char *problem;

	if (what != FXT_CHOICES) {
		problem = fxt_query_filter_set(&options->choice, what, optarg);
		if (problem)
			exit(fxt_bad_usage(command, "'%s' %s", optarg, problem));
	} else if (option == 'j' || option == FXT_OPTION_CSV) {
		options->format = option == 'j' ? FXT_FORMAT_JSON : FXT_FORMAT_CSV;
		options->choice.shortens_names = false;
	} else if (option == FXT_OPTION_MARKDOWN) {
		fxt_print_markdown();
	} else if (option == FXT_OPTION_FULL_NAMES) {
		options->choice.shortens_names = false;
	} else if (option == FXT_OPTION_LIBRARY) {
		options->choice.folds_library = false;
	} else if (option == 'n') {
		options->limit = options_limit_of(command, optarg);
	} else {
		return false;
	}
	return true;
}

void fxt_options_take_all(struct fxt_options *options, int argc, char **argv, const char *help)
{
	static const struct option shared[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS, {0}},
	                           folding[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS,
	                                   FXT_OPTIONS_FOLD, {0}};
	const struct option *taken = options->choice.folds_library ? folding : shared;
	int option;

	fxt_options_begin();
	while ((option = fxt_option(argc, argv, taken, help)) != -1)
		fxt_options_take(options, argv[0], option);
}

/* ---- the files ---- */

/* The arguments of fxt_each_scan(). */
struct answer {
	const struct fxt_options *options;
	int (*scan)(void *state, const char *name, struct fxt_scan *scan);
	void *state;
};

static int options_read_scan(void *state, const char *name, const struct fxt_source *source)
{
	const struct answer *answer = state;
	struct fxt_filter filter;
	struct fxt_scan scan;
	char error[1024];
	int status;

	fxt_scan_listened(&scan, source, NULL, answer->options->listener);
	if (fxt_query_filter_apply(&answer->options->choice, &scan, &filter, error, sizeof(error)) != 0) {
		fxt_report_name(name, error);
		fxt_scan_free(&scan);
		return FXT_FAILED;
	}
	fxt_print_trace(name);
	int answered = answer->scan(answer->state, name, &scan);

	status = fxt_report_unread(name, scan.malformed, scan.unknown, &scan.fault);
	fxt_filter_free(&filter);
	fxt_scan_free(&scan);
	return answered > status ? answered : status;
}

int fxt_each_scan(int argc, char **argv, struct fxt_options *options,
        int (*answer)(void *state, const char *name, struct fxt_scan *scan), void *state)
{
	struct answer each = {options, answer, state};

	fxt_print_begin(argv[0], options->format);
	int status = fxt_each_source(argc, argv, options_read_scan, &each);

	fxt_print_end();
	fxt_query_filter_free(&options->choice);
	return status;
}

void fxt_report_name(const char *name, const char *error)
{
	fflush(stdout);
	fprintf(stderr, "fxt: %s: ", name);
	fxt_write_text(stderr, fxt_span(error));
	putc('\n', stderr);
}

int fxt_report_changed(const char *name, bool is_whole)
{
	if (is_whole)
		return FXT_DONE;
	fflush(stdout);
	fprintf(stderr, "fxt: %s: it changed while it was read\n", name);
	return FXT_BROKEN;
}

/* ---- what is missing ---- */

static void options_print_records(uint64_t records, const char *least, const char *fate)
{
	if (records == 0)
		return;
	fxt_print_note("%s%" PRIu64 " record%s %s: their calls are missing above", least, records,
	        records == 1 ? " was" : "s were", fate);
}

/* Counts functions without a name: the agent left an address in its place
 * (symbolizer/rewrite.h). */
static void options_print_unnamed(const struct fxt_tables *t)
{
	uint64_t functions = 0;

	for (uint32_t i = 0; i < t->string_count; i++)
		functions += !fxt_tables_identity(t, i) && fxt_begins_with(t->strings[i], "{{{pc:");
	if (functions > 0)
		fxt_print_note("%" PRIu64 " function%s appear%s by address: fxt symbolize adds the names",
		        functions, fxt_plural(functions), functions == 1 ? "s" : "");
}

/* The module that a function is shown by for want of a name, as main+0x1234; empty: it is
 * not. */
static struct fxt_span options_nameless_module(struct fxt_span name)
{
	size_t digits = 0;

	while (digits < name.bytes && isxdigit((unsigned char)name.data[name.bytes - 1 - digits]))
		digits++;
	if (digits == 0 || name.bytes - digits < 4 ||
	        memcmp(name.data + name.bytes - digits - 3, "+0x", 3) != 0)
		return (struct fxt_span){0};
	return (struct fxt_span){name.data, name.bytes - digits - 3};
}

static const char *options_why_nameless(struct fxt_span module)
{
	if (fxt_path_in_process(module).bytes > 0)
		return "it was loaded from a memfd or another descriptor, which cannot be opened any more; "
		       "fxtrun finds its names while the program has it open, if it was linked with "
		       "--build-id";
	return "its symbols were stripped or are of another build; record it with them, or with its debug "
	       "file in place";
}

/* The libraries of the compiler and of the C library are stripped on every system, and few
 * people miss the names inside. */
static bool options_is_of_system(struct fxt_span module)
{
	return fxt_c_library(module.data, module.bytes) != FXT_NOT_C_LIBRARY ||
	       fxt_begins_with(module, "libgcc_s.so");
}

/* A line for each module whose symbols were not there; the first few of them. */
static void options_print_nameless(const struct fxt_tables *t)
{
	enum { MODULES = 4 };
	struct fxt_span modules[MODULES];
	uint64_t functions[MODULES] = {0};
	size_t count = 0;

	for (uint32_t i = 0; i < t->string_count; i++) {
		struct fxt_span module = options_nameless_module(t->strings[i]);
		size_t at = 0;

		if (module.bytes == 0 || options_is_of_system(module) || fxt_tables_identity(t, i))
			continue;
		while (at < count && !fxt_spans_equal(modules[at], module))
			at++;
		if (at == MODULES)
			continue;
		if (at == count)
			modules[count++] = module;
		functions[at]++;
	}
	for (size_t i = 0; i < count; i++)
		fxt_print_note("%" PRIu64 " function%s of %.*s %s no name: %s", functions[i],
		        fxt_plural(functions[i]), (int)modules[i].bytes, modules[i].data,
		        functions[i] == 1 ? "has" : "have", options_why_nameless(modules[i]));
}

/* Notes what fxt cut left out of the trace. */
static void options_print_cut(const struct fxt_scan *scan)
{
	const struct fxt_cut *cut = &scan->cut;

	if (cut->what & FXT_CUT_TIME) {
		uint64_t to = cut->to < cut->end ? cut->to : cut->end;

		fxt_print_note("the trace is a part of another one, from %s to %s since its start; calls "
		               "across these boundaries count with the part inside",
		        fxt_time_text((double)fxt_scan_ns(
		                              scan, cut->from > cut->start ? cut->from - cut->start : 0))
		                .text,
		        fxt_time_text((double)fxt_scan_ns(scan, to > cut->start ? to - cut->start : 0)).text);
	}
	if (cut->what & FXT_CUT_THREADS)
		fxt_print_note("the trace is a part of another one: other threads were removed");
	if (cut->what & FXT_CUT_FUNCTIONS)
		fxt_print_note("the trace is a part of another one: other functions were removed, and their "
		               "time counts as their callers'");
	if (cut->what & FXT_CUT_DAMAGED)
		fxt_print_note("the trace is a part of another one, which could not be read as a whole");
}

static void options_print_elided(const struct fxt_scan *scan)
{
	uint64_t own = fxt_scan_ns(scan, scan->elided_sums.own);

	if (scan->elided_sums.calls > 0)
		fxt_print_note("%s; the trace has only their sums",
		        fxt_elided_sums_text(&scan->elided_sums, own).text);
	fxt_print_fact("calls_left_out", (double)scan->elided_sums.calls);
	fxt_print_fact("calls_left_out_ns", (double)own);
}

/* The first of them; fxt info has all. */
enum { MUTED_SHOWN = 10 };

static void options_print_muted(const struct fxt_scan *scan)
{
	size_t count = scan->muted.count, bytes;
	char *text;
	FILE *out = fxt_memory_open(&text, &bytes);

	for (size_t i = 0; i < count && i < MUTED_SHOWN; i++) {
		const struct fxt_muted_function *f = &scan->muted.items[i];
		uint64_t since = fxt_scan_ns(scan, f->since > scan->start ? f->since - scan->start : 0);
		struct fxt_span name = scan->tables.strings[f->name];

		fputs(i ? "; " : "", out);
		fwrite(name.data, 1, name.bytes, out);
		fputs(fxt_muted_text(f, since).text, out);
	}
	fxt_memory_close(out, &text);
	if (count > MUTED_SHOWN)
		fxt_print_note("muted by fxtrun --auto: %s; and %zu more, which fxt info lists", text,
		        count - MUTED_SHOWN);
	else if (count > 0)
		fxt_print_note("muted by fxtrun --auto: %s", text);
	fxt_print_fact("functions_muted", (double)count);
	free(text);
}

static const char *options_lacks_any(const struct fxt_scan *scan)
{
	return scan->records_lost > 0                             ? "records were lost"
	       : scan->records_overwritten > 0                    ? "records were overwritten"
	       : scan->state.processes_dropped > 0                ? "processes were dropped"
	       : !scan->state.is_finished                         ? "the trace is unfinished"
	       : scan->state.is_finished == FXT_ARCHIVE_RECOVERED ? "the trace was recovered"
	       : scan->state.bytes_unwritten > 0 || scan->fault.reason || scan->malformed > 0
	               ? "the trace is incomplete"
	               : NULL;
}

const char *fxt_lacks_calls(const struct fxt_scan *scan)
{
	const char *lacks = options_lacks_any(scan);

	return !lacks && scan->muted.count > 0 ? "functions were muted" : lacks;
}

const char *fxt_lacks_calls_of(const struct fxt_scan *scan, uint32_t name)
{
	const char *lacks = options_lacks_any(scan);

	return !lacks && fxt_muted_find(&scan->muted, name) ? "the function was muted" : lacks;
}

struct fxt_count_text fxt_calls_text(const struct fxt_scan *scan, uint64_t calls)
{
	struct fxt_count_text result;

	snprintf(result.text, sizeof(result.text), "%s%" PRIu64, fxt_lacks_calls(scan) ? "≥ " : "", calls);
	return result;
}

void fxt_print_missing(const struct fxt_scan *scan)
{
	if (scan->folded)
		fxt_print_note("calls of the C++ library count in their callers: --library shows them");
	options_print_unnamed(&scan->tables);
	options_print_nameless(&scan->tables);
	options_print_cut(scan);
	options_print_records(scan->records_lost, fxt_tables_least(&scan->tables), "lost");
	options_print_records(scan->records_overwritten, "", "overwritten by later ones");
	options_print_elided(scan);
	options_print_muted(scan);
	if (scan->ends_without_begin > 0) {
		fxt_print_note("%" PRIu64 " end%s of a duration without its beginning: ignored",
		        scan->ends_without_begin, fxt_plural(scan->ends_without_begin));
	}
	if (!scan->state.is_finished) {
		fxt_print_note("the trace is unfinished: " FXT_ARCHIVE_UNFINISHED_TEXT);
	}
	if (scan->state.is_finished == FXT_ARCHIVE_RECOVERED) {
		fxt_print_note("the trace was recovered after the manager was killed: later context switches "
		               "and processes are missing");
	}
	if (scan->rotation.number > 0)
		fxt_print_note("file %" PRIu64
		               " of several (fxtrun --rotate): a call is in the file in which "
		               "it ended, and calls inside it may be in earlier ones; fxt merge puts them "
		               "together",
		        scan->rotation.number);
	if (scan->state.max_bytes > 0) {
		fxt_print_note("fxtrun --max-size ended the recording: %" PRIu64
		               " event%s came too late for the file",
		        scan->state.events_refused, fxt_plural(scan->state.events_refused));
	} else if (scan->state.bytes_unwritten > 0) {
		fxt_print_note("the trace is cut: its file had no room for %" PRIu64 " byte%s of records",
		        scan->state.bytes_unwritten, fxt_plural(scan->state.bytes_unwritten));
	}
	if (scan->state.processes_dropped > 0) {
		fxt_print_note("%" PRIu64 " process%s that had ended made room for later ones, with %" PRIu64
		               " record%s",
		        scan->state.processes_dropped, scan->state.processes_dropped == 1 ? "" : "es",
		        scan->state.records_dropped, fxt_plural(scan->state.records_dropped));
	}
	fxt_print_fact("processes_dropped", (double)scan->state.processes_dropped);
	fxt_print_fact("records_dropped", (double)scan->state.records_dropped);
	fxt_print_fact("records_lost", (double)scan->records_lost);
	fxt_print_fact("records_overwritten", (double)scan->records_overwritten);
	fxt_print_fact("ends_without_begin", (double)scan->ends_without_begin);
	fxt_print_fact("bytes_unwritten", (double)scan->state.bytes_unwritten);
	fxt_print_fact("is_cut", scan->cut.what != 0);
	fxt_print_fact("is_finished", scan->state.is_finished != FXT_ARCHIVE_UNFINISHED);
}
