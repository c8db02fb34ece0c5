#include "jump.h"

#include <stdlib.h>
#include "reader/stats/slowest.h"
#include "reader/slices/walk.h"
#include "timeline.h"
#include "tui.h"

void fxt_tui_jump(uint32_t name, bool is_call)
{
	const struct fxt_scan *scan = fxt_tui.scan;
	bool *is_wanted = fxt_allocate(scan->tables.string_count * sizeof(*is_wanted));
	struct fxt_slowest slowest;

	is_wanted[name] = true;
	fxt_tui_busy("looking for the slowest call");
	fxt_tui.is_changed |=
	        !fxt_slowest_read(&slowest, scan, is_wanted, is_call, NULL, 1, fxt_walk_workers(scan));
	if (fxt_tui_was_stopped())
		fxt_tui_note("looking for the slowest call was stopped");
	else if (slowest.count > 0)
		fxt_timeline_show(&slowest.calls[0].slice);
	else
		fxt_tui_note("the trace has none of its calls: they were elided");
	fxt_slowest_free(&slowest);
	free(is_wanted);
}
