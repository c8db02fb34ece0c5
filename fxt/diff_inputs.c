#include "diff_inputs.h"

#include <stdlib.h>
#include <string.h>
#include "reader/time/thread_times.h"
#include "reader/slices/walk.h"

const char *const fxt_side_names[FXT_SIDES] = {"before", "after"};

/* ---- reading ---- */

struct reading {
	const struct fxt_options *wanted;
	struct fxt_diff_inputs *filled; /* the result that is being filled */
	enum fxt_side side;             /* the input of the trace that is being read */
	struct fxt_thread_times times;  /* of the same trace */
};

/* Sums up a trace and adds it to the comparison. */
static bool diff_inputs_read_functions(struct reading *r, struct fxt_scan *scan, struct fxt_sided *trace)
{
	struct fxt_functions all;

	fxt_thread_times_finish(&r->times, scan);
	bool is_whole = fxt_functions_read_all(&all, scan, NULL, &r->times);

	trace->calls = fxt_functions_calls(&all);
	fxt_comparison_add(&r->filled->comparison, r->side, scan, &all);
	fxt_functions_free(&all);
	return is_whole;
}

/* A trace without the chosen functions counts as one without calls of them, because a
 * function may exist in one input only. */
static int diff_inputs_read(void *state, const char *name, const struct fxt_source *source)
{
	struct reading *r = state;
	struct fxt_sided *trace = &r->filled->traces[r->filled->count++];
	struct fxt_filter filter;
	struct fxt_scan scan;
	char error[1024];
	bool is_whole = true;

	*trace = (struct fxt_sided){.name = name, .side = r->side};
	fxt_thread_times_init(&r->times);
	fxt_scan_listened(&scan, source, NULL, &r->times.listener);
	if (fxt_query_filter_apply(&r->wanted->choice, &scan, &filter, error, sizeof(error)) == 0) {
		is_whole = diff_inputs_read_functions(r, &scan, trace);
		fxt_filter_free(&filter);
	} else {
		trace->problem = strdup(error);
		fxt_comparison_add(&r->filled->comparison, r->side, &scan, &(struct fxt_functions){0});
	}
	int status = fxt_report_unread(name, scan.malformed, scan.unknown, &scan.fault);

	trace->length_ns = fxt_scan_ns(&scan, scan.end - scan.start);
	trace->lost = scan.records_lost;
	trace->overwritten = scan.records_overwritten;
	trace->is_whole = scan.state.is_finished && scan.state.is_finished != FXT_ARCHIVE_RECOVERED &&
	                  scan.state.bytes_unwritten == 0 && scan.state.processes_dropped == 0 &&
	                  status == FXT_DONE && is_whole;
	fxt_scan_free(&scan);
	fxt_thread_times_free(&r->times);
	int changed = fxt_report_changed(name, is_whole);

	return changed > status ? changed : status;
}

/* Checks that the choice matches in at least one trace. */
static int diff_inputs_find_chosen(const struct fxt_diff_inputs *sides)
{
	size_t without = 0;

	for (size_t i = 0; i < sides->count; i++)
		without += sides->traces[i].problem != NULL;
	if (without < sides->count)
		return FXT_DONE;
	fxt_report_name(sides->traces[0].name, sides->traces[0].problem);
	return FXT_FAILED;
}

int fxt_diff_inputs_read(struct fxt_diff_inputs *sides, const struct fxt_options *options, char *command,
        char **before, size_t before_count, char **after, size_t after_count)
{
	size_t room = before_count + (after_count > 0 ? after_count : 1);

	*sides = (struct fxt_diff_inputs){.traces = fxt_allocate(room * sizeof(*sides->traces))};
	fxt_comparison_init(&sides->comparison, room);
	struct reading reading = {.wanted = options, .filled = sides, .side = FXT_BEFORE};
	int status = fxt_each_source_of(command, before, before_count, diff_inputs_read, &reading);

	reading.side = FXT_AFTER;
	int of_after = fxt_each_source_of(command, after, after_count, diff_inputs_read, &reading);

	status = of_after > status ? of_after : status;
	return status == FXT_FAILED || diff_inputs_find_chosen(sides) == FXT_FAILED ? FXT_FAILED : status;
}

void fxt_diff_inputs_free(struct fxt_diff_inputs *sides)
{
	for (size_t i = 0; i < sides->count; i++)
		free(sides->traces[i].problem);
	free(sides->traces);
	fxt_comparison_free(&sides->comparison);
}

/* ---- printing ---- */

void fxt_diff_inputs_print(const struct fxt_diff_inputs *sides)
{
	static const struct fxt_column columns[] = {{"side", "", FXT_COLUMN_TEXT, 0},
	        {"calls", "calls", FXT_COLUMN_COUNT, 0}, {"duration_ns", "length", FXT_COLUMN_TIME, 0},
	        {"records_lost", "lost", FXT_COLUMN_COUNT, 2},
	        {"records_overwritten", "overwritten", FXT_COLUMN_COUNT, 3},
	        {"file", "trace", FXT_COLUMN_TEXT, 0}};

	fxt_table_begin("traces", NULL, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < sides->count; i++) {
		const struct fxt_sided *trace = &sides->traces[i];

		fxt_table_row((struct fxt_cell[]){fxt_cell_text(fxt_span(fxt_side_names[trace->side])),
		        fxt_cell_number((double)trace->calls), fxt_cell_number((double)trace->length_ns),
		        fxt_cell_number((double)trace->lost), fxt_cell_number((double)trace->overwritten),
		        fxt_cell_text(fxt_span(trace->name))});
	}
	fxt_table_end();
}

void fxt_diff_inputs_print_missing(const struct fxt_diff_inputs *sides)
{
	size_t incomplete = 0;

	for (size_t i = 0; i < sides->count; i++) {
		const struct fxt_sided *trace = &sides->traces[i];

		incomplete += trace->lost > 0 || trace->overwritten > 0 || !trace->is_whole;
		if (trace->problem)
			fxt_print_note("%s: %s", trace->name, trace->problem);
	}
	if (incomplete > 0)
		fxt_print_note(
		        "%zu of the traces %s incomplete, because records were lost or overwritten or the "
		        "recording did not end normally: missing calls may make a difference or hide one",
		        incomplete, incomplete == 1 ? "is" : "are");
}
