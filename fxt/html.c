/*
 * fxt html: writes a trace as one page for a browser. Several threads read the trace; the
 * main thread writes. Names must be text in the page: never an element, script or
 * attribute.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "html/page.h"
#include "lane_slices.h"
#include "options.h"
#include "output.h"
#include "reader/trace/source.h"
#include "reader/trace/text.h"
#include "reader/slices/walk.h"

static const char help[] =
        "usage: fxt html [OPTION]... [FILE]\n"
        "\n"
        "Writes a trace as one page of HTML, for a browser or a mail: how long it took, what is missing, a\n"
        "timeline of the threads, the slowest calls and why, the functions with the figures of fxt report,\n"
        "the flame graph, locks, and the heap. It needs no network, has no script except its own, and does\n"
        "not grow with the number of calls: adjacent short calls are drawn as one. In the page, / searches,\n"
        "and W, A, S and D move the timeline.\n"
        "\n"
        "  -o, --output=OUT  the output; - is the standard output; compressed if it ends in\n"
        "                    .gz or .zst [FILE with .html for .fxt]\n"
        "      --around=CALL show every call from shortly before to shortly after this one: NAME or\n"
        "                    NAME:K, the K-th longest call of a function, or slow:K, a slow call of\n"
        "                    the page; may be given up to 8 times\n" FXT_HELP_CHOICE FXT_HELP_FILE;

enum { LOSSES_MAX = 4000 }; /* losses that are shown one by one */

static struct fxt_options chosen;
static struct fxt_thread_times times;
static struct fxt_faults faults;
static struct fxt_waits waits;
static struct fxt_lanes losses;
static struct fxt_windows windows;
static const char *output;
static bool has_heap;
static struct fxt_html_deaths deaths;

/* ---- the trace ---- */

static void html_begin(void *state)
{
	(void)state;
	times.listener.begin(times.listener.state);
	fxt_faults_clear(&faults);
	fxt_waits_clear(&waits);
	fxt_lanes_free(&losses);
	fxt_lanes_init(&losses, LOSSES_MAX);
	has_heap = false;
	deaths.count = 0;
}

/* True if a record is an event of a heap. */
static bool html_is_heap(struct fxt_tables *t, const struct fxt_view *view)
{
	return !has_heap && view->type == FXT_RECORD_EVENT && view->event.type == FXT_EVENT_INSTANT &&
	       fxt_span_is(fxt_tables_text(t, view->event.category), "heap");
}

static void html_on_death(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_death death;

	if (!fxt_death_read(t, view, &death))
		return;
	fxt_make_room(deaths.items, deaths.count, deaths.room);
	deaths.items[deaths.count++] = death;
}

static void html_record(void *state, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	(void)state;
	times.listener.record(times.listener.state, t, view, offset);
	fxt_faults_record(&faults, t, view);
	fxt_waits_record(&waits, t, view, offset);
	fxt_lanes_add_loss(&losses, t, view);
	has_heap |= html_is_heap(t, view);
	html_on_death(t, view);
}

static const struct fxt_scan_listener listener = {html_begin, html_record, NULL};

/* Sums up the calls of each thread, and of all threads. */
static void html_read_functions(struct fxt_html *page)
{
	bool is_whole;

	page->threads = fxt_functions_read(page->scan, NULL, &times, fxt_walk_workers(page->scan), &is_whole);
	for (size_t i = 0; i < page->scan->thread_count; i++)
		fxt_functions_add(&page->all, &page->threads[i]);
	fxt_functions_to_ns(&page->all, page->scan);
	page->is_changed |= !is_whole;
}

static void html_free(struct fxt_html *page)
{
	for (size_t i = 0; i < page->scan->thread_count; i++)
		fxt_functions_free(&page->threads[i]);
	free(page->threads);
	fxt_functions_free(&page->all);
	fxt_html_names_free(&page->names);
}

static int html_write(struct fxt_html *page, const char *name, const struct fxt_source *source)
{
	char *usual = fxt_output_name(name, "html");
	struct fxt_output out;
	int failed = fxt_output_open(&out, output ? output : usual, &source->file);

	if (!failed) {
		page->out = out.file;
		fxt_html_write(page);
		failed = fxt_output_close(&out);
	}
	if (!failed && !out.is_standard)
		printf("%s: %s\n", out.name, page->title);
	free(usual);
	return failed ? FXT_FAILED : fxt_report_changed(name, !page->is_changed);
}

static int html_source(const char *name, const struct fxt_source *source)
{
	const char *base = strrchr(name, '/');
	struct fxt_flame_wanted wanted = {.choice = &chosen.choice, .listener = &listener};
	struct fxt_flame_tree tree;
	int status = fxt_flame_tree_read(&tree, name, source, &wanted);

	if (status == FXT_FAILED)
		return status;
	fxt_flame_tree_fold(&tree);
	struct fxt_html page = {.title = base && strcmp(name, "-") != 0 ? base + 1 : name,
	        .is_chosen = !fxt_query_filter_is_all(&chosen.choice),
	        .tree = &tree,
	        .wanted = &wanted,
	        .scan = &tree.scan,
	        .times = &times,
	        .faults = &faults,
	        .waits = &waits,
	        .source = source,
	        .windows = &windows,
	        .losses = &losses,
	        .deaths = &deaths};

	fxt_thread_times_finish(&times, page.scan);
	fxt_faults_finish(&faults);
	fxt_waits_finish(&waits, page.scan);
	page.has_heap = has_heap;
	html_read_functions(&page);
	page.is_changed |= !fxt_outliers_read(&page.outliers, page.scan, &page.all);
	int found = fxt_windows_find(&windows, name, page.scan, &page.outliers);
	int written = found == FXT_FAILED ? found : html_write(&page, name, source);

	status = found > status ? found : status;
	html_free(&page);
	fxt_flame_tree_free(&tree);
	return written > status ? written : status;
}

/* ---- the command ---- */

/* Options without a letter. */
enum { OPTION_AROUND = FXT_OPTION_OWN };

/* Takes an option of the command's own. Returns FXT_DONE, or FXT_FAILED after reporting
 * the error. */
static int html_option(const char *command, int option)
{
	if (option == OPTION_AROUND)
		return fxt_windows_add(&windows, command, optarg);
	output = optarg;
	return FXT_DONE;
}

int fxt_command_html(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS_CHOICE,
	        {"output", required_argument, NULL, 'o'}, {"around", required_argument, NULL, OPTION_AROUND},
	        {0}};
	int option;

	chosen = (struct fxt_options){0};
	windows = (struct fxt_windows){0};
	output = NULL;
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1)
		if (!fxt_options_take(&chosen, argv[0], option) && html_option(argv[0], option) != FXT_DONE)
			return FXT_FAILED;
	fxt_thread_times_init(&times);
	fxt_faults_init(&faults);
	fxt_waits_init(&waits);
	int status = fxt_one_source(argc, argv, html_source);

	fxt_lanes_free(&losses);
	fxt_faults_free(&faults);
	fxt_waits_free(&waits);
	fxt_thread_times_free(&times);
	fxt_query_filter_free(&chosen.choice);
	fxt_windows_free(&windows);
	return status;
}
