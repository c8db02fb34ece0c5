#include "events.h"

bool fxt_events_read(const struct fxt_scan *scan, fxt_events_visit *visit, void *state)
{
	const struct fxt_visitor visitor = {.record = visit};
	struct fxt_walker walker;

	fxt_walk_begin(&walker, scan);
	walker.filter = NULL;
	walker.takes_records = walker.omits_plain = true;
	while (fxt_walk_step(&walker, &visitor, state)) {
	}
	fxt_walk_end(&walker);
	return !walker.is_short;
}

bool fxt_events_shows(const struct fxt_scan *scan, uint32_t thread, uint32_t name, uint64_t offset)
{
	const struct fxt_filter *filter = scan->filter;

	return !filter ||
	       (fxt_filter_has_thread(filter, thread) && (!filter->names || filter->names[name]) &&
	               !filter->under && (!filter->records || fxt_filter_has_record(filter, offset)));
}
