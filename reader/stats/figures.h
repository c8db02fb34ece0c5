/*
 * The figures of a function, one row each: what fxt report has a column for. All that
 * shows, sorts, compares or limits figures reads this table: fxt report, diff, check,
 * suggest, sql, tui and html, with their help. A new figure is a new row.
 */
#ifndef FXT_READER_FIGURES_H
#define FXT_READER_FIGURES_H

#include "functions.h"

/* The effect of losses on a figure: a trace that lacks calls has less of it, more, or
 * either. */
enum fxt_loss { FXT_NO_METRIC, FXT_LOSES_LESS, FXT_LOSES_MORE, FXT_LOSES_EITHER };

/* Uses of a figure by its name. */
enum fxt_figure_use { FXT_TO_SORT, FXT_TO_COMPARE, FXT_TO_LIMIT };

/* clang-format off */
/*
 * ROW(id, name, title, key, unit, rank, loss, value, ...): the name in options and rules;
 * the title for people, NULL: for programs only; the key in JSON and CSV, without its unit;
 * the unit, "" for a number of calls; the rank, as in struct fxt_column (fxt/table.h); the
 * value, of a function `f` with calls in the trace `scan`. Other members of struct
 * fxt_figure_row follow. SQL_ROW() is a row that fxt sql has a column of, too. Its name,
 * type and meaning stand behind the id.
 */
#define FXT_FIGURE_ROWS(ROW, SQL_ROW) \
	SQL_ROW(CALLS, "calls", "INTEGER", "how often it was called", \
	        "calls", "calls", "calls", "", 0, FXT_LOSES_LESS, (double)f->calls, \
	        .compared = "calls", .compared_rank = 1, \
	        .help = "how often it was called", .hint = "how often it was called") \
	SQL_ROW(TOTAL, "total", "INTEGER", "time within it; calls inside a call of the same function add nothing", \
	        "total", "total", "total", "_ns", 0, FXT_LOSES_LESS, (double)f->total, \
	        .compared = "time within calls", .compared_rank = 2, .has_bar = true, \
	        .help = "time between its entries and exits; recursive calls add nothing", \
	        .hint = "between entries and exits; recursive calls add nothing") \
	/* the time of a missing call is counted as its caller's own */ \
	SQL_ROW(SELF, "self", "INTEGER", "the part of it in which it was in no slice inside", \
	        "self", "self", "self", "_ns", 0, FXT_LOSES_EITHER, (double)f->self, \
	        .compared = "own time", .compared_rank = 3, .has_bar = true, \
	        .help = "the same without the functions it called", .hint = "without the functions it called") \
	ROW(ON_CPU, "on", "on CPU", "on_cpu", "_ns", 7, FXT_NO_METRIC, \
	        figure_self_cpu(f, f->self_cpu[FXT_CPU_RUNNING]), .needs_switches = true, \
	        .help = "self time in which its thread ran, and did not; if the\n" \
	                "trace has context switches, and all calls that are in the time", \
	        .hint = "of self, when its thread ran", .hidden = "less") \
	ROW(OFF_CPU, "off", "off CPU", "off_cpu", "_ns", 2, FXT_NO_METRIC, \
	        figure_self_cpu(f, f->self_cpu[FXT_CPU_RUNNABLE] + f->self_cpu[FXT_CPU_BLOCKED]), \
	        .needs_switches = true, .is_sorted = true, \
	        .hint = "of self, when its thread did not run", .hidden = "less") \
	SQL_ROW(AVERAGE, "average", "REAL", "of a call", \
	        "avg", "avg", "avg", "_ns", 4, FXT_LOSES_EITHER, (double)f->sum / (double)f->calls, \
	        .compared = "average time of a call", .compared_rank = 4, \
	        .help = "time of one call, recursive\ncalls included; percentiles to 1/32", \
	        .hint = "of one call", .hidden = "less") \
	ROW(P50, "p50", "p50", "p50", "_ns", 3, FXT_LOSES_EITHER, figure_percentile(f, scan, 0.5), \
	        .compared = "median time of a call", .compared_rank = 5, \
	        .hint = "half of the calls took no longer", .hidden = "least") \
	ROW(P90, "p90", "p90", "p90", "_ns", 5, FXT_LOSES_EITHER, figure_percentile(f, scan, 0.9), \
	        .compared = "90th percentile of the times of calls", .compared_rank = 7, \
	        .hint = "nine of ten calls took no longer", .hidden = "less") \
	ROW(P99, "p99", "p99", "p99", "_ns", 2, FXT_LOSES_EITHER, figure_percentile(f, scan, 0.99), \
	        .compared = "99th percentile of the times of calls", .compared_rank = 6, \
	        .hint = "99 of 100 calls took no longer", .hidden = "less") \
	SQL_ROW(MIN, "min", "INTEGER", "of the shortest call", \
	        "min", "min", "min", "_ns", 6, FXT_LOSES_MORE, (double)f->min, \
	        .hint = "the shortest call", .hidden = "less") \
	SQL_ROW(MAX, "max", "INTEGER", "of the longest call", \
	        "max", "max", "max", "_ns", 1, FXT_LOSES_LESS, (double)f->max, \
	        .hint = "the longest call", .hidden = "least") \
	ROW(PREEMPTED_TIME, "preempted", NULL, "preempted", "_ns", 0, FXT_NO_METRIC, \
	        figure_self_cpu(f, f->self_cpu[FXT_CPU_RUNNABLE])) \
	ROW(BLOCKED_TIME, "blocked", NULL, "blocked", "_ns", 0, FXT_NO_METRIC, \
	        figure_self_cpu(f, f->self_cpu[FXT_CPU_BLOCKED])) \
	ROW(TOTAL_ON_CPU, "total_on", NULL, "total_on_cpu", "_ns", 0, FXT_NO_METRIC, \
	        figure_total_cpu(f, f->total_running)) \
	ROW(TOTAL_OFF_CPU, "total_off", NULL, "total_off_cpu", "_ns", 0, FXT_NO_METRIC, \
	        figure_total_cpu(f, f->total > f->total_running ? f->total - f->total_running : 0))
/* clang-format on */

#define FXT_FIGURE_ID(id, ...) FXT_##id,
enum fxt_figure { FXT_FIGURE_ROWS(FXT_FIGURE_ID, FXT_FIGURE_ID) FXT_FIGURES };
#undef FXT_FIGURE_ID

struct fxt_figure_row {
	const char *name, *title, *key;
	const char *before_key, *after_key, *change_key; /* of fxt diff */
	bool is_count;                                   /* otherwise a time in ns */
	unsigned char rank, compared_rank;               /* of the change, in fxt diff */
	/* fxt check takes it as a metric; people see "≥ " if losses make it less */
	enum fxt_loss loss;
	bool is_sorted;       /* fxt report can sort by it, though it is no metric */
	bool needs_switches;  /* people see it only if the trace has context switches */
	const char *compared; /* fxt diff compares it, by this description; NULL: not */
	const char *help;     /* of fxt report; NULL: that of the row before */
	const char *hint;     /* of the page's table; NULL: the page lacks it */
	const char *hidden;   /* there: the class that hides it on narrow screens */
	bool has_bar;         /* there: a bar shows its share */
};
extern const struct fxt_figure_row fxt_figures[FXT_FIGURES];

/* A figure of a function with calls, in ns (fxt_functions_to_ns()); NAN if it is not
 * known. */
double fxt_function_figure(
        const struct fxt_function *function, const struct fxt_scan *scan, enum fxt_figure figure);

/* True if the figure is a sum over calls: 0 for a function without calls. The other figures
 * are unknown then. */
static inline bool fxt_figure_is_sum(enum fxt_figure figure)
{
	return figure == FXT_CALLS || figure == FXT_TOTAL || figure == FXT_SELF;
}

bool fxt_figure_has_use(enum fxt_figure figure, enum fxt_figure_use use);

/* Finds the figure of a name that has this use. Returns false if there is none. */
bool fxt_figure_named(struct fxt_span name, enum fxt_figure_use use, enum fxt_figure *figure);

/* Writes the names of the figures that have this use, with "or" before the last one. `last`
 * is one more, or NULL. */
struct fxt_figure_names {
	char text[256];
};
struct fxt_figure_names fxt_figure_names(enum fxt_figure_use use, const char *last);

#endif
