/*
 * Writes the merged trace, one input after the other, and changes in each record the fields
 * that belong to its session. Runs on the main thread. It must not change the order of the
 * records of an input.
 */
#include "write.h"

#include <stdlib.h>
#include "descriptions.h"
#include "fields.h"
#include "reader/trace/text.h"
#include "reader/trace/utf8.h"
#include "perfetto/function_track.h"
#include "perfetto/heap_profile.h"
#include "perfetto/open_calls.h"

#define NOBODY UINT32_MAX

struct merge {
	FILE *out;
	const struct fxt_merge_timeline *timeline;
	const struct fxt_merge_input *input; /* the input that is being written */
	const struct fxt_merge_line *line;
	bool is_first;
	struct fxt_tables tables;
	uint32_t first_provider; /* the id of its first provider in the output */
	uint32_t current;        /* the input's provider that records in the output belong
	                            to now, by its number in the input; NOBODY: records
	                            belong to another input's provider */
	uint64_t *record;        /* a copy of the record, to be changed */
	size_t room;
	struct fxt_function_tracks functions;
	struct fxt_open_calls_search open; /* searches the input that is being written */
	struct fxt_open_calls open_calls;  /* found in all inputs; with the koids and times
	                                      of the merged trace */
};

static void merge_put(struct merge *m, const uint64_t *words, size_t count)
{
	fwrite_unlocked(words, sizeof(*words), count, m->out);
}

static void merge_put_blob(
        struct merge *m, const char *name, enum fxt_blob_type type, const void *data, size_t bytes)
{
	uint64_t record[FXT_RECORD_MAX_WORDS];

	merge_put(m, record,
	        fxt_put_blob(record, FXT_RECORD_MAX_WORDS, fxt_string_text(name), type, data, bytes));
}

/* ---- providers ---- */

static void merge_announce(struct merge *m, struct fxt_span name)
{
	uint64_t record[1 + FXT_PROVIDER_NAME_MAX_BYTES / 8 + 1];

	m->current = m->tables.provider->number;
	merge_put(m, record,
	        fxt_put_provider_info(record, sizeof(record) / sizeof(*record),
	                m->first_provider + m->current, name.data,
	                fxt_utf8_cut(name.data, name.bytes, FXT_PROVIDER_NAME_MAX_BYTES)));
}

/* Begins a provider, named after the file, if the input has records before its first
 * provider. Otherwise these records would belong to another input's provider. */
static void merge_enter(struct merge *m)
{
	const char *slash = strrchr(m->input->name, '/');

	if (m->current == NOBODY)
		merge_announce(m, fxt_span(slash ? slash + 1 : m->input->name));
}

static void merge_metadata(struct merge *m, const struct fxt_view *view)
{
	const struct fxt_provider_tables *of = m->tables.provider;
	uint64_t record[1];

	switch (view->metadata.type) {
	case FXT_METADATA_PROVIDER_INFO:
		merge_announce(m, view->metadata.name);
		break;
	case FXT_METADATA_PROVIDER_SECTION:
		m->current = of->number;
		merge_put(m, record, fxt_put_provider_section(record, 1, m->first_provider + m->current));
		break;
	case FXT_METADATA_PROVIDER_EVENT:
		merge_enter(m);
		if (fxt_tables_provider(&m->tables, view->metadata.provider))
			of = fxt_tables_provider(&m->tables, view->metadata.provider);
		merge_put(m, record,
		        fxt_put_provider_event(record, 1, m->first_provider + of->number,
		                (enum fxt_provider_event)view->metadata.event));
		break;
	default:
		break;
	}
}

static void merge_initialization(struct merge *m)
{
	uint64_t record[2];

	merge_enter(m);
	merge_put(m, record, fxt_put_initialization(record, 2, m->timeline->rate));
}

/* ---- records that are changed ---- */

static uint64_t merge_field(void *context, enum fxt_merge_field field, uint64_t value)
{
	const struct merge *m = context;

	switch (field) {
	case FXT_MERGE_TIME:
		return fxt_merge_time(m->line, value);
	case FXT_MERGE_DURATION:
		return fxt_merge_duration(m->line, (int64_t)value);
	case FXT_MERGE_KOID:
	case FXT_MERGE_MENTION:
		return fxt_merge_koid(&m->input->koids, value);
	case FXT_MERGE_FLOW:
		return fxt_merge_flow(&m->input->koids, value);
	case FXT_MERGE_CPU: /* those of another machine get other numbers */
		return value + m->input->first_cpu;
	}
	return value;
}

/* Notes the source position of a function for the track of functions, which is made anew
 * for the merged trace (perfetto/function_track.h). */
static void merge_function(struct merge *m, const struct fxt_view *view)
{
	struct fxt_span name = fxt_tables_text(&m->tables, view->userspace_object.name);
	uint64_t process = view->userspace_object.process.process;
	struct fxt_argument file, line = {0};

	if (view->userspace_object.pointer >> 63 || view->userspace_object.process.ref != 0 ||
	        name.bytes == 0 || !fxt_tables_argument(&m->tables, view, "file", &file) ||
	        file.type != FXT_ARGUMENT_STRING)
		return;
	if (!fxt_tables_argument(&m->tables, view, "line", &line))
		line.value.word = 0;
	struct fxt_span path = fxt_tables_text(&m->tables, file.value.string);
	char *text = strndup(path.data, path.bytes);
	struct fxt_location location = {
	        .name = name.data, .name_bytes = name.bytes, .file = text, .line = (uint32_t)line.value.word};

	if (!text)
		fxt_out_of_memory();
	fxt_function_tracks_add(&m->functions, fxt_merge_koid(&m->input->koids, process), &location);
	free(text);
}

static void merge_owned(struct merge *m, const struct fxt_record *r, const struct fxt_view *view)
{
	merge_enter(m);
	if (r->size > m->room) {
		m->room = r->size;
		m->record = fxt_resize(m->record, m->room, sizeof(*m->record));
	}
	memcpy(m->record, r->words, r->size * sizeof(*m->record));
	fxt_merge_fields(&m->tables, r, view, m->record, merge_field, m);
	if (view->type == FXT_RECORD_USERSPACE_OBJECT)
		merge_function(m, view);
	merge_put(m, m->record, r->size);
}

/* Writes a blob. Leaves out blobs that describe the input as a whole, because the merged
 * trace has its own; a session description is adapted. */
static void merge_blob(struct merge *m, const struct fxt_record *r, const struct fxt_view *view)
{
	static const char *const own[] = {FXT_ARCHIVE_STATE_BLOB, FXT_ANCHOR_BLOB, FXT_CUT_BLOB,
	        FXT_MERGED_BLOB, FXT_HEAP_PROFILE_BLOB, FXT_FUNCTION_TRACK_BLOB, FXT_OPEN_CALLS_BLOB,
	        FXT_ROTATION_BLOB};
	struct fxt_span name = fxt_inline_text(view->blob.name);
	struct fxt_message description = {0};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (fxt_span_is(name, own[i]))
			return;
	if (!fxt_span_is(name, FXT_DESCRIPTION_BLOB)) {
		if (!(view->blob.name.ref & FXT_STRING_INLINE_BIT))
			merge_enter(m);
		merge_put(m, r->words, r->size);
		return;
	}
	fxt_merge_description(view->blob.data, &m->input->koids, m->is_first, &description);
	if (description.bytes > 0)
		merge_put_blob(
		        m, FXT_DESCRIPTION_BLOB, FXT_BLOB_PERFETTO, description.data, description.bytes);
	free(description.data);
}

static void merge_record(struct merge *m, const struct fxt_record *r)
{
	struct fxt_view view;

	if (fxt_decode(r, &view) != NULL)
		return;
	fxt_tables_apply(&m->tables, &view);
	fxt_open_calls_take(&m->open, &m->tables, &view);
	if (view.type == FXT_RECORD_METADATA)
		merge_metadata(m, &view);
	else if (view.type == FXT_RECORD_INITIALIZATION)
		merge_initialization(m);
	else if (view.type == FXT_RECORD_BLOB)
		merge_blob(m, r, &view);
	else
		merge_owned(m, r, &view);
}

static void merge_plain_call(struct merge *m, const struct fxt_record *r)
{
	const uint64_t record[FXT_CALL_WORDS] = {
	        r->words[0], fxt_merge_time(m->line, r->words[1]), fxt_merge_time(m->line, r->words[2])};

	merge_enter(m);
	merge_put(m, record, FXT_CALL_WORDS);
}

static void merge_open_calls(struct merge *m)
{
	fxt_open_calls_end_search(&m->open);
	for (size_t i = 0; i < m->open.found.count; i++) {
		struct fxt_open_thread thread = m->open.found.threads[i];

		thread.process = fxt_merge_koid(&m->input->koids, thread.process);
		thread.thread = fxt_merge_koid(&m->input->koids, thread.thread);
		thread.ticks = fxt_merge_time(m->line, thread.ticks);
		fxt_open_calls_add(&m->open_calls, &thread);
	}
	fxt_open_calls_free(&m->open.found);
}

static void merge_input(struct merge *m)
{
	struct fxt_cursor cursor = fxt_cursor(&m->input->archive);
	struct fxt_record r;

	m->current = NOBODY;
	fxt_tables_init(&m->tables);
	while (fxt_next(&cursor, &r))
		if (fxt_is_plain_call(r.words[0]))
			merge_plain_call(m, &r);
		else
			merge_record(m, &r);
	m->first_provider += (uint32_t)m->tables.provider_count;
	merge_open_calls(m);
	fxt_tables_free(&m->tables);
}

/* ---- the merged trace's description of itself ---- */

/* The merged trace is as finished as the least finished input. */
static void merge_put_state(struct merge *m, const struct fxt_merge_input *inputs, size_t count)
{
	struct fxt_archive_state state = {.is_finished = FXT_ARCHIVE_FINISHED};

	for (size_t i = 0; i < count; i++) {
		uint64_t end = inputs[i].fault.reason || inputs[i].malformed > 0
		                       ? FXT_ARCHIVE_UNFINISHED
		                       : inputs[i].state.is_finished;

		if (end == FXT_ARCHIVE_UNFINISHED || (end == FXT_ARCHIVE_RECOVERED && state.is_finished))
			state.is_finished = end;
		/* The processes of a session share its state. */
		if (i > 0 && inputs[i].rotation.session && !inputs[i].rotation.number &&
		        inputs[i].rotation.session == inputs[i - 1].rotation.session)
			continue;
		state.bytes_unwritten += inputs[i].state.bytes_unwritten;
		state.processes_dropped += inputs[i].state.processes_dropped;
		state.records_dropped += inputs[i].state.records_dropped;
		state.max_bytes += inputs[i].state.max_bytes;
		state.events_refused += inputs[i].state.events_refused;
	}
	/* By this record a trace is one of fxtrun's. */
	if (m->timeline->by == FXT_MERGE_BY_TICKS && state.is_finished == FXT_ARCHIVE_FINISHED)
		return;
	merge_put_blob(m, FXT_ARCHIVE_STATE_BLOB, FXT_BLOB_DATA, &state, sizeof(state));
}

/* If inputs are cuts, the merged trace is a cut from the earliest begin to the latest
 * end. */
static void merge_put_cut(struct merge *m, const struct fxt_merge_input *inputs,
        const struct fxt_merge_clock *clocks, size_t count)
{
	struct fxt_cut cut = {.ticks_per_second = m->timeline->rate, .from = UINT64_MAX, .start = UINT64_MAX};
	char text[sizeof(cut) + 1024];
	size_t bytes = sizeof(cut);

	for (size_t i = 0; i < count; i++) {
		const struct fxt_cut *own = &inputs[i].cut;
		const struct fxt_merge_line *line = &clocks[i].line;
		uint64_t from = 0, to = UINT64_MAX;

		cut.what |= own->what;
		if (own->what & FXT_CUT_TIME && own->from > 0)
			from = fxt_merge_time(line, fxt_cut_time(own, own->from, clocks[i].rate));
		if (own->what & FXT_CUT_TIME && own->to < UINT64_MAX)
			to = fxt_merge_time(line, fxt_cut_time_to(own, clocks[i].rate));
		cut.from = from < cut.from ? from : cut.from;
		cut.to = to > cut.to ? to : cut.to;
		if (own->what == 0)
			continue;
		uint64_t start = fxt_merge_time(line, fxt_cut_time(own, own->start, clocks[i].rate)),
		         end = fxt_merge_time(line, fxt_cut_time(own, own->end, clocks[i].rate));

		cut.start = start < cut.start ? start : cut.start;
		cut.end = end > cut.end ? end : cut.end;
		if (bytes + inputs[i].cut_options.bytes + 1 > sizeof(text))
			continue;
		if (bytes > sizeof(cut))
			text[bytes++] = ' ';
		memcpy(text + bytes, inputs[i].cut_options.data, inputs[i].cut_options.bytes);
		bytes += inputs[i].cut_options.bytes;
	}
	memcpy(text, &cut, sizeof(cut));
	if (cut.what != 0)
		merge_put_blob(m, FXT_CUT_BLOB, FXT_BLOB_DATA, text, bytes);
}

static void merge_put_head(struct merge *m, const struct fxt_merge_input *inputs,
        const struct fxt_merge_clock *clocks, size_t count, const char *said)
{
	uint64_t record[1];

	merge_put(m, record, fxt_put_magic(record, 1));
	merge_put_state(m, inputs, count);
	if (m->timeline->by != FXT_MERGE_BY_TICKS)
		merge_put_blob(
		        m, FXT_ANCHOR_BLOB, FXT_BLOB_DATA, &m->timeline->first, sizeof(m->timeline->first));
	merge_put_blob(m, FXT_MERGED_BLOB, FXT_BLOB_DATA, said, strlen(said));
	merge_put_cut(m, inputs, clocks, count);
}

static void merge_put_functions(void *context, const void *data, size_t bytes)
{
	merge_put_blob(context, FXT_FUNCTION_TRACK_BLOB, FXT_BLOB_PERFETTO, data, bytes);
}

static void merge_put_open_calls(void *context, const void *data, size_t bytes)
{
	merge_put_blob(context, FXT_OPEN_CALLS_BLOB, FXT_BLOB_PERFETTO, data, bytes);
}

void fxt_merge_write(FILE *out, const struct fxt_merge_input *inputs, const struct fxt_merge_clock *clocks,
        size_t count, const struct fxt_merge_timeline *timeline, const char *said)
{
	struct merge m = {.out = out, .timeline = timeline, .is_first = true, .first_provider = 1};
	uint64_t earliest = UINT64_MAX;

	merge_put_head(&m, inputs, clocks, count, said);
	for (size_t i = 0; i < count; i++) {
		m.input = &inputs[i];
		m.line = &clocks[i].line;
		merge_input(&m);
		m.is_first = false;
		if (inputs[i].earliest < UINT64_MAX && fxt_merge_time(m.line, inputs[i].earliest) < earliest)
			earliest = fxt_merge_time(m.line, inputs[i].earliest);
	}
	if (earliest < UINT64_MAX) /* without an event there is no time at which to show
	                              functions */
		fxt_function_tracks_take(
		        &m.functions, fxt_rate_viewer_ns(earliest, timeline->rate), merge_put_functions, &m);
	fxt_function_tracks_free(&m.functions);
	fxt_open_calls_describe(&m.open_calls, timeline->rate, merge_put_open_calls, &m);
	fxt_open_calls_free(&m.open_calls);
	if (timeline->by != FXT_MERGE_BY_TICKS)
		merge_put_blob(&m, FXT_ANCHOR_BLOB, FXT_BLOB_DATA, &timeline->last, sizeof(timeline->last));
	free(m.record);
}
