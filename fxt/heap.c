/*
 * fxt heap: shows the use of the heap in a trace. Runs on the main thread. Figures of a
 * sampled heap, and those that lost records may change, must be marked as such.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "heap_diff.h"
#include "heap_history.h"
#include "heap_json.h"
#include "heap_tables.h"
#include "heap_view.h"
#include "options.h"
#include "reader/trace/duration.h"

static const char help[] =
        "usage: fxt heap [OPTION]... [FILE]...\n"
        "\n"
        "Prints, for each process of a trace recorded with fxtrun --heap, how much of\n"
        "its heap was live at the peak and at the end, and which call paths allocated\n"
        "it.\n"
        "  peak       blocks that were live when most bytes were\n"
        "  leaked     blocks that were never freed\n"
        "  kept       blocks that the C library never freed, such as stdout's buffer\n"
        "  allocated  all blocks\n"
        "  temporary  blocks freed at once: the next heap event of the thread was the\n"
        "             free\n"
        "\n"
        "      --cost=COST  only peak, leaked, kept, allocated or temporary [tables of\n"
        "                   peak and leaked]\n"
        "  -b, --by=KEY     path (the default): whole call paths; function: the\n"
        "                   functions that allocate; in addition, process: each process\n"
        "                   by itself, or program: the processes of a program summed up,\n"
        "                   the default for more than N processes\n"
        "  -n, --limit=N    the first N lines of each table, and programs [10]\n"
        "      --histogram  blocks by size\n"
        "      --timeline   live bytes over time, in 50 steps\n"
        "      --pointers   which blocks the pointers in other events point into, such\n"
        "                   as the block that a lock is in\n"
        "      --at=TIME    the heap at this time since the trace's start, such as 1.5s\n"
        "      --pointer=ADDRESS\n"
        "                   all blocks that contained this address: who allocated\n"
        "                   and freed them, when\n"
        "      --diff=OLD   the change of each call path's cost since another trace, all\n"
        "                   processes of a trace together\n"
        "      --folded     no tables: one line a call path, for flame graphs; see --cost\n"
        "  -j, --json       everything as JSON, paths as folded; --csv: the tables as\n"
        "                   CSV; see fxt(1)\n"
        "For some processes, or a part of the time, use fxt cut.\n" FXT_HELP_FILE;

/* The options, and the state while traces are read. */
struct heap_command {
	struct fxt_heap_wanted wanted;
	const char *before; /* the earlier trace that the others are compared with */
	uint64_t lost_before;
};

/* Reads the heap as of the wanted moment. */
static void heap_read_wanted(struct heap_command *c, struct fxt_heap *heap, const struct fxt_archive *archive)
{
	bool is_at_end = c->wanted.at_ns == UINT64_MAX;

	fxt_heap_read(heap, archive, 0, c->wanted.pointers && is_at_end);
	if (is_at_end)
		return;
	uint64_t start = heap->start;

	fxt_heap_free(heap);
	fxt_heap_read_until(heap, archive,
	        c->wanted.at_ns < UINT64_MAX - start ? start + c->wanted.at_ns : UINT64_MAX,
	        c->wanted.pointers);
}

static int heap_take_before(void *state, const char *name, const struct fxt_archive *archive)
{
	struct heap_command *c = state;
	struct fxt_heap heap;

	heap_read_wanted(c, &heap, archive);
	fxt_heap_diff_add(&heap, true, &c->wanted);
	int status = fxt_report_unread(name, heap.malformed, heap.unknown, &heap.fault);

	c->lost_before = heap.records_lost;
	fxt_heap_free(&heap);
	return status;
}

static int heap_take_after(void *state, const char *name, const struct fxt_archive *archive)
{
	struct heap_command *c = state;
	struct fxt_heap heap;

	heap_read_wanted(c, &heap, archive);
	fxt_heap_diff_add(&heap, false, &c->wanted);
	int status = fxt_report_unread(name, heap.malformed, heap.unknown, &heap.fault);

	fxt_print_trace(name);
	fxt_heap_diff_print(&c->wanted);
	fxt_heap_print_lost(c->before, c->lost_before);
	fxt_heap_print_lost(name, heap.records_lost);
	fxt_heap_free(&heap);
	return status;
}

static int heap_file(void *state, const char *name, const struct fxt_archive *archive)
{
	struct heap_command *c = state;
	struct fxt_heap heap;

	heap_read_wanted(c, &heap, archive);
	if (c->wanted.pointer)
		fxt_heap_print_history(&heap, name, &c->wanted);
	else if (c->wanted.format == FXT_FORMAT_CSV)
		fxt_heap_print_tables(&heap, name, &c->wanted);
	else if (c->wanted.format == FXT_FORMAT_JSON)
		fxt_heap_print_json(&heap, name, c->wanted.sections == FXT_HEAP_BY_PROGRAM);
	else if (c->wanted.folded)
		fxt_heap_print_folded(&heap, c->wanted.cost);
	else
		fxt_heap_print(&heap, name, &c->wanted);
	int status = fxt_report_unread(name, heap.malformed, heap.unknown, &heap.fault);

	fxt_heap_free(&heap);
	return status;
}

static int heap_each(int argc, char **argv,
        int (*read)(void *state, const char *name, const struct fxt_archive *archive), void *state)
{
	return fxt_each_archive_of(argv[0], argv + optind, (size_t)(argc - optind), read, state);
}

static int heap_compare(struct heap_command *c, int argc, char **argv, char *old)
{
	c->before = old;
	int status = fxt_each_archive_of(argv[0], &old, 1, heap_take_before, c);
	int after = status == FXT_FAILED ? status : heap_each(argc, argv, heap_take_after, c);

	fxt_heap_diff_free();
	return after > status ? after : status;
}

/* Takes a key: some keys say what the lines of tables are, others what tables are for. */
static bool heap_take_key(struct heap_command *c, const char *key)
{
	if (strcmp(key, "function") == 0 || strcmp(key, "path") == 0)
		c->wanted.by_function = strcmp(key, "function") == 0;
	else if (strcmp(key, "process") == 0)
		c->wanted.sections = FXT_HEAP_BY_PROCESS;
	else if (strcmp(key, "program") == 0)
		c->wanted.sections = FXT_HEAP_BY_PROGRAM;
	else
		return false;
	return true;
}

int fxt_command_heap(int argc, char **argv)
{
	struct heap_command command = {0}, *c = &command;
	enum { COST = FXT_OPTION_OWN, HISTOGRAM, TIMELINE, FOLDED, POINTERS, AT, POINTER, DIFF };
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS_LIMIT,
	        {"cost", required_argument, NULL, COST}, {"by", required_argument, NULL, 'b'},
	        {"histogram", no_argument, NULL, HISTOGRAM}, {"timeline", no_argument, NULL, TIMELINE},
	        {"folded", no_argument, NULL, FOLDED}, FXT_OPTIONS_FORMAT,
	        {"pointers", no_argument, NULL, POINTERS}, {"at", required_argument, NULL, AT},
	        {"pointer", required_argument, NULL, POINTER}, {"diff", required_argument, NULL, DIFF}, {0}};
	struct fxt_options shared = {0};
	int option;
	char *end, *old = NULL;

	c->wanted = (struct fxt_heap_wanted){.cost = FXT_HEAP_COST_UNSET, .at_ns = UINT64_MAX};
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1) {
		switch (option) {
		case COST:
			c->wanted.cost = fxt_heap_cost_named(optarg);
			if (c->wanted.cost == FXT_HEAP_COST_UNSET)
				return fxt_bad_usage(argv[0], "no such cost: '%s'", optarg);
			break;
		case 'b':
			if (!heap_take_key(c, optarg))
				return fxt_bad_usage(argv[0], "cannot group by '%s'", optarg);
			break;
		case 'n':
		case 'j':
		case FXT_OPTION_CSV:
			fxt_options_take(&shared, argv[0], option);
			break;
		case HISTOGRAM:
			c->wanted.histogram = true;
			break;
		case TIMELINE:
			c->wanted.timeline = true;
			break;
		case FOLDED:
			c->wanted.folded = true;
			break;
		case POINTERS:
			c->wanted.pointers = true;
			break;
		case AT:
			if (!fxt_duration_parse(optarg, &c->wanted.at_ns))
				return fxt_bad_usage(
				        argv[0], "'%s' is not a time with a unit, such as 5ms", optarg);
			break;
		case POINTER:
			c->wanted.pointer = strtoull(optarg, &end, 16);
			if (c->wanted.pointer == 0 || *end)
				return fxt_bad_usage(argv[0], "'%s' is not an address", optarg);
			break;
		case DIFF:
			old = optarg;
			break;
		}
	}
	c->wanted.format = shared.format;
	c->wanted.limit = fxt_options_limit(&shared, c->wanted.format == FXT_FORMAT_TEXT ? 10 : UINT64_MAX);
	if (c->wanted.timeline && c->wanted.sections == FXT_HEAP_BY_PROGRAM)
		return fxt_bad_usage(
		        argv[0], "--timeline shows single processes and does not go with --by=program");
	fxt_print_begin(argv[0], c->wanted.format);
	int status = old ? heap_compare(c, argc, argv, old) : heap_each(argc, argv, heap_file, c);

	fxt_print_end();
	return status;
}
