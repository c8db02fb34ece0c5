/*
 * Puts together the summary of a finished trace or snapshot (summary.h). Runs on the main
 * thread. It must never show a sum as complete if records were lost or processes ran
 * untraced.
 */
#include "summary.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "output.h"
#include "reader/trace/instrumenting.h"
#include "reader/trace/text.h"

/* The events from which on a trace of half the size is worth a line: some 25 MB. */
#define EVENTS_MANY 1000000

struct line {
	char *text;
	size_t bytes, used;
};

static void summary_add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void summary_add(struct line *line, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line->text + line->used, line->bytes - line->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		line->used += (size_t)length < line->bytes - line->used ? (size_t)length
		                                                        : line->bytes - line->used - 1;
}

/* 12345678 as 12,345,678 */
static void summary_add_number(struct line *line, uint64_t number)
{
	if (number >= 1000) {
		summary_add_number(line, number / 1000);
		summary_add(line, ",%03" PRIu64, number % 1000);
	} else {
		summary_add(line, "%" PRIu64, number);
	}
}

static void summary_add_count(struct line *line, uint64_t number, const char *one, const char *many)
{
	summary_add_number(line, number);
	summary_add(line, " %s, ", number == 1 ? one : many);
}

static void summary_add_bytes(struct line *line, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	double size = (double)bytes;
	unsigned unit = 0;

	/* 999.5 kB would be shown as 1000 kB. */
	for (; unit < 4 && size >= (unit ? 999.5 : 1000); unit++)
		size /= 1000;
	summary_add(line, unit && size < 9.95 ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

/* Adds what is lost. If data could not be written, its records are not known, only its
 * bytes. */
static void summary_add_lost(struct line *line, const struct fxt_totals *totals)
{
	if (totals->trace_is_lost) {
		summary_add(line, "all lost, ");
		return;
	}
	if (totals->losses.lost || !totals->bytes_unwritten)
		summary_add_number(line, totals->losses.lost);
	if (totals->losses.lost && totals->bytes_unwritten)
		summary_add(line, " and ");
	if (totals->bytes_unwritten)
		summary_add_bytes(line, totals->bytes_unwritten);
	summary_add(line, " lost, ");
}

/* Adds how many files a rotated trace has, and what was deleted of it. */
static void summary_add_files(struct line *line, const struct fxt_totals *totals)
{
	if (totals->files <= 1 && !totals->files_deleted)
		return;
	summary_add(line, " (%" PRIu32 " file%s", totals->files, totals->files == 1 ? "" : "s");
	if (totals->files_deleted) {
		summary_add(line, "; %" PRIu32 " earlier one%s with ", totals->files_deleted,
		        totals->files_deleted == 1 ? "" : "s");
		summary_add_number(line, totals->events_deleted);
		summary_add(line, " event%s deleted, --keep)", totals->events_deleted == 1 ? "" : "s");
	} else {
		summary_add(line, ")");
	}
}

bool fxt_summary_lacks_calls(const struct fxt_totals *totals)
{
	return !totals->has_calls && totals->processes > 0 && !totals->without_calls &&
	       !totals->earlier_waits && !(totals->wants_heap && totals->events > 0) &&
	       totals->losses.lost + totals->losses.overwritten == 0;
}

void fxt_summary(char *text, size_t text_bytes, const struct fxt_totals *totals, const char *program,
        const char *output, uint64_t output_bytes)
{
	struct line line = {text, text_bytes, 0};

	if (totals->was_not_started && totals->refused == 0) {
		summary_add(&line, "the recording was never started (fxtctl start does that), no events: %s",
		        output);
		return;
	}
	if (totals->processes == 0 && totals->refused == 0) {
		summary_add(&line,
		        "%s did not load the tracing library (does it clear its environment, or end before "
		        "main?), "
		        "no events: %s",
		        program, output);
		return;
	}
	summary_add_count(&line, totals->events, "event", "events");
	if (totals->events == 0 && totals->threads == 0)
		summary_add(&line, "no thread did anything that is recorded, ");
	else
		summary_add_count(&line, totals->threads, "thread", "threads");
	summary_add_count(&line, totals->processes, "process", "processes");
	summary_add_lost(&line, totals);
	if (totals->losses.overwritten)
		summary_add_count(&line, totals->losses.overwritten, "overwritten", "overwritten");
	summary_add_bytes(&line, output_bytes);
	summary_add(&line, ": ");
	if (totals->files > 1)
		summary_add(&line, "%s to ", totals->first_file);
	summary_add(&line, "%s", output);
	summary_add_files(&line, totals);
	if (totals->process_files)
		summary_add(&line, " (%" PRIu32 " file%s, one for each process)", totals->process_files,
		        totals->process_files == 1 ? "" : "s");
	if (totals->uses_project_file)
		summary_add(&line, " (with the options of .fxtrc)");
	if (totals->killed[0])
		summary_add(&line, " (%s)", totals->killed);
	if (totals->elided.calls) {
		summary_add(&line, " (");
		summary_add_number(&line, totals->elided.calls);
		summary_add(&line, " call%s elided, %s)", totals->elided.calls == 1 ? "" : "s",
		        fxt_time_text((double)totals->elided.ns).text);
	}
	if (totals->processes_dropped) {
		summary_add(&line, " (");
		summary_add_number(&line, totals->processes_dropped);
		summary_add(&line, " process%s that had ended %s dropped; --total-size)",
		        totals->processes_dropped == 1 ? "" : "es",
		        totals->processes_dropped == 1 ? "was" : "were");
	}
	if (totals->has_kept_old)
		summary_add(&line, " (the previous one is %s" FXT_TRACE_OUTPUT_OLD ")", output);
	if (fxt_summary_lacks_calls(totals))
		summary_add(&line,
		        totals->has_own_hooks
		                ? " (%s has hooks of its own: __cyg_profile_func_enter is defined in it and "
		                  "is "
		                  "called instead of fxtrun's; build it without that definition)"
		        : totals->is_instrumented
		                ? " (no calls: %s made none while it was recorded, or all are excluded)"
		                : " (no calls: is %s compiled with " FXT_INSTRUMENTING "?)",
		        program);
	if (totals->earlier_waits)
		summary_add(&line, " (%" PRIu64 " thread%s waited since before the attach: fxt threads %s)",
		        totals->earlier_waits, fxt_plural(totals->earlier_waits), output);
	if (totals->bytes_unwritten) {
		summary_add(&line, " (");
		summary_add_bytes(&line, totals->bytes_unwritten);
		summary_add(&line, " could not be written)");
	}
	if (totals->max_bytes)
		summary_add(&line, " (--max-size ended the recording)");
	if (totals->still_running)
		summary_add(&line, " (%" PRIu32 " still running)", totals->still_running);
	if (totals->refused)
		summary_add(&line, " (%" PRIu32 " ran untraced)", totals->refused);
}

void fxt_summary_muted(char *text, size_t text_bytes, const struct fxt_counted_function *function,
        uint64_t start_ticks, uint64_t ticks_per_second)
{
	struct line line = {text, text_bytes, 0};
	uint64_t since = function->muted_ticks > start_ticks ? function->muted_ticks - start_ticks : 0;

	summary_add(&line, "muted by --auto: %.200s since %s: ", function->name,
	        fxt_time_text((double)since * 1e9 / (double)ticks_per_second).text);
	summary_add_number(&line, function->recorded);
	summary_add(&line, " call%s recorded until then", function->recorded == 1 ? "" : "s");
}

bool fxt_summary_suggests(const struct fxt_totals *totals)
{
	return totals->events >= EVENTS_MANY && totals->noise * 2 >= (double)totals->events;
}
