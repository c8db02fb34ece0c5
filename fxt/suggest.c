/*
 * fxt suggest: proposes which functions to exclude when the program is traced again. Runs
 * on the main thread after the walk. An option that it prints must never exclude a function
 * that it does not list.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "reader/stats/figures.h"
#include "reader/slices/pattern.h"
#include "reader/trace/text.h"
#include "describe.h"

static const char help[] =
        "usage: fxt suggest [OPTION]... [FILE]...\n"
        "\n"
        "Prints the functions with many short calls, which cost more than they tell: at\n"
        "least a hundredth of all calls, nine of ten of them shorter than a microsecond,\n"
        "or muted by fxtrun --auto. Then the options with which fxtrun excludes them, or\n"
        "elides short calls.\n"
        "  calls        how often it was called\n"
        "  share        of all calls in the trace\n"
        "  left         of all calls, without this function and those above it\n"
        "  p50, p90, max  the median, the 90th percentile, and the longest of its calls\n"
        "\n"
        "  -n, --limit=N        the first N functions [10], and all muted ones\n" FXT_HELP_FORMAT
                FXT_HELP_FILE;

enum { FUNCTIONS = 10 };

/* Functions with fewer calls are not proposed, in any trace. */
enum { CALLS_LEAST = 1000 };

/* Recording a call takes some 25 ns: for calls this short that is more than a fortieth. */
#define SHORT_NS 1000.0

static const struct fxt_column columns[] = {
        {"calls", "calls", FXT_COLUMN_COUNT, 0},
        {"share", "share", FXT_COLUMN_SHARE, 0},
        {"left_share", "left", FXT_COLUMN_SHARE, 0},
        {"p50_ns", "p50", FXT_COLUMN_TIME, 2},
        {"p90_ns", "p90", FXT_COLUMN_TIME, 1},
        {"max_ns", "max", FXT_COLUMN_TIME, 1},
        {"name", "function", FXT_COLUMN_TEXT, 0},
};

/* The candidates to be left out: functions of `all`, sorted by calls, most first. */
struct suggestion {
	const struct fxt_scan *scan;
	struct fxt_functions all;
	const struct fxt_function **functions;
	size_t count;
	uint64_t calls, left; /* in the trace */
};

static uint64_t suggest_recorded(const struct fxt_function *f)
{
	return f->of_tracer ? 0 : f->calls - f->elided;
}

static int suggest_compare(const void *a, const void *b)
{
	const struct fxt_function *f = *(const struct fxt_function *const *)a,
	                          *g = *(const struct fxt_function *const *)b;
	uint64_t calls_f = suggest_recorded(f), calls_g = suggest_recorded(g);

	return calls_f != calls_g ? (calls_f < calls_g) - (calls_f > calls_g)
	                          : (f->name > g->name) - (f->name < g->name);
}

/* p90 may be unknown for a function with excluded calls: there is a filter for it
 * already. */
static bool suggest_is_noise(const struct suggestion *s, const struct fxt_function *f)
{
	uint64_t recorded = suggest_recorded(f);

	if (fxt_muted_find(&s->scan->muted, f->name))
		return recorded > 0;
	return recorded >= CALLS_LEAST && recorded >= s->calls / 100 &&
	       fxt_function_figure(f, s->scan, FXT_P90) < SHORT_NS;
}

static void suggest_choose(struct suggestion *s, uint64_t most)
{
	for (size_t i = 0; i < s->all.count; i++)
		s->calls += suggest_recorded(&s->all.items[i]);
	s->left = s->calls;
	for (size_t i = 0; i < s->all.count; i++)
		if (suggest_is_noise(s, &s->all.items[i]))
			s->functions[s->count++] = &s->all.items[i];
	qsort(s->functions, s->count, sizeof(*s->functions), suggest_compare);
	s->count = s->count < most ? s->count : most;
}

/* ---- the table ---- */

static void suggest_print_functions(struct suggestion *s)
{
	double all = (double)s->calls;

	fxt_table_begin("functions", NULL, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < s->count; i++) {
		const struct fxt_function *f = s->functions[i];

		s->left -= suggest_recorded(f);
		fxt_table_row((struct fxt_cell[]){fxt_cell_number((double)suggest_recorded(f)),
		        fxt_cell_number((double)suggest_recorded(f) / all),
		        fxt_cell_number((double)s->left / all),
		        fxt_cell_number(fxt_function_figure(f, s->scan, FXT_P50)),
		        fxt_cell_number(fxt_function_figure(f, s->scan, FXT_P90)),
		        fxt_cell_number((double)f->max), fxt_cell_text(s->scan->tables.strings[f->name])});
	}
	fxt_table_end();
}

/* ---- options ---- */

/* True if the function's name, as a glob, matches other functions too: it is also the
 * name of members, or it has a star. */
static bool suggest_is_for_others(const struct suggestion *s, const struct fxt_function *f)
{
	const struct fxt_tables *t = &s->scan->tables;
	struct fxt_span name = fxt_tables_plain(t, f->name);
	char *glob = strndup(name.data, name.bytes);
	struct fxt_patterns patterns = {0};
	bool is_for_others = !glob || fxt_patterns_add(&patterns, glob) != NULL;

	for (size_t i = 0; i < s->all.count && !is_for_others; i++) {
		const struct fxt_function *other = &s->all.items[i];

		is_for_others = !other->of_tracer && other->name != f->name &&
		                !fxt_spans_equal(fxt_tables_plain(t, other->name), name) &&
		                fxt_patterns_match(&patterns, fxt_tables_plain(t, other->name));
	}
	fxt_patterns_free(&patterns);
	free(glob);
	return is_for_others;
}

/* Prints a pattern that matches only this function, quoted for a shell: its name, or a
 * regular expression. */
static void suggest_print_pattern(FILE *out, const struct suggestion *s, const struct fxt_function *f)
{
	struct fxt_span name = fxt_tables_plain(&s->scan->tables, f->name);
	bool is_regex = suggest_is_for_others(s, f);

	fputs(is_regex ? "'/^" : "'", out);
	for (size_t i = 0; i < name.bytes; i++) {
		if (is_regex && strchr(".[](){}*+?|^$\\", name.data[i]))
			fputc('\\', out);
		if (name.data[i] == '\'')
			fputs("'\\''", out);
		else
			fputc(name.data[i], out);
	}
	fputs(is_regex ? "$/'" : "'", out);
}

static void suggest_print_exclude(const struct suggestion *s)
{
	struct fxt_describer options;

	if (s->count == 0) {
		fxt_print_line("no function is called so often and so briefly that it should be excluded");
		return;
	}
	fxt_describe_begin(&options);
	for (size_t i = 0; i < s->count; i++) {
		fprintf(options.out, "%s--exclude=", i ? " " : "");
		suggest_print_pattern(options.out, s, s->functions[i]);
	}
	struct fxt_span text = fxt_describe_end(&options);

	fxt_print_line("without %s, %.1f %% of the calls are left:",
	        s->count == 1 ? "that function" : "these functions",
	        100.0 * (double)s->left / (double)s->calls);
	fxt_print_line("  fxtrun %.*s", (int)text.bytes, text.data);
	fxt_print_fact_text("exclude", text);
	fxt_describe_free(&options);
}

/* The number of calls in the trace that took at least this long, to 1/16. Callers of
 * such calls are included. */
static uint64_t suggest_calls_from(const struct suggestion *s, uint64_t ns)
{
	unsigned __int128 time = (unsigned __int128)ns * s->scan->rate.ticks_per_second / FXT_NS_PER_SECOND;
	uint64_t calls = 0;

	for (size_t i = 0; i < s->all.count; i++) {
		const struct fxt_function *f = &s->all.items[i];

		if (suggest_recorded(f) == 1)
			calls += f->max >= ns;
		else if (suggest_recorded(f) > 1)
			calls += fxt_histogram_sum(
			        &f->times, fxt_histogram_bucket((uint64_t)time), FXT_HISTOGRAM_BUCKETS);
	}
	return calls;
}

/* Proposes the shortest minimum duration that leaves a tenth of the calls. */
static void suggest_print_min_duration(const struct suggestion *s)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = {{1000, "1us"}, {10000, "10us"}, {100000, "100us"}, {1000000, "1ms"}};

	for (size_t i = 0; s->calls >= CALLS_LEAST && i < sizeof(times) / sizeof(*times); i++) {
		uint64_t calls = suggest_calls_from(s, times[i].ns);

		if (calls > s->calls / 10)
			continue;
		fxt_print_line("with only the calls that take %s or more, %.1f %%, and sums of the others:",
		        times[i].text, 100.0 * (double)calls / (double)s->calls);
		fxt_print_line("  fxtrun --min-duration=%s", times[i].text);
		fxt_print_fact_text("min_duration", fxt_span(times[i].text));
		fxt_print_fact("min_duration_calls", (double)calls);
		return;
	}
}

/* ---- the command ---- */

static int suggest_answer(void *state, const char *name, struct fxt_scan *scan)
{
	const struct fxt_options *wanted = state;
	struct suggestion s = {.scan = scan};
	bool is_whole = fxt_functions_read_all(&s.all, scan, NULL, NULL);

	s.functions = fxt_allocate((s.all.count + 1) * sizeof(*s.functions));
	suggest_choose(&s, fxt_options_limit(wanted, FUNCTIONS + scan->muted.count));
	fxt_print_line("%s: %" PRIu64 " call%s", name, s.calls, fxt_plural(s.calls));
	fxt_print_fact("calls", (double)s.calls);
	suggest_print_functions(&s);
	fxt_print_fact("left_calls", (double)s.left);
	if (s.count > 0)
		fxt_print_line("%s", "");
	suggest_print_exclude(&s);
	suggest_print_min_duration(&s);
	fxt_print_missing(scan);
	free(s.functions);
	fxt_functions_free(&s.all);
	return fxt_report_changed(name, is_whole);
}

int fxt_command_suggest(int argc, char **argv)
{
	static const struct option options[] = {
	        {"help", no_argument, NULL, 'h'}, FXT_OPTIONS_FORMAT, FXT_OPTIONS_LIMIT, {0}};
	int option;

	struct fxt_options wanted = {0};
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1)
		fxt_options_take(&wanted, argv[0], option);
	return fxt_each_scan(argc, argv, &wanted, suggest_answer, &wanted);
}
