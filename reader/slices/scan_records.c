#include <stdio.h>
#include "reader/time/faults.h"
#include "scanner.h"
#include "writer/format/earlier_wait.h"

enum { FXT_ALERT_TEXT_BYTES = 256 }; /* the agent writes fewer */

static void scan_on_cost(struct fxt_scan *scan, const struct fxt_view *view)
{
	struct fxt_argument within, around, error;

	if (fxt_tables_argument(&scan->tables, view, "within_ps", &within) &&
	        fxt_tables_argument(&scan->tables, view, "around_ps", &around) &&
	        fxt_tables_argument(&scan->tables, view, "error_ps", &error) &&
	        within.type == FXT_ARGUMENT_UINT64 && around.type == FXT_ARGUMENT_UINT64 &&
	        error.type == FXT_ARGUMENT_UINT64)
		scan->cost = (struct fxt_call_cost){within.value.word, around.value.word, error.value.word};
}

static void scan_on_loss(struct fxt_scan *scan, const struct fxt_view *view)
{
	struct fxt_loss_event loss;

	if (fxt_tables_loss(&scan->tables, view, &loss))
		*(loss.is_overwritten ? &scan->records_overwritten : &scan->records_lost) += loss.records;
}

/* Takes an alert of the program (fxt_alert()) as a slice of no length, so that it is shown
 * where it was raised. It has a category of its own: it is neither a call nor a wait. */
static void scan_on_alert(struct fxt_scanner *s, const struct fxt_view *view, struct fxt_slice slice)
{
	struct fxt_tables *tables = &s->scan->tables;
	struct fxt_argument name;
	char text[FXT_ALERT_TEXT_BYTES];

	if (!fxt_tables_argument(tables, view, "name", &name) || name.type != FXT_ARGUMENT_STRING)
		return;
	struct fxt_span of = fxt_tables_text(tables, name.value.string);
	int bytes = snprintf(text, sizeof(text), "alert: %.*s",
	        of.bytes < sizeof(text) ? (int)of.bytes : (int)sizeof(text), of.data);

	slice.end = slice.start;
	slice.category = s->scan->alert_category;
	slice.is_call = false;
	slice.name = fxt_tables_intern(tables,
	        (struct fxt_span){text, (size_t)bytes < sizeof(text) ? (size_t)bytes : sizeof(text) - 1});
	fxt_spill_add(&s->scan->out_of_order, &slice);
}

static void scan_on_wait(struct fxt_scan *scan, const struct fxt_view *view, const struct fxt_slice *slice)
{
	struct fxt_argument since;

	if (slice->category == scan->sync_category && !scan->has_calls && !scan->has_earlier_waits)
		scan->has_earlier_waits = fxt_tables_argument(&scan->tables, view, FXT_WAIT_SINCE, &since);
}

static bool scan_is_process_end(const struct fxt_scan *scan, const struct fxt_slice *instant)
{
	if (instant->category == scan->process_category)
		return instant->name == scan->killed_name;
	return instant->category == scan->tracer_category &&
	       (instant->name == scan->process_end_name || instant->name == scan->recording_stop_name);
}

static void scan_on_event(struct fxt_scanner *s, const struct fxt_record *r, const struct fxt_view *view)
{
	struct fxt_scan *scan = s->scan;

	if (!fxt_scan_is_comparable(s, scan->tables.provider))
		return;
	struct fxt_slice slice = fxt_scan_slice(scan, &scan->tables, view, r->offset);

	if (!fxt_is_of_faults(&scan->tables, view))
		fxt_scan_on_moment(scan, slice.start);
	fxt_scan_on_record_in_block(s->block, slice.start, slice.start);
	if (slice.category == scan->tracer_category)
		scan_on_loss(scan, view);
	scan->event_types |= 1u << view->event.type;
	switch (view->event.type) {
	case FXT_EVENT_DURATION_COMPLETE:
		if (slice.category == scan->tracer_category && slice.name == scan->waited_name &&
		        slice.start < slice.end)
			fxt_spill_add(&scan->waited, &slice);
		if (fxt_scan_is_span(scan, slice.category))
			fxt_tables_add_span(&scan->tables, slice.name, slice.category);
		scan_on_wait(scan, view, &slice);
		fxt_scan_put_slice(s, &slice);
		break;
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
		slice.is_open = view->event.type == FXT_EVENT_DURATION_BEGIN;
		scan->has_calls |= slice.is_call;
		scan_on_wait(scan, view, &slice);
		if (slice.is_open && fxt_scan_is_span(scan, slice.category))
			fxt_tables_add_span(&scan->tables, slice.name, slice.category);
		fxt_marks_add(&s->marks, &slice);
		break;
	case FXT_EVENT_INSTANT:
		if (slice.category == scan->tracer_category && slice.name == scan->cost_name)
			scan_on_cost(scan, view);
		if (slice.category == scan->tracer_category && slice.name == scan->elided_name)
			fxt_elided_sums_add(&scan->elided_sums, &scan->tables, view, scan->in_ticks);
		if (slice.category == scan->tracer_category && slice.name == scan->muted_name)
			fxt_muted_add(&scan->muted, &scan->tables, view, slice.start);
		if (scan_is_process_end(scan, &slice))
			fxt_process_ends_add(
			        &scan->process_ends, scan->tables.threads[slice.thread].process, slice.start);
		if (slice.category == scan->process_category && slice.name == scan->alert_name)
			scan_on_alert(s, view, slice);
		break;
	default:
		break;
	}
}

static void scan_on_cut(struct fxt_scan *scan, const struct fxt_view *view)
{
	struct fxt_span options;
	struct fxt_cut cut;

	if (fxt_view_cut(view, &cut, &options))
		scan->cut = cut;
}

static void scan_on_anchor(struct fxt_scan *scan, const struct fxt_view *view)
{
	struct fxt_anchor anchor;

	if (scan->began.realtime_ns == 0 && fxt_view_anchor(view, &anchor))
		scan->began = anchor;
}

static void scan_on_switch(struct fxt_scanner *s, uint64_t ticks)
{
	uint64_t time = fxt_scan_time(s->scan, s->scan->tables.provider, ticks);

	if (time > s->last_switch)
		s->last_switch = time;
	if (time < s->first_switch)
		s->first_switch = time;
	fxt_scan_on_record_in_block(s->block, time, time);
}

void fxt_scan_on_record(struct fxt_scanner *s, const struct fxt_record *r)
{
	struct fxt_view view;

	s->scan->records++;
	if (fxt_decode(r, &view) != NULL) {
		s->scan->malformed++;
		return;
	}
	s->scan->unknown += view.is_unknown;
	s->scan->tables.offset = r->offset;
	fxt_tables_apply(&s->scan->tables, &view);
	fxt_view_archive_state(&view, &s->scan->state);
	fxt_view_rotation(&view, &s->scan->rotation);
	scan_on_cut(s->scan, &view);
	scan_on_anchor(s->scan, &view);
	if (view.type == FXT_RECORD_EVENT)
		scan_on_event(s, r, &view);
	else if (view.type == FXT_RECORD_USERSPACE_OBJECT)
		fxt_origins_add(&s->scan->origins, &s->scan->tables, &view);
	else if (view.type == FXT_RECORD_SCHEDULING && fxt_scan_is_comparable(s, s->scan->tables.provider))
		scan_on_switch(s, view.scheduling.ticks);
	if (s->listener && !s->two_rates)
		s->listener->record(s->listener->state, &s->scan->tables, &view, r->offset);
}
