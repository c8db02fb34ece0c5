/*
 * Tables of functions, or of what their calls are grouped by (reader/stats/groups.h): the lines of fxt
 * report.
 */
#ifndef FXT_FXT_LINES_H
#define FXT_FXT_LINES_H

#include "reader/stats/groups.h"
#include "table.h"

/* What lines are sorted by, besides figures. */
enum { FXT_LINES_BY_OFF = FXT_FIGURES, FXT_LINES_BY_NAME };

struct fxt_lines {
	const struct fxt_scan *scan;
	struct fxt_groups *groups;
	int order;                 /* enum fxt_figure, or one of the above */
	uint64_t limit;            /* lines of a table */
	struct fxt_call_cost cost; /* of recording, to be taken off; 0: as it is recorded */
	bool is_corrected;         /* lines tell what was taken off, and how far that may be off */
	bool has_switches;         /* it is known when threads were on a CPU */
	bool has_histograms;       /* behind a table is one for each line: how many calls took how long */
};

/* A line: the weight that it is sorted by is found once. */
struct fxt_line {
	const struct fxt_function *function;
	double weight;
	struct fxt_span name;
};

/* The lines of a table in order: the functions, or what the tracer tells besides. To be freed. */
struct fxt_line *fxt_lines_sort(
        const struct fxt_lines *l, const struct fxt_functions *functions, bool of_tracer, size_t *count);

/* The columns of lines as they are recorded, and the cells of one; its remark is in memory of the caller. */
enum { FXT_LINE_CELLS = 20, FXT_LINE_NAME = 15, FXT_LINE_REMARK = 48 };
void fxt_line_columns(const struct fxt_lines *l, struct fxt_column columns[FXT_LINE_CELLS]);
void fxt_line_cells(const struct fxt_lines *l, const struct fxt_line *line,
        struct fxt_cell cells[FXT_LINE_CELLS], char remark[FXT_LINE_REMARK]);

/* Prints a table, of a thread for example (fxt_table_begin()): the functions, or what the tracer tells
 * besides. Their times are in ns. */
void fxt_lines_print(
        const struct fxt_lines *l, const struct fxt_functions *functions, const char *of, bool of_tracer);

#endif
