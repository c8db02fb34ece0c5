/*
 * Checks an archive against the rules of the format. Runs on the caller's thread and reads
 * the archive once, or again if slices are out of order. A broken rule must never end the
 * check: it is counted, and the check goes on.
 */
#include "check.h"

#include <inttypes.h>
#include "reader/slices/flows.h"
#include "reader/slices/nesting.h"
#include "marks.h"
#include "rules.h"
#include "writer/engine/elided.h"

struct check {
	struct fxt_verdict *verdict;
	struct fxt_tables tables;
	struct fxt_nesting nesting;
	struct fxt_flows flows;
	struct fxt_marks marks;                /* begins and ends of slices, in ns */
	uint32_t tracer_category, elided_name; /* ids of strings */
	uint64_t full_offset;                  /* of the last report of a full buffer */
	uint32_t full_provider;
};

/* The Perfetto UI draws slices down to this depth; it drops deeper ones. */
enum { VIEWER_DEPTH = 512 };

static void check_slice(
        void *context, uint32_t thread, const struct fxt_nested_slice *slice, enum fxt_nesting_fault fault)
{
	struct check *c = context;
	uint64_t koid = c->tables.threads[thread].thread;

	if (fxt_flows_slice(&c->flows, thread, slice->start, slice->end) == VIEWER_DEPTH + 1)
		fxt_break(c->verdict, slice->offset, FXT_RULE_DEEP, "thread %" PRIu64, koid);
	if (fault != FXT_NESTS)
		fxt_break(c->verdict, slice->offset,
		        fault == FXT_OVERLAP ? FXT_RULE_OVERLAP : FXT_RULE_SAME_START, "thread %" PRIu64,
		        koid);
}

/* True for plain calls that break no rule by themselves. Almost every record is one, and
 * need not be decoded. */
static bool is_sound_plain_call(const struct fxt_provider_tables *provider, const struct fxt_record *r)
{
	uint64_t header = r->words[0];

	return fxt_is_plain_call(header) &&
	       fxt_provider_thread(provider, fxt_field(header, 24, 8)) != FXT_NOTHING &&
	       fxt_provider_string(provider, fxt_field(header, 32, 15)) != FXT_NOTHING &&
	       fxt_provider_string(provider, fxt_field(header, 48, 15)) != FXT_NOTHING &&
	       r->words[1] <= r->words[2] && fxt_provider_ns(provider, r->words[2]) <= INT64_MAX;
}

static void check_nesting(struct check *c, const struct fxt_record *r, uint32_t thread,
        enum fxt_event_type type, uint64_t end_ticks)
{
	const struct fxt_provider_tables *provider = c->tables.provider;
	struct fxt_nested_slice slice = {
	        .start = fxt_provider_ns(provider, r->words[1]),
	        .end = fxt_provider_ns(provider, end_ticks),
	        .offset = r->offset,
	};

	if (thread == FXT_NOTHING)
		return;
	if (type == FXT_EVENT_DURATION_COMPLETE && slice.start <= slice.end)
		fxt_nesting_slice(&c->nesting, thread, &slice);
	if (type == FXT_EVENT_DURATION_BEGIN || type == FXT_EVENT_DURATION_END)
		fxt_marks_add(&c->marks, &(struct fxt_slice){.start = slice.start,
		                                 .offset = r->offset,
		                                 .thread = thread,
		                                 .is_open = type == FXT_EVENT_DURATION_BEGIN});
}

/* Takes a slice of two records. One that never ended contains all that came later. */
static void check_pair(void *context, const struct fxt_slice *begin, const struct fxt_slice *end)
{
	struct check *c = context;
	struct fxt_nested_slice slice;

	if (!begin) {
		fxt_break(c->verdict, end->offset, FXT_RULE_NEVER_BEGAN, "thread %" PRIu64,
		        c->tables.threads[end->thread].thread);
		return;
	}
	slice = (struct fxt_nested_slice){
	        .start = begin->start, .end = end ? end->start : UINT64_MAX, .offset = begin->offset};
	fxt_nesting_slice(&c->nesting, begin->thread, &slice);
}

static void check_state(struct check *c, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_archive_state state;

	if (!fxt_view_archive_state(view, &state))
		return;
	if (!state.is_finished)
		fxt_break(c->verdict, offset, FXT_RULE_UNFINISHED, "%s", "");
	if (state.bytes_unwritten > 0)
		fxt_break(c->verdict, offset, FXT_RULE_UNWRITTEN, "%" PRIu64 " bytes", state.bytes_unwritten);
	c->verdict->is_lossy |= state.is_finished != FXT_ARCHIVE_FINISHED || state.bytes_unwritten > 0 ||
	                        state.processes_dropped > 0;
}

/* Notes the losses that the trace reports. */
static void check_on_loss(struct check *c, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_loss_event loss;

	if (view->type == FXT_RECORD_METADATA && view->metadata.type == FXT_METADATA_PROVIDER_EVENT &&
	        view->metadata.event == FXT_PROVIDER_EVENT_BUFFER_FULL) {
		c->verdict->is_lossy = true;
		c->full_offset = offset;
		c->full_provider = view->metadata.provider;
	}
	if (view->type != FXT_RECORD_EVENT ||
	        fxt_tables_string(&c->tables, view->event.category) != c->tracer_category)
		return;
	c->verdict->is_lossy |= fxt_tables_loss(&c->tables, view, &loss);
	if (fxt_tables_string(&c->tables, view->event.name) == c->elided_name)
		fxt_elided_sums_add(&c->verdict->elided_sums, &c->tables, view, false);
}

static void check_decoded(struct check *c, const struct fxt_record *r)
{
	struct fxt_archive_state state;
	struct fxt_anchor anchor;
	struct fxt_view view;
	const char *reason = fxt_decode(r, &view);

	if (reason) {
		fxt_break_framing(c->verdict, r->offset, reason);
		return;
	}
	c->verdict->is_own |= fxt_view_anchor(&view, &anchor) || fxt_view_archive_state(&view, &state);
	fxt_check_record(c->verdict, &c->tables, r, &view);
	fxt_tables_apply(&c->tables, &view);
	check_on_loss(c, &view, r->offset);
	check_state(c, &view, r->offset);
	if (view.type != FXT_RECORD_EVENT)
		return;
	fxt_flows_event(&c->flows, &c->tables, &view, r->offset);
	check_nesting(
	        c, r, fxt_tables_thread(&c->tables, view.event.thread), view.event.type, view.event.extra);
}

void fxt_check_archive(const struct fxt_archive *archive, struct fxt_verdict *verdict)
{
	struct check c = {.verdict = verdict, .nesting = {.finished = check_slice, .context = &c}};
	struct fxt_cursor cursor;
	struct fxt_record r;
	bool complete;

	*verdict = (struct fxt_verdict){0};
	fxt_flows_init(&c.flows);
	do {
		fxt_verdict_free(verdict);
		fxt_flows_free(&c.flows);
		fxt_flows_init(&c.flows);
		fxt_tables_init(&c.tables);
		fxt_marks_init(&c.marks, FXT_SPILL_MEMORY_BYTES);
		c.tracer_category = fxt_tables_intern(&c.tables, fxt_span("fxt"));
		c.elided_name = fxt_tables_intern(&c.tables, fxt_span(FXT_ELIDED_EVENT));
		cursor = fxt_cursor(archive);
		for (; fxt_next(&cursor, &r); verdict->records++) {
			struct fxt_provider_tables *provider = c.tables.provider;

			provider->has_slices |= fxt_is_plain_call(r.words[0]);
			if (is_sound_plain_call(provider, &r))
				check_nesting(&c, &r,
				        fxt_provider_thread(provider, fxt_field(r.words[0], 24, 8)),
				        FXT_EVENT_DURATION_COMPLETE, r.words[2]);
			else
				check_decoded(&c, &r);
		}
		if (cursor.fault.reason)
			fxt_break_framing(verdict, cursor.fault.offset, cursor.fault.reason);
		verdict->is_lossy |= cursor.fault.reason != NULL;
		if (fxt_tables_uncounted_losses(&c.tables) > 0)
			fxt_break(verdict, c.full_offset, FXT_RULE_BUFFER_FULL, "provider %" PRIu32,
			        c.full_provider);
		fxt_marks_pair(&c.marks, check_pair, &c);
		fxt_marks_free(&c.marks);
		complete = fxt_nesting_finish(&c.nesting);
		fxt_tables_free(&c.tables);
	} while (!complete);
	fxt_flows_check(&c.flows, verdict);
	fxt_flows_free(&c.flows);
	fxt_nesting_free(&c.nesting);
}
