/*
 * Reads each input once before the merge, for its clock, the numbers of its processes and
 * threads, and its CPUs. Then resolves conflicts between these numbers. Runs on the main
 * thread, and never writes to a file.
 */
#include "input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "fields.h"
#include "marks.h"
#include "perfetto/heap_profile.h"
#include "writer/shared/job.h"

struct input_reader {
	struct fxt_merge_input *input;
	struct fxt_merge_clock *clock;
	struct fxt_merge_messages *messages;
	struct fxt_merge_streams *streams;
	uint32_t number; /* of the trace */
	struct fxt_tables tables;
};

static void input_on_time(struct fxt_merge_input *input, uint64_t ticks)
{
	if (ticks < input->earliest)
		input->earliest = ticks;
}

static uint64_t input_on_field(void *context, enum fxt_merge_field field, uint64_t value)
{
	struct fxt_merge_input *input = context;

	if (field == FXT_MERGE_KOID || field == FXT_MERGE_MENTION)
		fxt_merge_koids_add(&input->koids, value, field == FXT_MERGE_KOID);
	else if (field == FXT_MERGE_FLOW)
		fxt_merge_koids_add_flow(&input->koids, value);
	else if (field == FXT_MERGE_CPU && value >= input->cpus)
		input->cpus = (unsigned)value + 1;
	return value;
}

/* Notes an anchor. The first one of a trace belongs to its beginning, the last one to its
 * end. */
static void input_on_anchor(struct fxt_merge_clock *clock, const struct fxt_anchor *anchor)
{
	if (anchor->clock != FXT_CLOCK_COUNTER && anchor->clock != FXT_CLOCK_MONOTONIC)
		return;
	if (clock->has_anchor)
		clock->last = *anchor;
	else
		clock->first = *anchor;
	clock->has_last = clock->has_anchor;
	clock->has_anchor = true;
}

static void input_on_blob(struct input_reader *reader, const struct fxt_view *view)
{
	struct fxt_anchor anchor;

	if (fxt_view_anchor(view, &anchor))
		input_on_anchor(reader->clock, &anchor);
	fxt_view_archive_state(view, &reader->input->state);
	fxt_view_rotation(view, &reader->input->rotation);
	fxt_view_cut(view, &reader->input->cut, &reader->input->cut_options);
	reader->input->has_profiles |= fxt_span_is(fxt_view_blob_name(view), FXT_HEAP_PROFILE_BLOB);
}

/* Reads an argument of that type. */
static bool input_word(struct input_reader *reader, const struct fxt_view *view, const char *name,
        enum fxt_argument_type type, uint64_t *value)
{
	struct fxt_argument found;

	if (!fxt_tables_argument(&reader->tables, view, name, &found) || found.type != type)
		return false;
	*value = found.value.word;
	return true;
}

static bool input_is_of(struct input_reader *reader, const struct fxt_view *view, const char *category)
{
	return fxt_span_is(fxt_tables_text(&reader->tables, view->event.category), category);
}

/* Reads a number of a mark. Its bounds make sums of such numbers safe. */
static bool input_number(
        struct input_reader *reader, const struct fxt_view *view, const char *name, int64_t *value)
{
	uint64_t word;

	if (!input_word(reader, view, name, FXT_ARGUMENT_INT64, &word) || word > INT64_MAX / 8)
		return false;
	*value = (int64_t)word;
	return true;
}

/* Notes a comparison with another rank's clock (mpi/clock.c). */
static void input_on_mark(struct input_reader *reader, const struct fxt_view *view)
{
	struct fxt_merge_mark mark = {.is_kept = false};

	if (input_is_of(reader, view, "mpi") &&
	        fxt_span_is(fxt_tables_text(&reader->tables, view->event.name), FXT_MERGE_CLOCK_EVENT) &&
	        input_word(reader, view, "run", FXT_ARGUMENT_INT64, &mark.run) &&
	        input_number(reader, view, FXT_MERGE_CLOCK_TICKS, &mark.ticks) &&
	        input_number(reader, view, "reference_ns", &mark.reference_ns) &&
	        input_number(reader, view, "error_ns", &mark.error_ns))
		fxt_merge_marks_add(reader->clock, &mark);
}

/* Notes how far a TCP connection is (agent/interpose/connections.h). */
static void input_on_position(struct input_reader *reader, const struct fxt_view *view)
{
	struct fxt_span name = fxt_tables_text(&reader->tables, view->event.name);
	struct fxt_merge_note note = {.ticks = view->event.ticks,
	        .input = reader->number,
	        .is_received = fxt_span_is(name, "receive")};

	if ((note.is_received || fxt_span_is(name, "send")) && input_is_of(reader, view, "net") &&
	        input_word(reader, view, "stream", FXT_ARGUMENT_UINT64, &note.stream) &&
	        input_word(reader, view, "socket", FXT_ARGUMENT_UINT64, &note.socket) &&
	        input_word(reader, view, "position", FXT_ARGUMENT_UINT64, &note.position))
		fxt_merge_streams_add(reader->streams, &note);
}

static void input_on_event(struct input_reader *reader, const struct fxt_view *view)
{
	enum fxt_event_type type = view->event.type;

	input_on_time(reader->input, view->event.ticks);
	if (type == FXT_EVENT_INSTANT) {
		input_on_mark(reader, view);
		input_on_position(reader, view);
	} else if ((type == FXT_EVENT_FLOW_BEGIN || type == FXT_EVENT_FLOW_END) &&
	           view->event.extra & FXT_JOB_FLOW && input_is_of(reader, view, "mpi")) {
		reader->messages->is_of_ranks = true;
		fxt_merge_messages_add(reader->messages, view->event.extra, type == FXT_EVENT_FLOW_END,
		        view->event.ticks, reader->number);
	}
}

/* Notes the clock rate of a provider. Returns false if an earlier provider has another
 * rate. */
static bool input_on_rate(struct fxt_merge_clock *clock, uint64_t rate)
{
	if (rate == 0)
		rate = FXT_NS_PER_SECOND;
	if (clock->rate == 0)
		clock->rate = rate;
	return clock->rate == rate;
}

static bool input_on_record(struct input_reader *reader, const struct fxt_record *r)
{
	struct fxt_merge_input *input = reader->input;
	struct fxt_view view;

	if (fxt_decode(r, &view) != NULL) {
		input->malformed++;
		return true;
	}
	fxt_tables_apply(&reader->tables, &view);
	input->unknown += view.is_unknown;
	fxt_merge_fields(&reader->tables, r, &view, NULL, input_on_field, input);
	if (view.type == FXT_RECORD_EVENT)
		input_on_event(reader, &view);
	input_on_blob(reader, &view);
	return view.type != FXT_RECORD_INITIALIZATION ||
	       input_on_rate(reader->clock, view.initialization.ticks_per_second);
}

int fxt_merge_read(struct fxt_merge_input *input, struct fxt_merge_clock *clock,
        struct fxt_merge_messages *messages, struct fxt_merge_streams *streams, uint32_t number, char *error,
        size_t error_bytes)
{
	struct input_reader reader = {
	        .input = input, .clock = clock, .messages = messages, .streams = streams, .number = number};
	struct fxt_cursor cursor = fxt_cursor(&input->archive);
	bool is_of_one_clock = true;
	struct fxt_record r;

	input->earliest = UINT64_MAX;
	input->state.is_finished = FXT_ARCHIVE_FINISHED;
	fxt_tables_init(&reader.tables);
	while (is_of_one_clock && fxt_next(&cursor, &r))
		if (fxt_is_plain_call(r.words[0]))
			input_on_time(input, r.words[1]);
		else
			is_of_one_clock = input_on_record(&reader, &r);
	input->fault = cursor.fault;
	fxt_tables_free(&reader.tables);
	if (clock->rate == 0)
		clock->rate = FXT_NS_PER_SECOND;
	if (is_of_one_clock)
		return 0;
	snprintf(error, error_bytes, "%s: has clocks of several rates, and cannot be merged", input->name);
	return -1;
}

/* Returns the index of the first input that is from the same boot of the same machine as
 * input `i`. */
static size_t input_machine(const struct fxt_merge_clock *clocks, size_t i)
{
	size_t first = 0;

	while (first < i && !fxt_anchors_are_of_one_boot(&clocks[i].first, &clocks[first].first))
		first++;
	return first;
}

/* True if an earlier input is from the same boot and the same pid namespace. */
static bool input_shares_pids(const struct fxt_merge_clock *clocks, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (fxt_anchors_are_of_one_boot(&clocks[i].first, &clocks[j].first) &&
		        clocks[i].first.pid_space == clocks[j].first.pid_space)
			return true;
	return false;
}

/* Returns the index of the first input of the same session: `i`, unless the trace is
 * rotated. */
static size_t input_session(
        const struct fxt_merge_input *inputs, const struct fxt_merge_clock *clocks, size_t i)
{
	size_t first = 0;

	while (inputs[i].rotation.session && first < i &&
	        !(inputs[first].rotation.session == inputs[i].rotation.session &&
	                fxt_anchors_are_of_one_boot(&clocks[i].first, &clocks[first].first)))
		first++;
	return inputs[i].rotation.session ? first : i;
}

void fxt_merge_settle(struct fxt_merge_input *inputs, const struct fxt_merge_clock *clocks, size_t count)
{
	struct fxt_merge_used used = {0};
	unsigned cpus = 0, machines = 0;

	for (size_t i = 0; i < count; i++)
		if (inputs[i].cpus > cpus)
			cpus = inputs[i].cpus;
	for (size_t i = 0; i < count; i++) {
		size_t first = input_session(inputs, clocks, i);

		if (first < i)
			fxt_merge_koids_join(&inputs[first].koids, &inputs[i].koids);
	}
	for (size_t i = 0; i < count; i++) {
		size_t machine = input_machine(clocks, i), first = input_session(inputs, clocks, i);

		inputs[i].first_cpu = machine < i ? inputs[machine].first_cpu : machines++ * cpus;
		if (first < i)
			fxt_merge_koids_follow(&inputs[i].koids, &inputs[first].koids);
		else
			fxt_merge_koids_settle(
			        &inputs[i].koids, &used, i == 0 || input_shares_pids(clocks, i));
	}
	fxt_merge_used_free(&used);
}

/* ---- files that are missing ---- */

static int input_compare_rotations(const void *left, const void *right)
{
	const struct fxt_rotation *a = left, *b = right;

	if (a->session != b->session)
		return a->session < b->session ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Files from `first` to `last` of a rotation are missing; its last file here is `latest`. */
static void input_tell_gap(uint64_t first, uint64_t last, const struct fxt_rotation *latest)
{
	bool was_deleted = latest->number >= latest->keep && last <= latest->number - latest->keep;
	char files[64];

	if (first == last)
		snprintf(files, sizeof(files), "file %" PRIu64 " is", first);
	else
		snprintf(files, sizeof(files), "files %" PRIu64 " to %" PRIu64 " are", first, last);
	if (was_deleted)
		fprintf(stderr, "fxt: %s missing: fxtrun --keep=%" PRIu64 " deletes earlier files\n", files,
		        latest->keep);
	else
		fprintf(stderr, "fxt: %s missing, with %s calls\n", files, first == last ? "its" : "their");
}

void fxt_merge_tell_gaps(const struct fxt_merge_input *inputs, size_t count)
{
	struct fxt_rotation *sorted = fxt_allocate(count * sizeof(*sorted));
	size_t last = 0;

	for (size_t i = 0; i < count; i++)
		sorted[i] = inputs[i].rotation;
	qsort(sorted, count, sizeof(*sorted), input_compare_rotations);
	for (size_t i = 0; i < count; i++) {
		bool is_first = i == 0 || sorted[i - 1].session != sorted[i].session;
		uint64_t next = is_first ? sorted[i].first : sorted[i - 1].number + 1;

		for (last = is_first ? i : last;
		        last + 1 < count && sorted[last + 1].session == sorted[i].session;)
			last++;
		if (sorted[i].session && sorted[i].number > next)
			input_tell_gap(next, sorted[i].number - 1, &sorted[last]);
	}
	free(sorted);
}

void fxt_merge_free(struct fxt_merge_input *input)
{
	fxt_archive_close(&input->archive);
	fxt_merge_koids_free(&input->koids);
}
