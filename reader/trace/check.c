/*
 * Checks an archive against the rules of the format. Runs on the caller's thread and reads
 * the archive once, or again if slices are out of order. A broken rule must never end the
 * check: it is counted, and the check goes on.
 */
#include "check.h"

#include <inttypes.h>
#include "reader/slices/flows.h"
#include "reader/slices/nesting.h"
#include "rules.h"
#include "writer/engine/elided.h"

struct check {
	struct fxt_verdict *verdict;
	struct fxt_tables tables;
	struct fxt_nesting nesting;
	struct fxt_flows flows;
	uint32_t tracer_category, elided_name; /* ids of strings */
	uint64_t full_offset;                  /* of the last report of a full buffer */
	uint32_t full_provider;
	bool lossy; /* the trace reports that records were lost
	                                          or overwritten */
};

/* The depth to which the Perfetto UI draws slices; it drops deeper ones. */
enum { VIEWER_DEPTH = 512 };

static void check_slice(
        void *context, uint32_t thread, const struct fxt_nested_slice *slice, enum fxt_nesting_fault fault)
{
	static const char *const rules[] = {
	        [FXT_SAME_START] = "slice starts in the same nanosecond as another one of its thread",
	        [FXT_OVERLAP] = "slice overlaps another one of its thread",
	};
	struct check *c = context;

	if (fxt_flows_slice(&c->flows, thread, slice->start, slice->end) == VIEWER_DEPTH + 1)
		fxt_warning(c->verdict, slice->offset,
		        "slice contains more than 512 nested slices: viewers drop the inner ones",
		        "thread %" PRIu64, c->tables.threads[thread].thread);
	if (fault != FXT_NESTS)
		fxt_violation(c->verdict, slice->offset, rules[fault], "thread %" PRIu64,
		        c->tables.threads[thread].thread);
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
	if (type == FXT_EVENT_DURATION_BEGIN)
		fxt_nesting_begin(&c->nesting, thread, &slice);
	if (type != FXT_EVENT_DURATION_END)
		return;
	switch (fxt_nesting_end(&c->nesting, thread, slice.start)) {
	case FXT_ENDED:
		break;
	case FXT_NEVER_BEGAN:
		fxt_violation(c->verdict, r->offset, "end of a duration that never began", "thread %" PRIu64,
		        c->tables.threads[thread].thread);
		break;
	case FXT_ENDED_BEFORE_START:
		fxt_violation(c->verdict, r->offset, "slice ends before it starts", "%s", "");
		break;
	}
}

static void check_state(struct check *c, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_archive_state state;

	if (!fxt_view_archive_state(view, &state))
		return;
	if (!state.is_finished)
		fxt_violation(c->verdict, offset, "the trace is unfinished: " FXT_ARCHIVE_UNFINISHED_TEXT,
		        "%s", "");
	if (state.bytes_unwritten > 0)
		fxt_violation(c->verdict, offset, "the trace is cut: its file had no room for all records",
		        "%" PRIu64 " bytes", state.bytes_unwritten);
	c->lossy |= state.is_finished != FXT_ARCHIVE_FINISHED || state.bytes_unwritten > 0 ||
	            state.processes_dropped > 0;
}

/* Notes the losses that the trace reports. */
static void check_on_loss(struct check *c, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_loss_event loss;

	if (view->type == FXT_RECORD_METADATA && view->metadata.type == FXT_METADATA_PROVIDER_EVENT &&
	        view->metadata.event == FXT_PROVIDER_EVENT_BUFFER_FULL) {
		c->lossy = true;
		c->full_offset = offset;
		c->full_provider = view->metadata.provider;
	}
	if (view->type != FXT_RECORD_EVENT ||
	        fxt_tables_string(&c->tables, view->event.category) != c->tracer_category)
		return;
	c->lossy |= fxt_tables_loss(&c->tables, view, &loss);
	if (fxt_tables_string(&c->tables, view->event.name) == c->elided_name)
		fxt_elided_sums_add(&c->verdict->elided_sums, &c->tables, view, false);
}

static void check_decoded(struct check *c, const struct fxt_record *r)
{
	struct fxt_view view;
	const char *reason = fxt_decode(r, &view);

	if (reason) {
		fxt_violation(c->verdict, r->offset, reason, "%s", "");
		return;
	}
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
			fxt_violation(verdict, cursor.fault.offset, cursor.fault.reason, "%s", "");
		if (fxt_tables_uncounted_losses(&c.tables) > 0)
			fxt_warning(verdict, c.full_offset, "the buffer was full: records may be missing",
			        "provider %" PRIu32, c.full_provider);
		/* A slice that never ended contains all that came later. */
		complete = fxt_nesting_finish(&c.nesting, UINT64_MAX);
		fxt_tables_free(&c.tables);
	} while (!complete);
	fxt_flows_check(&c.flows, verdict, c.lossy || cursor.fault.reason);
	fxt_flows_free(&c.flows);
	fxt_nesting_free(&c.nesting);
}
