/*
 * Tables of functions, or of the groups that calls are summed by (reader/stats/groups.h):
 * the lines of fxt report.
 */
#ifndef FXT_FXT_LINES_H
#define FXT_FXT_LINES_H

#include "reader/stats/figures.h"
#include "reader/stats/groups.h"
#include "table.h"

/* The columns of uncorrected lines: the figures, the name, and where it comes from. */
enum { FXT_LINE_NAME = FXT_FIGURES, FXT_LINE_CELLS = FXT_LINE_NAME + 5, FXT_LINE_REMARK = 48 };

struct fxt_lines {
	const struct fxt_scan *scan;
	struct fxt_groups *groups;
	unsigned order;            /* the column: enum fxt_figure or FXT_LINE_NAME */
	uint64_t limit;            /* most lines of a table */
	struct fxt_call_cost cost; /* cost of recording, which is subtracted; 0: times
	                              stay as recorded */
	bool is_corrected;         /* lines show what was subtracted, and its uncertainty */
	bool has_switches;         /* the trace shows when threads were on a CPU */
	bool has_histograms;       /* a histogram of durations for each line follows the
	                              table */
};

/* A line, with the weight that it is sorted by, which is computed once. */
struct fxt_line {
	const struct fxt_function *function;
	double weight;
	struct fxt_span name;
};

/* Returns the lines of a table in order: the functions or, if `of_tracer`, the entries
 * of the tracer itself. The caller frees the array. */
struct fxt_line *fxt_lines_sort(
        const struct fxt_lines *l, const struct fxt_functions *functions, bool of_tracer, size_t *count);

/* Fills in these columns, and the cells of one line. The remark is written to the caller's
 * buffer. */
void fxt_line_columns(const struct fxt_lines *l, struct fxt_column columns[FXT_LINE_CELLS]);
void fxt_line_cells(const struct fxt_lines *l, const struct fxt_line *line,
        struct fxt_cell cells[FXT_LINE_CELLS], char remark[FXT_LINE_REMARK]);

/* Prints a table of functions or, if `of_tracer`, of the tracer's own entries. `of` is
 * what the table belongs to, such as a thread (fxt_table_begin()). Times are in ns. */
void fxt_lines_print(
        const struct fxt_lines *l, const struct fxt_functions *functions, const char *of, bool of_tracer);

/* Prints a line FILE:LINE: for each function whose place in the source is known, in the form
 * of gcc's messages, which editors take as a list of places. Returns the number of functions
 * without a known place. */
size_t fxt_lines_print_places(const struct fxt_lines *l, const struct fxt_functions *functions);

#endif
