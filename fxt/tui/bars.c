#include "bars.h"

#include <inttypes.h>
#include "fxt/terminal.h"
#include "fxt/describe.h"
#include "reader/trace/text.h"

static const char *const help[] = {
        "1  2  3  Tab      functions, tree, timeline; the next of them",
        "/  n  N           search for a part of a name; the next, the one before",
        "&                 show only names that contain a text; empty: all",
        "↑ ↓  PgUp PgDn  g G   move",
        "?  q  Esc         this help; quit; stop long work",
        "",
        "Functions         figures of fxt report; grey: waits and losses",
        "← →  r            sort by another column; the other way round",
        "",
        "Tree              figures of fxt tree; off CPU is a part of the total",
        "Enter → ←  *  b   open and close; open all below; bottom-up, and back",
        "",
        "Enter  t          functions, tree: the slowest call, in the timeline",
        "",
        "Timeline          ━ running  ╍ preempted  · blocked  ╳ records lost; below",
        "                  that the calls; ░ several short ones, and how many",
        "w s  a d  0       zoom in and out; earlier, later; all of the time",
        "↑ ↓ ← →  f        select; zoom to what is selected",
};

static void bars_top(const struct fxt_tui_page *const pages[FXT_TUI_VIEWS])
{
	int column = 0;

	fxt_screen_print(0, 0, COLS, FXT_LOOK_BAR, "%s", "");
	for (int i = 0; i < FXT_TUI_VIEWS; i++) {
		int width = (int)strlen(pages[i]->title) + 4;

		fxt_screen_print(0, column, width, i == (int)fxt_tui.view ? FXT_LOOK_CHOSEN : FXT_LOOK_BAR,
		        " %d %s ", i + 1, pages[i]->title);
		column += width;
	}
	int room = COLS - column - 3, used = (int)fxt_text_columns(fxt_span(fxt_tui.title));

	used = used < room ? used : room;
	fxt_screen_text(0, COLS - used - 1, used, FXT_LOOK_BAR, fxt_span(fxt_tui.title));
}

/* Prints what is missing, after what there is. Returns true if anything is. */
static bool bars_missing(FILE *out)
{
	const struct fxt_scan *scan = fxt_tui.scan;
	long before = ftell(out);

	if (scan->records_lost > 0)
		fprintf(out, ", %s%" PRIu64 " record%s lost", fxt_tables_least(&scan->tables),
		        scan->records_lost, fxt_plural(scan->records_lost));
	if (scan->records_overwritten > 0)
		fprintf(out, ", %" PRIu64 " overwritten", scan->records_overwritten);
	if (scan->elided_sums.calls > 0)
		fprintf(out, ", %" PRIu64 " call%s elided", scan->elided_sums.calls,
		        fxt_plural(scan->elided_sums.calls));
	if (!scan->state.is_finished)
		fputs(", unfinished", out);
	if (scan->malformed > 0 || scan->fault.reason || fxt_tui.is_changed)
		fputs(", not all of it can be read", out);
	return ftell(out) > before;
}

/* Prints the same summary as the head of fxt report. */
static void bars_summary(void)
{
	const struct fxt_scan *scan = fxt_tui.scan;
	uint64_t calls = fxt_functions_calls(fxt_tui.all), functions = fxt_functions_called(fxt_tui.all);
	uint64_t threads = 0;
	struct fxt_describer words;

	for (size_t i = 0; i < scan->thread_count; i++)
		threads += fxt_functions_calls(&fxt_tui.threads[i]) > 0;
	fxt_describe_begin(&words);
	fprintf(words.out, "%" PRIu64 " call%s of %" PRIu64 " function%s in %" PRIu64 " thread%s, %s", calls,
	        fxt_plural(calls), functions, fxt_plural(functions), threads, fxt_plural(threads),
	        fxt_time_text((double)fxt_scan_ns(scan, scan->end - scan->start)).text);
	bool is_missing = bars_missing(words.out);

	fxt_screen_text(1, 0, COLS, is_missing ? FXT_LOOK_LOST : FXT_LOOK_PLAIN, fxt_describe_end(&words));
	fxt_describe_free(&words);
}

static void bars_bottom(const struct fxt_tui_page *page)
{
	const struct fxt_prompt *prompt = &fxt_tui.prompt;
	const char *filter = prompt->filter;

	if (prompt->kind == '/')
		fxt_screen_print(LINES - 1, 0, COLS, FXT_LOOK_BAR, "/%s▏", prompt->search);
	else if (prompt->kind == '&')
		fxt_screen_print(LINES - 1, 0, COLS, FXT_LOOK_BAR, "&%s▏", filter);
	else if (*fxt_tui.note)
		fxt_screen_print(LINES - 1, 0, COLS, FXT_LOOK_BAR, "%s", fxt_tui.note);
	else if (*filter && page->filter)
		fxt_screen_print(
		        LINES - 1, 0, COLS, FXT_LOOK_BAR, "only what has '%s'; & Enter: all", filter);
	else
		fxt_screen_print(LINES - 1, 0, COLS, FXT_LOOK_BAR, "%s", page->keys);
}

void fxt_bars_draw(const struct fxt_tui_page *const pages[FXT_TUI_VIEWS])
{
	const struct fxt_tui_page *page = pages[fxt_tui.view];

	erase();
	if (LINES < FXT_SCREEN_LINES || COLS < FXT_SCREEN_COLUMNS) {
		fxt_screen_print(0, 0, COLS, FXT_LOOK_PLAIN, "too small");
	} else {
		for (; !page->draw(2, LINES - 3); page = pages[fxt_tui.view])
			erase();
		bars_top(pages);
		bars_summary();
		bars_bottom(page);
	}
	refresh();
}

void fxt_bars_help(void)
{
	erase();
	for (size_t i = 0; i < sizeof(help) / sizeof(*help); i++)
		fxt_screen_print((int)i + 1, 2, COLS - 2, FXT_LOOK_PLAIN, "%s", help[i]);
	fxt_screen_print(0, 0, COLS, FXT_LOOK_BAR, " Keys");
	fxt_screen_print(LINES - 1, 0, COLS, FXT_LOOK_BAR, " any key: back");
	refresh();
	fxt_screen_key();
}
