/*
 * Writes the page's summary: numbers, flags, deaths and threads. Runs on the main thread.
 */
#include "page.h"

#include <inttypes.h>
#include <stdlib.h>
#include "fxt/json.h"
#include "fxt/describe.h"

static void summary_number(FILE *out, const char *key, uint64_t number)
{
	fprintf(out, ",\n\"%s\": %" PRIu64, key, number);
}

void fxt_html_object(struct fxt_html *page, enum fxt_object_type type, uint64_t koid)
{
	uint32_t name = fxt_tables_object_name(&page->scan->tables, type, koid);

	fprintf(page->out, "%" PRIu64 ", ", koid);
	if (name == FXT_NOTHING)
		fputs("null", page->out);
	else
		fprintf(page->out, "%" PRIu32, fxt_html_name(&page->names, name));
}

/* Writes an entry for each thread that has slices: number and name of its process, number
 * and name of the thread, and its calls. The key is the thread's id, by which the other
 * parts refer to it. */
static void summary_threads(struct fxt_html *page)
{
	const struct fxt_scan *scan = page->scan;
	const char *before = "";

	fputs(",\n\"threads\": {", page->out);
	for (size_t i = 0; i < scan->thread_count; i++) {
		struct fxt_koids koids = scan->tables.threads[i];

		if (page->threads[i].count == 0)
			continue;
		fprintf(page->out, "%s\n\"%zu\": [", before, i);
		fxt_html_object(page, FXT_OBJECT_PROCESS, koids.process);
		fputs(", ", page->out);
		fxt_html_object(page, FXT_OBJECT_THREAD, koids.thread);
		fprintf(page->out, ", %" PRIu64 "]", fxt_functions_calls(&page->threads[i]));
		before = ",";
	}
	fputs("}", page->out);
}

/* Writes the ranks of the processes of a job, by process. */
static void summary_ranks(struct fxt_html *page)
{
	const struct fxt_tables *t = &page->scan->tables;
	const char *before = "";

	fputs(",\n\"ranks\": {", page->out);
	for (size_t i = 0; i < t->object_count; i++) {
		const struct fxt_object *object = &t->objects[i];

		if (object->type != FXT_OBJECT_PROCESS || !object->rank.is_known)
			continue;
		fprintf(page->out, "%s\"%" PRIu64 "\": %" PRIu32, before, object->koid, object->rank.rank);
		before = ",";
	}
	fputs("}", page->out);
}

/* Writes how many threads and processes there are. For a whole trace this includes threads
 * that the timeline lacks, because they did nothing that is drawn. For a chosen part of a
 * trace only threads with slices count. */
static void summary_counts(struct fxt_html *page)
{
	const struct fxt_scan *scan = page->scan;
	const struct fxt_tables *t = &scan->tables;
	uint64_t *processes = fxt_allocate((scan->thread_count + t->object_count) * sizeof(*processes));
	size_t threads = 0, count;

	for (size_t i = 1; i < scan->thread_count; i++)
		if (!page->is_chosen || page->threads[i].count > 0)
			processes[threads++] = t->threads[i].process;
	count = threads;
	for (size_t i = 0; i < t->object_count && !page->is_chosen; i++)
		if (t->objects[i].type == FXT_OBJECT_PROCESS)
			processes[count++] = t->objects[i].koid;
	summary_number(page->out, "thread_count", threads);
	summary_number(page->out, "process_count", fxt_sort_koids(processes, count));
	free(processes);
}

/* The most deaths that are listed. A trace may have thousands of killed workers. */
enum { DEATHS_SHOWN = 10 };

static void summary_deaths(struct fxt_html *page)
{
	const struct fxt_html_deaths *deaths = page->deaths;

	summary_number(page->out, "death_count", deaths->count);
	fputs(",\n\"deaths\": [", page->out);
	for (size_t i = 0; i < deaths->count && i < DEATHS_SHOWN; i++) {
		struct fxt_describer text;

		fxt_describe_begin(&text);
		fxt_death_write(text.out, &deaths->items[i]);
		fputs(": ", text.out);
		fxt_death_write_who(text.out, &page->scan->tables, &deaths->items[i]);
		fputs(i ? ", " : "", page->out);
		fxt_json_string_in_html(page->out, fxt_describe_end(&text));
		fxt_describe_free(&text);
	}
	fputs("]", page->out);
}

void fxt_html_summary(struct fxt_html *page)
{
	const struct fxt_scan *scan = page->scan;
	FILE *out = page->out;

	fputs("\"file\": ", out);
	fxt_json_string_in_html(out, fxt_span(page->title));
	fprintf(out, ",\n\"version\": \"" FXT_VERSION "\"");
	summary_number(out, "duration_ns", fxt_scan_ns(scan, scan->end - scan->start));
	summary_number(out, "calls", fxt_functions_calls(&page->all));
	summary_number(out, "function_count", fxt_functions_called(&page->all));
	summary_number(out, "records_lost", scan->records_lost);
	summary_number(out, "losses_uncounted", fxt_tables_uncounted_losses(&scan->tables));
	summary_number(out, "records_overwritten", scan->records_overwritten);
	summary_number(out, "ends_without_begin", scan->ends_without_begin);
	summary_number(out, "malformed", scan->malformed);
	summary_number(out, "bytes_unwritten", scan->state.bytes_unwritten);
	summary_number(out, "processes_dropped", scan->state.processes_dropped);
	summary_number(out, "records_dropped", scan->state.records_dropped);
	summary_number(out, "tracer_waits", page->times->waits);
	summary_number(out, "tracer_waited_ns", fxt_scan_ns(scan, page->times->waited_time));
	summary_number(out, "calls_left_out", scan->elided_sums.calls);
	summary_number(out, "left_out_ns", fxt_scan_ns(scan, scan->elided_sums.own));
	fprintf(out, ",\n\"is_finished\": %s", scan->state.is_finished ? "true" : "false");
	fprintf(out, ",\n\"is_recovered\": %s",
	        scan->state.is_finished == FXT_ARCHIVE_RECOVERED ? "true" : "false");
	fprintf(out, ",\n\"is_cut\": %s", scan->cut.what ? "true" : "false");
	fprintf(out, ",\n\"is_whole\": %s", scan->fault.reason ? "false" : "true");
	fprintf(out, ",\n\"is_chosen\": %s", page->is_chosen ? "true" : "false");
	fprintf(out, ",\n\"has_switches\": %s", page->times->has_switches ? "true" : "false");
	fxt_html_recorded_write(page->recorded, out);
	summary_deaths(page);
	summary_counts(page);
	summary_threads(page);
	summary_ranks(page);
}
