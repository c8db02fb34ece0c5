#include "tui.h"

#include <stdarg.h>
#include <stdio.h>
#include "reader/trace/progress.h"
#include "reader/trace/rate.h"
#include "writer/shared/clock.h"

struct fxt_tui fxt_tui;

/* ---- what takes a while ---- */

enum { TOLD_EVERY = 100000000 }; /* ns */

static struct {
	const char *with;
	uint64_t told; /* time of the last update of the progress, by the monotonic clock */
	bool was_stopped;
} busy;

static bool tui_progress(const char *doing, uint64_t done, uint64_t all)
{
	uint64_t now = fxt_monotonic_ns();

	if (!doing || busy.was_stopped || now - busy.told < TOLD_EVERY)
		return !busy.was_stopped;
	busy.told = now;
	fxt_screen_print(LINES - 1, 0, COLS, FXT_LOOK_BAR, "%s: %.0f%%; Esc stops it", busy.with,
	        100 * (double)done / (double)all);
	refresh();
	busy.was_stopped = fxt_screen_stops();
	return !busy.was_stopped;
}

void fxt_tui_busy(const char *what)
{
	fxt_screen_print(LINES - 1, 0, COLS, FXT_LOOK_BAR, "%s ...", what);
	refresh();
	busy.with = what;
	busy.told = fxt_monotonic_ns();
	busy.was_stopped = false;
	fxt_progress = tui_progress;
}

bool fxt_tui_was_stopped(void)
{
	return busy.was_stopped;
}

void fxt_tui_note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(fxt_tui.note, sizeof(fxt_tui.note), format, arguments);
	va_end(arguments);
}
