/*
 * fxt processes: the processes of a trace as a tree of programs, and those that failed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "describe.h"
#include "options.h"
#include "reader/stats/processes.h"
#include "reader/trace/text.h"

static const char help[] =
        "usage: fxt processes [OPTION]... [FILE]...\n"
        "\n"
        "Prints the processes of a trace as a tree. A line stands for all processes of\n"
        "one program that were begun by the program above it:\n"
        "  processes  how many\n"
        "  failed     killed by a signal, or with another exit status than 0\n"
        "  total      the time from first to last event of each, added up\n"
        "  longest    the same of the longest one\n"
        "  calls      that they made\n"
        "  program    its name; of a single process also its number\n"
        "Then come the processes that failed. JSON and CSV have a line for each process.\n"
        "\n"
        "  -n, --limit=N        the first N lines; 10 of those that failed\n" FXT_HELP_CHOICE FXT_HELP_FORMAT
                FXT_HELP_FILE;

enum { FAILED = 10 };

static const struct fxt_column program_columns[] = {
        {"processes", "processes", FXT_COLUMN_COUNT, 0},
        {"failed", "failed", FXT_COLUMN_COUNT, 1},
        {"total_ns", "total", FXT_COLUMN_TIME, 0},
        {"longest_ns", "longest", FXT_COLUMN_TIME, 2},
        {"calls", "calls", FXT_COLUMN_COUNT, 3},
        {"program", "program", FXT_COLUMN_TEXT, 0},
        {"level", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
};
static const struct fxt_column process_columns[] = {
        {"process", "process", FXT_COLUMN_COUNT, 0},
        {"parent", "parent", FXT_COLUMN_COUNT, 0},
        {"program", "program", FXT_COLUMN_TEXT, 0},
        {"start_ns", "start", FXT_COLUMN_TIME, 0},
        {"time_ns", "time", FXT_COLUMN_TIME, 0},
        {"calls", "calls", FXT_COLUMN_COUNT, 0},
        {"threads", "threads", FXT_COLUMN_COUNT, 0},
        {"status", "status", FXT_COLUMN_COUNT, 0},
        {"signal", "signal", FXT_COLUMN_COUNT, 0},
};
enum { PROGRAM_COLUMNS = sizeof(program_columns) / sizeof(*program_columns) };
enum { PROCESS_COLUMNS = sizeof(process_columns) / sizeof(*process_columns) };

/* ---- the tree ---- */

/* The nodes, those of one parent next to each other, the one with the longest total
 * first. */
static int processes_by_parent(const void *left, const void *right, void *programs)
{
	const struct fxt_program *a = (const struct fxt_program *)programs + *(const uint32_t *)left;
	const struct fxt_program *b = (const struct fxt_program *)programs + *(const uint32_t *)right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return (a > b) - (a < b);
}

static void processes_program_row(const struct fxt_processes *p, const struct fxt_program *program)
{
	struct fxt_cell cells[PROGRAM_COLUMNS] = {0};
	char number[32];

	cells[0] = fxt_cell_number((double)program->processes);
	cells[1] = fxt_cell_number((double)program->failed);
	cells[2] = fxt_cell_number((double)fxt_scan_ns(p->scan, program->time));
	cells[3] = fxt_cell_number((double)fxt_scan_ns(p->scan, program->longest));
	cells[4] = fxt_cell_number((double)program->calls);
	cells[5] = fxt_cell_text(p->scan->tables.strings[program->name]);
	cells[5].indent = FXT_INDENT * (program->depth - 1);
	if (program->processes == 1) {
		snprintf(number, sizeof(number), " %" PRIu64, p->items[program->only].koid);
		cells[5].remark = fxt_span(number);
	}
	cells[6] = fxt_cell_number(program->depth - 1);
	fxt_table_row(cells);
}

/* Prints the nodes, each followed by those it began. Uses an explicit stack, because
 * processes may begin each other in a long row. */
static void processes_print_programs(const struct fxt_processes *p, uint64_t limit)
{
	size_t count = p->program_count - 1;
	uint32_t *order = fxt_allocate((count + 1) * sizeof(*order));
	uint32_t *first = fxt_allocate((count + 1) * sizeof(*first)); /* child of each: place, plus 1 */
	uint32_t *ways = fxt_allocate((count + 1) * sizeof(*ways));
	size_t depth = 0;

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i + 1;
	qsort_r(order, count, sizeof(*order), processes_by_parent, p->programs);
	for (size_t i = count; i-- > 0;)
		first[p->programs[order[i]].parent] = (uint32_t)i + 1;
	if (count > 0)
		ways[depth++] = first[0] - 1;
	while (depth > 0 && limit > 0) {
		uint32_t at = ways[depth - 1], node = order[at];

		processes_program_row(p, &p->programs[node]);
		limit--;
		if (at + 1 < count && p->programs[order[at + 1]].parent == p->programs[node].parent)
			ways[depth - 1]++;
		else
			depth--;
		if (first[node] > 0)
			ways[depth++] = first[node] - 1;
	}
	free(order);
	free(first);
	free(ways);
}

/* ---- single processes ---- */

static void processes_row(const struct fxt_processes *p, const struct fxt_process *process)
{
	const struct fxt_scan *scan = p->scan;
	struct fxt_cell cells[PROCESS_COLUMNS] = {0};
	uint64_t start = fxt_scan_ns(scan, process->start);

	cells[0] = fxt_cell_number((double)process->koid);
	cells[1] = process->parent ? fxt_cell_number((double)process->parent) : fxt_cell_unknown();
	cells[2] = fxt_cell_text(scan->tables.strings[process->name]);
	cells[3] = fxt_cell_number((double)start - (double)fxt_scan_ns(scan, scan->start));
	cells[4] = fxt_cell_number((double)(fxt_scan_ns(scan, process->end) - start));
	cells[5] = fxt_cell_number((double)process->calls);
	cells[6] = fxt_cell_number(process->threads);
	cells[7] = process->how == FXT_PROCESS_EXITED ? fxt_cell_number(process->status) : fxt_cell_unknown();
	cells[8] = process->how == FXT_PROCESS_KILLED ? fxt_cell_number(process->status) : fxt_cell_unknown();
	fxt_table_row(cells);
}

static bool processes_has_failed(const struct fxt_process *process)
{
	return process->how == FXT_PROCESS_KILLED || process->status != 0;
}

static void processes_print_failed(const struct fxt_processes *p, uint64_t limit)
{
	uint64_t more = 0;

	for (size_t i = 0; i < p->count; i++) {
		const struct fxt_process *process = &p->items[i];
		struct fxt_span name = p->scan->tables.strings[process->name];
		const char *signal =
		        process->how == FXT_PROCESS_KILLED ? sigabbrev_np(process->status) : NULL;
		char how[48], by[48] = "";

		if (!processes_has_failed(process))
			continue;
		if (limit == 0) {
			more++;
			continue;
		}
		limit--;
		if (process->how == FXT_PROCESS_KILLED)
			snprintf(how, sizeof(how), "killed by SIG%s (%" PRId32 ")", signal ? signal : "?",
			        process->status);
		else
			snprintf(how, sizeof(how), "exit status %" PRId32, process->status);
		if (process->parent)
			snprintf(by, sizeof(by), ", begun by process %" PRIu64, process->parent);
		fxt_print_note("process %" PRIu64 " \"%.*s\": %s%s", process->koid, (int)name.bytes,
		        name.data, how, by);
	}
	if (more > 0)
		fxt_print_note("%" PRIu64 " more failed: --limit shows them, --json all", more);
}

/* ---- the command ---- */

static int processes_answer(void *state, const char *name, struct fxt_scan *scan)
{
	const struct fxt_options *wanted = state;
	struct fxt_processes processes, *p = &processes;
	bool is_whole = fxt_processes_read(p, scan);
	uint64_t limit = fxt_options_limit(wanted, UINT64_MAX), failed = 0;

	for (size_t i = 0; i < p->count; i++)
		failed += processes_has_failed(&p->items[i]);
	fxt_print_line(
	        "%s: %zu process%s, %" PRIu64 " failed", name, p->count, p->count == 1 ? "" : "es", failed);
	fxt_print_fact("processes", (double)p->count);
	fxt_print_fact("failed", (double)failed);
	fxt_table_begin("programs", NULL, program_columns, PROGRAM_COLUMNS);
	processes_print_programs(p, limit);
	fxt_table_end();
	if (fxt_print_format() == FXT_FORMAT_TEXT) {
		processes_print_failed(p, fxt_options_limit(wanted, FAILED));
	} else {
		fxt_table_begin("processes", NULL, process_columns, PROCESS_COLUMNS);
		for (size_t i = 0; i < p->count; i++)
			processes_row(p, &p->items[i]);
		fxt_table_end();
	}
	fxt_print_missing(scan);
	fxt_processes_free(p);
	return fxt_report_changed(name, is_whole);
}

int fxt_command_processes(int argc, char **argv)
{
	struct fxt_options wanted = {0};

	fxt_options_take_all(&wanted, argc, argv, help);
	return fxt_each_scan(argc, argv, &wanted, processes_answer, &wanted);
}
