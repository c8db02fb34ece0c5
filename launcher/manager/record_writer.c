/*
 * Puts names into a provider's records and writes them to the archive, on the provider's
 * thread. It must not wait for a name while the program has no room left, except with a
 * filter.
 */
#include "record_writer.h"
#include <stdlib.h>
#include <string.h>
#include "symbolizer/naming.h"
#include "writer/shared/atomics.h"
#include "writer/format/encode.h"

#define GATHERED_BYTES (FXT_RECORD_MAX_WORDS * 8 * 4)
/* gathered: writing costs more than copying */
#define SMALL_BYTES (FXT_RECORD_MAX_WORDS * 8)

/* Size of a record that waits for its name: most names fit. */
#define LATE_WORDS 65

/* The wait for a name before the program's room is checked again, and the longest wait at
 * the end. */
#define PATIENCE_NS     UINT64_C(1000000)
#define END_PATIENCE_NS UINT64_C(60000000000)

static void record_writer_write(
        struct fxt_record_writer *w, const void *records, uint64_t bytes, bool has_others)
{
	if (has_others)
		fxt_archive_write(w->archive, w->identity, records, bytes);
	else
		fxt_archive_write_calls(w->archive, w->identity, records, bytes);
}

static void record_writer_write_gathered(struct fxt_record_writer *w)
{
	record_writer_write(w, w->gathered, w->gathered_bytes, w->gathered_others);
	w->gathered_bytes = 0;
	w->gathered_others = false;
}

static void record_writer_gather(
        struct fxt_record_writer *w, const uint64_t *record, size_t words, bool has_others)
{
	if (!w->gathered)
		w->gathered = malloc(GATHERED_BYTES);
	if (!w->gathered) {
		record_writer_write(w, record, words * 8, has_others);
		return;
	}
	if (w->gathered_bytes + words * 8 > GATHERED_BYTES)
		record_writer_write_gathered(w);
	w->gathered_others |= has_others;
	memcpy(w->gathered + w->gathered_bytes, record, words * 8);
	w->gathered_bytes += (uint32_t)(words * 8);
}

/* ---- names ---- */

/* True if the program can go on for a while with the rest of its buffer. */
static bool record_writer_program_has_room(const struct fxt_record_writer *w)
{
	const struct fxt_collector *c = w->collector;
	const struct fxt_buffer_header *header = (const struct fxt_buffer_header *)c->buffer;
	unsigned current = load_relaxed(&header->wrapped_count) & 1;

	return load_relaxed(&header->rolling_data_end[current]) < c->layout.rolling_bytes / 2;
}

static bool record_writer_is_patient(const struct fxt_record_writer *w)
{
	return !w->names_until_ns || fxt_monotonic_ns() < w->names_until_ns;
}

/* Finds the name of a placeholder. False: it is late, and the program must not wait for
 * it. */
static bool record_writer_find_function(struct fxt_record_writer *w, struct fxt_span text,
        const struct fxt_markup *pc, struct fxt_location *function)
{
	bool is_there = fxt_names_wait(w->resolver, w->names, pc, 0, function);

	if (is_there)
		return true;
	fxt_names_ask(w->resolver, w->names, text);
	if ((w->nobody_waits || w->filter) && !w->left_placeholders)
		return fxt_names_wait(w->resolver, w->names, pc, END_PATIENCE_NS, function);
	while (!is_there && record_writer_program_has_room(w) && record_writer_is_patient(w) &&
	        !fxt_names_have_failed(w->resolver, w->names))
		is_there = fxt_names_wait(w->resolver, w->names, pc, PATIENCE_NS, function);
	return is_there;
}

static bool record_writer_is_placeholder(struct fxt_span text, struct fxt_markup *pc)
{
	return fxt_markup_parse(text, pc) && pc->kind == FXT_MARKUP_PC;
}

/* ---- late ones ---- */

/* Fills the room behind a record that waits for its name, or got it. The records without
 * content state that the next records belong to the present provider. */
static void record_writer_pad(const struct fxt_record_writer *w, uint64_t record[LATE_WORDS], size_t words)
{
	while (words < LATE_WORDS)
		words += fxt_put_provider_section(record + words, 1, w->identity->id);
}

/* Writes a placeholder, followed by room for the name. */
static bool record_writer_leave_room(
        struct fxt_record_writer *w, const struct fxt_view *view, const struct fxt_markup *pc)
{
	struct fxt_late_name *late = reallocarray(w->late, w->late_count + 1, sizeof(*late));
	struct fxt_span text = view->string.text;
	uint64_t record[LATE_WORDS], at;

	w->left_placeholders |= !late;
	if (!late)
		return false;
	w->late = late;
	record_writer_write_gathered(w);
	record_writer_pad(
	        w, record, fxt_put_string(record, LATE_WORDS, view->string.index, text.data, text.bytes));
	at = fxt_archive_write_to_replace(w->archive, w->identity, record, sizeof(record));
	if (at)
		w->late[w->late_count++] = (struct fxt_late_name){at, view->string.index, *pc};
	return true;
}

/* Writes a late name into its place if it becomes known within that time. Returns true if
 * it did. */
static bool record_writer_fill_in(struct fxt_record_writer *w, const struct fxt_late_name *late, uint64_t ns)
{
	uint64_t record[FXT_RECORD_MAX_WORDS];
	struct fxt_location function;
	size_t words;

	if (!fxt_names_wait(w->resolver, w->names, &late->pc, ns, &function))
		return false;
	words = fxt_naming_string(record, late->index, &function);
	words += fxt_naming_identity(record + words, FXT_RECORD_MAX_WORDS - words, w->collector->process_koid,
	        late->pc.address, late->index, &function);
	if (words <= LATE_WORDS) {
		fxt_archive_note_room(w->archive, (LATE_WORDS - words) * 8);
		record_writer_pad(w, record, words);
		words = fxt_archive_replace(w->archive, late->at, record, LATE_WORDS * 8) == 0 ? LATE_WORDS
		                                                                               : SIZE_MAX;
	}
	w->left_placeholders |= words != LATE_WORDS;
	if (late->index < FXT_STRING_LOCAL_FIRST)
		fxt_names_are_written(w->resolver, w->names, &late->pc);
	return true;
}

static void record_writer_fill_in_all(struct fxt_record_writer *w, uint64_t ns)
{
	size_t left = 0;

	for (size_t i = 0; i < w->late_count; i++)
		if (!record_writer_fill_in(w, &w->late[i], w->left_placeholders ? 0 : ns)) {
			w->left_placeholders |= ns != 0;
			w->late[left++] = w->late[i];
		}
	w->late_count = left;
}

void fxt_record_writer_flush(struct fxt_record_writer *w)
{
	record_writer_write_gathered(w);
	record_writer_fill_in_all(w, 0);
	fxt_call_counter_add_up(&w->counter, w->resolver, w->names, w->nobody_waits ? END_PATIENCE_NS : 0);
}

/* ---- records ---- */

static bool record_writer_write_string(struct fxt_record_writer *w, const struct fxt_view *view)
{
	uint64_t named[FXT_RECORD_MAX_WORDS];
	uint32_t index = view->string.index;
	struct fxt_location function;
	struct fxt_markup pc;

	if (index == 0)
		return false;
	if (w->excluded)
		w->excluded[index] = 0; /* clears the flag of the earlier string */
	if (!record_writer_is_placeholder(view->string.text, &pc)) {
		fxt_call_counter_name(&w->counter, index, NULL);
		return false;
	}
	fxt_call_counter_name(&w->counter, index, &pc);
	/* If memory for noting excluded functions is short, all their calls are removed at
	 * the end. */
	if ((w->filter && !w->excluded) ||
	        !record_writer_find_function(w, view->string.text, &pc, &function)) {
		if (!w->filter)
			return record_writer_leave_room(w, view, &pc);
		w->left_placeholders = true; /* its calls are removed at the end, if
		                              * necessary */
		return false;
	}
	if (w->excluded)
		w->excluded[index] = fxt_record_filter_excludes(w->filter, &function);
	record_writer_gather(w, named, fxt_naming_string(named, index, &function), true);
	record_writer_gather(w, named,
	        fxt_naming_identity(named, FXT_RECORD_MAX_WORDS, w->collector->process_koid, pc.address,
	                index, &function),
	        true);
	if (index < FXT_STRING_LOCAL_FIRST)
		fxt_names_are_written(w->resolver, w->names, &pc);
	return true;
}

static bool record_writer_write_event(
        struct fxt_record_writer *w, const struct fxt_record *record, const struct fxt_view *view)
{
	struct fxt_span text = fxt_inline_text(view->event.name);
	uint64_t named[FXT_RECORD_MAX_WORDS];
	struct fxt_location function;
	struct fxt_markup pc;

	if (!record_writer_is_placeholder(text, &pc))
		return false;
	if (!record_writer_find_function(w, text, &pc, &function)) {
		w->left_placeholders = true;
		return false;
	}
	if (w->filter && fxt_record_filter_excludes(w->filter, &function) &&
	        (!w->collector->copy.kept_from || view->event.ticks < w->collector->copy.kept_from))
		return true;
	record_writer_gather(w, named, fxt_naming_event(named, record, view, &function), true);
	return true;
}

/* ---- what the collector calls ---- */

static int record_writer_emit(void *context, const void *records, uint64_t bytes)
{
	struct fxt_record_writer *w = context;

	fxt_call_counter_take(&w->counter, records, bytes);
	if (bytes <= SMALL_BYTES) {
		record_writer_gather(w, records, bytes / 8, w->collector->copy.has_others);
		return 0;
	}
	record_writer_write_gathered(w);
	fxt_call_sample_take(&w->sample, records, bytes, w->collector->control->ticks_per_second);
	record_writer_write(w, records, bytes, w->collector->copy.has_others);
	return 0; /* the archive counts the bytes that it cannot take */
}

static int record_writer_emit_record(void *context, const uint64_t *words, uint64_t count)
{
	struct fxt_record_writer *w = context;
	const struct fxt_record record = {.words = words, .size = count};
	struct fxt_view view;
	bool is_written = false;

	if (fxt_record_type(words[0]) == FXT_RECORD_INITIALIZATION) {
		record_writer_write_gathered(w);
		fxt_archive_write(w->archive, w->identity, words, count * 8);
		return 0;
	}
	if (w->names && fxt_decode(&record, &view) == NULL) {
		if (view.type == FXT_RECORD_STRING)
			is_written = record_writer_write_string(w, &view);
		if (view.type == FXT_RECORD_EVENT)
			is_written = record_writer_write_event(w, &record, &view);
	}
	if (!is_written)
		record_writer_gather(w, words, count, true);
	return 0;
}

void fxt_record_writer_begin(struct fxt_record_writer *w, struct fxt_collector *collector,
        struct fxt_archive_writer *archive, struct fxt_archive_provider *identity,
        struct fxt_resolver *resolver, struct fxt_names *names)
{
	*w = (struct fxt_record_writer){.archive = archive,
	        .identity = identity,
	        .resolver = resolver,
	        .names = names,
	        .collector = collector,
	        .left_placeholders = !names};
	collector->copy.emit = record_writer_emit;
	collector->copy.emit_record = record_writer_emit_record;
	collector->copy.context = w;
}

void fxt_record_writer_exclude(struct fxt_record_writer *w, const struct fxt_record_filter *filter)
{
	w->filter = filter;
	w->excluded = calloc(FXT_STRING_INLINE_BIT, sizeof(*w->excluded));
	w->left_placeholders |= !w->excluded;
	w->collector->copy.excluded = w->excluded;
}

void fxt_record_writer_restart(struct fxt_record_writer *w)
{
	if (w->names)
		fxt_names_restart(w->resolver, w->names);
}

void fxt_record_writer_move(struct fxt_record_writer *w, struct fxt_archive_writer *archive)
{
	w->archive = archive;
	w->is_moved = true;
	if (w->names)
		fxt_names_move(w->resolver, w->names, archive);
}

bool fxt_record_writer_turn(struct fxt_record_writer *w, struct fxt_archive_writer *archive)
{
	bool lacks_names = w->left_placeholders || w->late_count > 0;

	if (w->names)
		lacks_names |= fxt_names_turn(w->resolver, w->names, archive);
	else
		w->identity->announced = false;
	w->archive = archive;
	w->late_count = 0;
	w->left_placeholders = !w->names || (w->filter && !w->excluded);
	return lacks_names;
}

void fxt_record_writer_end(struct fxt_record_writer *w)
{
	if (w->names) {
		record_writer_fill_in_all(w, END_PATIENCE_NS);
		fxt_names_end(w->resolver, w->names, w->is_moved);
	}
	w->noise = fxt_call_sample_end(&w->sample);
	fxt_call_counter_end(&w->counter);
	free(w->gathered);
	free(w->late);
	w->collector->copy.excluded = NULL;
	free(w->excluded);
	w->excluded = NULL;
	w->gathered = NULL;
	w->late = NULL;
	w->late_count = 0;
	w->names = NULL;
}
