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

static const char help[] = "usage: fxt html [OPTION]... [FILE]\n"
                           "\n"
                           "Writes a trace as one page of HTML, for a browser or a mail: how long it took,\n"
                           "what is missing, a timeline of the threads, the slowest calls and why, the\n"
                           "functions with the figures of fxt report, the flame graph, locks, and the heap.\n"
                           "It needs no network, has no script except its own, and does not grow with the\n"
                           "number of calls: adjacent short calls are drawn as one. In the page, /\n"
                           "searches, and W, A, S and D move the timeline.\n"
                           "\n"
                           "  -o, --output=OUT  the output; - is the standard output; compressed if it ends\n"
                           "                    in .gz or .zst [FILE with .html for .fxt]\n"
                           "      --around=CALL show every call from shortly before to shortly after\n"
                           "                    this one: NAME or NAME:K, the K-th longest call of a\n"
                           "                    function, or slow:K, a slow call of the page; may be given\n"
                           "                    up to 8 times\n" FXT_HELP_CHOICE FXT_HELP_FOLD FXT_HELP_FILE;

enum { LOSSES_MAX = 4000 }; /* losses that are shown one by one */

/* The options, and the state while traces are read. */
struct html_command {
	struct fxt_options chosen;
	struct fxt_thread_times times;
	struct fxt_faults faults;
	struct fxt_waits waits;
	struct fxt_lanes losses;
	struct fxt_windows windows;
	bool has_heap;
	struct fxt_html_deaths deaths;
	struct fxt_html_recorded recorded;
	struct fxt_hops hops;
	const char *output;
};

/* ---- the trace ---- */

static void html_begin(void *state)
{
	struct html_command *c = state;

	c->times.listener.begin(c->times.listener.state);
	fxt_faults_clear(&c->faults);
	fxt_waits_clear(&c->waits);
	fxt_lanes_free(&c->losses);
	fxt_lanes_init(&c->losses, LOSSES_MAX);
	c->deaths.count = 0;
	c->hops.event_count = 0;
	fxt_html_recorded_free(&c->recorded);
}

/* True if a record is an event of a heap. */
static bool html_is_heap(struct html_command *c, struct fxt_tables *t, const struct fxt_view *view)
{
	return !c->has_heap && view->type == FXT_RECORD_EVENT && view->event.type == FXT_EVENT_INSTANT &&
	       fxt_span_is(fxt_tables_text(t, view->event.category), "heap");
}

static void html_on_death(struct html_command *c, struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_death death;

	if (!fxt_death_read(t, view, &death))
		return;
	fxt_make_room(c->deaths.items, c->deaths.count, c->deaths.room);
	c->deaths.items[c->deaths.count++] = death;
}

static void html_record(void *state, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	struct html_command *c = state;

	c->times.listener.record(c->times.listener.state, t, view, offset);
	fxt_faults_record(&c->faults, t, view);
	fxt_waits_record(&c->waits, t, view, offset);
	fxt_lanes_add_loss(&c->losses, t, view);
	c->has_heap |= html_is_heap(c, t, view);
	html_on_death(c, t, view);
	fxt_hops_record(&c->hops, t, view);
	fxt_html_recorded_take(&c->recorded, view);
}

/* Sums up the calls of each thread, and of all threads. */
static void html_read_functions(struct html_command *c, struct fxt_html *page)
{
	bool is_whole;

	page->threads =
	        fxt_functions_read(page->scan, NULL, &c->times, fxt_walk_workers(page->scan), &is_whole);
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

static int html_write(const struct html_command *c, struct fxt_html *page, const char *name,
        const struct fxt_source *source)
{
	char *usual = fxt_output_name(name, "html");
	struct fxt_output out;
	int failed = fxt_output_open(&out, c->output ? c->output : usual, &source->file);

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

static int html_source(void *state, const char *name, const struct fxt_source *source)
{
	struct html_command *c = state;
	const char *base = strrchr(name, '/');
	struct fxt_flame_wanted wanted = {.choice = &c->chosen.choice,
	        .listener = &(struct fxt_scan_listener){html_begin, html_record, c}};
	struct fxt_flame_tree tree;
	int status = fxt_flame_tree_read(&tree, name, source, &wanted);

	if (status == FXT_FAILED)
		return status;
	fxt_flame_tree_fold(&tree);
	struct fxt_html page = {.title = base && strcmp(name, "-") != 0 ? base + 1 : name,
	        .is_chosen = !fxt_query_filter_is_all(&c->chosen.choice),
	        .tree = &tree,
	        .wanted = &wanted,
	        .scan = &tree.scan,
	        .times = &c->times,
	        .faults = &c->faults,
	        .waits = &c->waits,
	        .source = source,
	        .windows = &c->windows,
	        .losses = &c->losses,
	        .deaths = &c->deaths,
	        .hops = &c->hops,
	        .recorded = &c->recorded};

	fxt_thread_times_finish(&c->times, page.scan);
	fxt_faults_finish(&c->faults);
	fxt_waits_finish(&c->waits, page.scan);
	page.has_heap = c->has_heap;
	html_read_functions(c, &page);
	page.is_changed |= !fxt_outliers_read(&page.outliers, page.scan, &page.all);
	int found = fxt_windows_find(&c->windows, name, page.scan, &page.outliers);
	int written = found == FXT_FAILED ? found : html_write(c, &page, name, source);

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
static int html_option(struct html_command *c, const char *command, int option)
{
	if (option == OPTION_AROUND)
		return fxt_windows_add(&c->windows, command, optarg);
	c->output = optarg;
	return FXT_DONE;
}

int fxt_command_html(int argc, char **argv)
{
	struct html_command command = {0}, *c = &command;
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS_CHOICE,
	        FXT_OPTIONS_FOLD, {"output", required_argument, NULL, 'o'},
	        {"around", required_argument, NULL, OPTION_AROUND}, {0}};
	int option;

	fxt_options_fold(&c->chosen);
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1)
		if (!fxt_options_take(&c->chosen, argv[0], option) &&
		        html_option(c, argv[0], option) != FXT_DONE)
			return FXT_FAILED;
	fxt_thread_times_init(&c->times);
	fxt_faults_init(&c->faults);
	fxt_waits_init(&c->waits);
	int status = fxt_one_source(argc, argv, html_source, c);

	fxt_lanes_free(&c->losses);
	fxt_faults_free(&c->faults);
	fxt_waits_free(&c->waits);
	fxt_thread_times_free(&c->times);
	fxt_query_filter_free(&c->chosen.choice);
	fxt_windows_free(&c->windows);
	fxt_html_recorded_free(&c->recorded);
	fxt_hops_free(&c->hops);
	return status;
}
