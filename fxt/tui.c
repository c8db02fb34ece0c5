/*
 * fxt tui: shows a trace on the terminal interactively. Several threads read the trace;
 * only the main thread draws. Names must never reach the terminal unescaped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "lane_slices.h"
#include "options.h"
#include "reader/trace/source.h"
#include "reader/slices/walk.h"
#include "tui/said.h"
#include "tui/bars.h"

static const char help[] =
        "usage: fxt tui [OPTION]... [FILE]\n"
        "\n"
        "Shows a trace on the terminal: functions with the figures of fxt report, the\n"
        "call tree with those of fxt tree, and the timeline of the threads. Tab goes\n"
        "from one to the next, Enter on\n"
        "a function to its slowest call in the timeline; ? shows all keys, and q quits.\n" FXT_HELP_CHOICE
                FXT_HELP_FILE;

enum { LOSSES_MAX = 4000 }; /* losses that are drawn one by one */

static const struct fxt_tui_page *const pages[FXT_TUI_VIEWS] = {
        &fxt_tui_functions, &fxt_tui_tree, &fxt_tui_timeline};

/* The options, and the state while the trace is read. */
struct tui_command {
	struct fxt_options wanted;
	struct fxt_thread_times times;
	struct fxt_lanes losses;
};

/* ---- keys ---- */

static void tui_type(struct fxt_key key)
{
	const struct fxt_tui_page *page = pages[fxt_tui.view];
	bool is_filter = fxt_tui.prompt.kind == '&';
	bool is_done = fxt_prompt_key(&fxt_tui.prompt, key);

	if (is_filter) {
		for (int i = 0; i < FXT_TUI_VIEWS; i++)
			if (pages[i]->filter)
				pages[i]->filter();
	} else if (is_done && *fxt_tui.prompt.search) {
		page->search(true);
	}
}

static void tui_command(struct fxt_key key)
{
	const struct fxt_tui_page *page = pages[fxt_tui.view];
	wint_t c = key.character;

	if (c == '?' || key.other == KEY_F(1))
		fxt_bars_help();
	else if (c >= '1' && c < '1' + FXT_TUI_VIEWS)
		fxt_tui.view = c - '1';
	else if (c == '\t')
		fxt_tui.view = (fxt_tui.view + 1) % FXT_TUI_VIEWS;
	else if (c == '/' || (c == '&' && page->filter))
		fxt_prompt_begin(&fxt_tui.prompt, (char)c);
	else if ((c == 'n' || c == 'N') && *fxt_tui.prompt.search)
		page->search(c == 'n');
	else
		page->key(key);
}

static void tui_run(void)
{
	for (;;) {
		fxt_bars_draw(pages);
		struct fxt_key key = fxt_screen_key();

		*fxt_tui.note = '\0';
		if (key.other == KEY_RESIZE)
			continue;
		if (fxt_tui.prompt.kind)
			tui_type(key);
		else if (key.character == 'q')
			return;
		else
			tui_command(key);
	}
}

/* ---- the trace ---- */

static void tui_begin(void *state)
{
	struct tui_command *c = state;

	c->times.listener.begin(c->times.listener.state);
	fxt_lanes_free(&c->losses);
	fxt_lanes_init(&c->losses, LOSSES_MAX);
}

static void tui_record(void *state, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	struct tui_command *c = state;

	c->times.listener.record(c->times.listener.state, t, view, offset);
	fxt_lanes_add_loss(&c->losses, t, view);
}

static int tui_show(struct tui_command *c, const char *name, struct fxt_scan *scan)
{
	struct fxt_functions all = {0};
	bool is_whole;

	fxt_thread_times_finish(&c->times, scan);
	struct fxt_functions *threads =
	        fxt_functions_read(scan, NULL, &c->times, fxt_walk_workers(scan), &is_whole);

	for (size_t i = 0; i < scan->thread_count; i++)
		fxt_functions_add(&all, &threads[i]);
	fxt_functions_to_ns(&all, scan);
	fxt_tui = (struct fxt_tui){.title = name,
	        .scan = scan,
	        .times = &c->times,
	        .threads = threads,
	        .all = &all,
	        .losses = &c->losses,
	        .is_changed = !is_whole};
	fxt_tui.is_changed |= !fxt_said_read(scan);
	int failed = fxt_screen_begin();

	if (!failed) {
		tui_run();
		fxt_screen_end();
	}
	for (int i = 0; i < FXT_TUI_VIEWS; i++)
		pages[i]->free();
	fxt_said_free();
	for (size_t i = 0; i < scan->thread_count; i++)
		fxt_functions_free(&threads[i]);
	free(threads);
	fxt_functions_free(&all);
	return failed ? FXT_FAILED : fxt_report_changed(name, !fxt_tui.is_changed);
}

static int tui_source(void *state, const char *name, const struct fxt_source *source)
{
	struct tui_command *c = state;
	struct fxt_filter filter;
	struct fxt_scan scan;
	char error[1024];
	int status = FXT_FAILED;

	fxt_scan_listened(&scan, source, NULL, c->wanted.listener);
	if (fxt_query_filter_apply(&c->wanted.choice, &scan, &filter, error, sizeof(error)) != 0) {
		fxt_report_name(name, error);
	} else {
		int shown = tui_show(c, name, &scan);

		status = fxt_report_unread(name, scan.malformed, scan.unknown, &scan.fault);
		status = shown > status ? shown : status;
		fxt_filter_free(&filter);
	}
	fxt_scan_free(&scan);
	return status;
}

int fxt_command_tui(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS_CHOICE, {0}};
	struct tui_command command = {0}, *c = &command;
	int option;

	c->wanted.listener = &(struct fxt_scan_listener){tui_begin, tui_record, c};
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1)
		fxt_options_take(&c->wanted, argv[0], option);
	fxt_thread_times_init(&c->times);
	int status = fxt_one_source(argc, argv, tui_source, c);

	fxt_lanes_free(&c->losses);
	fxt_thread_times_free(&c->times);
	fxt_query_filter_free(&c->wanted.choice);
	return status;
}
