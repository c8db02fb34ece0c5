/*
 * Reads an archive's heap records, forward, and hands them to the window (heap_play.h).
 * Runs on the caller's thread. An archive that is more out of order than the window is wide
 * is read again with a wider one, so nothing may keep results of an abandoned pass.
 */
#include "heap.h"

#include <stdlib.h>
#include "reader/trace/cut.h"
#include "reader/trace/namesakes.h"
#include "heap_play.h"
#include "library_blocks.h"
#include "writer/engine/heap.h"

/* The number of events that can wait for events that are earlier in time and later in the
 * file: as many as fit in one buffer of the usual size, since threads write to it side by
 * side. */
#define WINDOW_EVENTS (((size_t)1 << 20) - 1)

/* ---- processes and nodes ---- */

static uint32_t heap_hash_node(uint32_t process, uint64_t id)
{
	return fxt_hash_word(id ^ (uint64_t)process << 48);
}

static uint32_t heap_find_node(struct fxt_heap *h, uint32_t process, uint64_t id)
{
	uint32_t hash = heap_hash_node(process, id), number = (uint32_t)h->node_count;

	for (struct fxt_probe probe = fxt_probe(&h->node_index, hash);
	        fxt_probe_next(&h->node_index, &probe);)
		if (h->nodes[probe.id].id == id && h->nodes[probe.id].process == process)
			return probe.id;
	fxt_make_room(h->nodes, h->node_count, h->node_room);
	/* A node's parent is the root until its record comes, or for good if it never
	 * does. */
	h->nodes[h->node_count++] = (struct fxt_heap_node){.id = id,
	        .process = process,
	        .parent = id ? h->processes[process].root : number,
	        .depth = id != 0,
	        .outer = number};
	fxt_index_add(&h->node_index, hash, number);
	return number;
}

/* Images of a process differ by their providers, with ascending ids. */
static uint32_t heap_find_process(struct fxt_heap *h, uint64_t koid)
{
	uint32_t hash = fxt_hash_word(koid), number = (uint32_t)h->process_count;
	const struct fxt_provider_tables *provider = h->tables.provider;
	struct fxt_heap_process process = {.koid = koid, .provider = provider, .first = UINT64_MAX};

	/* Most events come from the same process as the previous event. */
	if (h->process_latest < h->process_count && h->processes[h->process_latest].koid == koid &&
	        h->processes[h->process_latest].provider == provider)
		return h->process_latest;
	for (struct fxt_probe probe = fxt_probe(&h->process_index, hash);
	        fxt_probe_next(&h->process_index, &probe);)
		if (h->processes[probe.id].koid == koid && h->processes[probe.id].provider == provider)
			return h->process_latest = probe.id;
	for (struct fxt_probe probe = fxt_probe(&h->process_index, hash);
	        fxt_probe_next(&h->process_index, &probe);) {
		struct fxt_heap_process *other = &h->processes[probe.id];

		if (other->koid != koid)
			continue;
		process.image += other->provider->id < provider->id;
		other->image += other->provider->id > provider->id;
		process.is_replaced |= other->provider->id > provider->id;
		other->is_replaced |= other->provider->id < provider->id;
	}
	fxt_make_room(h->processes, h->process_count, h->process_room);
	h->processes[h->process_count++] = process;
	fxt_index_add(&h->process_index, hash, number);
	h->processes[number].root = heap_find_node(h, number, 0);
	return number;
}

uint32_t fxt_heap_process_name(const struct fxt_heap *h, const struct fxt_heap_process *process)
{
	if (process->image > 0 || process->is_replaced)
		return process->provider->name;
	return fxt_tables_object_name(&h->tables, FXT_OBJECT_PROCESS, process->koid);
}

/* ---- records ---- */

static bool heap_pointer_argument(
        struct fxt_heap *h, const struct fxt_view *view, const char *name, uint64_t *pointer)
{
	struct fxt_argument argument;

	if (!fxt_tables_argument(&h->tables, view, name, &argument) || argument.type != FXT_ARGUMENT_POINTER)
		return false;
	*pointer = argument.value.word;
	return true;
}

static uint64_t heap_process(struct fxt_heap *h, struct fxt_thread thread)
{
	if (thread.ref == 0)
		return thread.process;
	return h->tables.threads[fxt_tables_thread(&h->tables, thread)].process;
}

static void heap_read_node(struct fxt_heap *h, const struct fxt_view *view)
{
	uint32_t process = heap_find_process(h, heap_process(h, view->userspace_object.process));
	uint32_t node = heap_find_node(h, process, view->userspace_object.pointer),
	         parent = h->processes[process].root;
	uint64_t id;

	if (heap_pointer_argument(h, view, "parent", &id))
		parent = heap_find_node(h, process, id);
	h->nodes[node].parent = parent;
	h->nodes[node].depth = h->nodes[parent].depth + 1;
	h->nodes[node].outer = h->nodes[node].depth > FXT_HEAP_OUTERMOST ? h->nodes[parent].outer : node;
	h->nodes[node].name = fxt_tables_string(&h->tables, view->userspace_object.name);
}

/* Gets an argument of an allocation. The object directly before the instant has it; in
 * older traces the instant has the size, or both. */
static bool heap_block_argument(struct fxt_heap *h, const struct fxt_view *view, uint64_t pointer,
        const char *name, struct fxt_argument *argument)
{
	return fxt_tables_argument(&h->tables, view, name, argument) ||
	       (h->pending.type == FXT_RECORD_USERSPACE_OBJECT &&
	               h->pending.userspace_object.pointer == pointer &&
	               fxt_tables_argument(&h->tables, &h->pending, name, argument));
}

static uint32_t heap_path_node(struct fxt_heap *h, uint32_t process, uint64_t path)
{
	uint32_t node = heap_find_node(h, process, path);

	if (path == 0 && h->nodes[node].name == FXT_NOTHING)
		h->nodes[node].name = fxt_tables_intern(&h->tables, fxt_span("(call path unknown)"));
	return node;
}

/* Returns false if the size or path is missing. */
static bool heap_read_block(struct fxt_heap *h, const struct fxt_view *view, struct fxt_heap_event *event)
{
	struct fxt_argument size, path;

	if (!heap_block_argument(h, view, event->pointer, "size", &size) ||
	        !heap_block_argument(h, view, event->pointer, "path", &path))
		return false;
	event->kind = FXT_HEAP_ALLOCATION;
	event->size = size.value.word;
	event->node = heap_path_node(h, event->process, fxt_heap_path_id(&path));
	return true;
}

static void heap_read_event(struct fxt_heap *h, const struct fxt_view *view)
{
	uint32_t name = fxt_tables_string(&h->tables, view->event.name);
	uint32_t thread = fxt_tables_thread(&h->tables, view->event.thread);
	uint32_t process = heap_find_process(h, h->tables.threads[thread].process);
	struct fxt_heap_event event = {.ns = fxt_provider_ns(h->tables.provider, view->event.ticks),
	        .process = process,
	        .thread = thread,
	        .kind = FXT_HEAP_FREE};
	struct fxt_argument sample_bytes, mode;

	if (name == h->recorded && fxt_tables_argument(&h->tables, view, "mode", &mode) &&
	        mode.type == FXT_ARGUMENT_STRING) {
		uint32_t text = fxt_tables_string(&h->tables, mode.value.string);

		h->was_begun = true;
		h->has_counters_only |= fxt_span_is(h->tables.strings[text], "counters");
	}
	if (name == h->recorded && fxt_tables_argument(&h->tables, view, "sample_bytes", &sample_bytes))
		h->processes[process].sample_bytes = sample_bytes.value.word;
	if ((name != h->allocate && name != h->free) ||
	        !heap_pointer_argument(h, view, "pointer", &event.pointer))
		return;
	if (name == h->allocate && !heap_read_block(h, view, &event))
		h->malformed++;
	else
		fxt_heap_take(h, &event);
}

/* Reads the pointers among the arguments of any other event, with the event's time. */
static void heap_read_pointers(struct fxt_heap *h, const struct fxt_view *view)
{
	struct fxt_arguments arguments = view->arguments;
	struct fxt_argument argument;

	while (fxt_next_argument(&arguments, &argument)) {
		if (argument.type != FXT_ARGUMENT_POINTER)
			continue;
		uint32_t thread = fxt_tables_thread(&h->tables, view->event.thread);
		uint64_t ticks = view->event.type == FXT_EVENT_DURATION_COMPLETE ? view->event.extra
		                                                                 : view->event.ticks;
		struct fxt_heap_event event = {.ns = fxt_provider_ns(h->tables.provider, ticks),
		        .pointer = argument.value.word,
		        .process = heap_find_process(h, h->tables.threads[thread].process),
		        .thread = thread,
		        .node = fxt_tables_string(&h->tables, view->event.name),
		        .size = fxt_tables_string(&h->tables, argument.name),
		        .kind = FXT_HEAP_MENTION};

		fxt_heap_take(h, &event);
	}
}

/* Reads the sums that the agent keeps, as they were at a moment (writer/engine/heap.h). */
static void heap_read_sums(struct fxt_heap *h, const struct fxt_view *view)
{
	struct fxt_view counters;
	struct fxt_argument bytes, objects;

	if (!fxt_view_heap_counters(view, &counters) ||
	        !fxt_tables_argument(&h->tables, view, FXT_HEAP_COUNTERS_BYTES, &bytes) ||
	        !fxt_tables_argument(&h->tables, view, FXT_HEAP_COUNTERS_OBJECTS, &objects))
		return;
	struct fxt_heap_event event = {.ns = fxt_provider_ns(h->tables.provider, counters.event.ticks),
	        .process = heap_find_process(h, heap_process(h, counters.event.thread)),
	        .size = bytes.value.word,
	        .pointer = objects.value.word,
	        .kind = FXT_HEAP_SUMS};

	fxt_heap_take(h, &event);
}

/* Times of one provider can be compared without conversion. */
static void heap_note_start(struct fxt_heap *h, uint64_t ticks)
{
	if (h->start_provider == h->tables.provider->id && ticks >= h->start_ticks)
		return;
	h->start_provider = h->tables.provider->id;
	h->start_ticks = ticks;
	uint64_t ns = fxt_provider_ns(h->tables.provider, ticks);

	h->start = ns < h->start ? ns : h->start;
}

static void heap_read_cut(struct fxt_heap *h, const struct fxt_view *view)
{
	struct fxt_span options;
	struct fxt_cut cut;

	if (fxt_view_cut(view, &cut, &options))
		h->cut_from = fxt_cut_time(&cut, cut.from, FXT_NS_PER_SECOND);
}

static void heap_read_record(struct fxt_heap *h, const struct fxt_view *view)
{
	struct fxt_loss_event loss;

	fxt_tables_apply(&h->tables, view);
	if (view->type == FXT_RECORD_USERSPACE_OBJECT && view->userspace_object.pointer >> 63)
		heap_read_node(h, view);
	else if (view->type == FXT_RECORD_USERSPACE_OBJECT)
		fxt_origins_add(&h->origins, &h->tables, view);
	heap_read_cut(h, view);
	h->unknown += view->is_unknown;
	if (h->with_curves)
		heap_read_sums(h, view);
	if (view->type == FXT_RECORD_EVENT) {
		heap_note_start(h, view->event.ticks);
		uint32_t category = fxt_tables_string(&h->tables, view->event.category);

		if (category == h->category && view->event.type == FXT_EVENT_INSTANT)
			heap_read_event(h, view);
		else if (category == h->tracer && fxt_tables_loss(&h->tables, view, &loss))
			h->records_lost += loss.records;
		if (h->with_pointers && category != h->category)
			heap_read_pointers(h, view);
	}
	h->pending = *view;
}

/* ---- records in the form that the agent gives them (agent/heap/heap_record.h) ----
 *
 * Half of a trace with a heap, or more, is of this form: instants with a pointer, and the
 * object of the block before that of an allocation. They need not be taken apart as others
 * are, which costs three times as much. */

enum {
	OBJECT_WORDS = 5,  /* header, pointer, size, path's header and value */
	INSTANT_WORDS = 4, /* header, time, pointer's header and value */
	WHOLE_WORDS = 6,   /* the same, path, and size: an allocation in older traces */
	ARGUMENT_MASK = 0xffff,
};

static bool heap_is_plain_object(const uint64_t *words)
{
	return fxt_record_type(words[0]) == FXT_RECORD_USERSPACE_OBJECT &&
	       fxt_record_words(words[0]) == OBJECT_WORDS && fxt_field(words[0], 16, 8) != 0 &&
	       !(words[0] >> 24 & FXT_STRING_INLINE_BIT) && fxt_field(words[0], 40, 4) == 2 &&
	       !(words[1] >> 63);
}

static bool heap_is_plain_instant(uint64_t header)
{
	uint64_t words = fxt_record_words(header);

	return fxt_record_type(header) == FXT_RECORD_EVENT && fxt_field(header, 16, 4) == FXT_EVENT_INSTANT &&
	       (words == INSTANT_WORDS || words == WHOLE_WORDS) &&
	       fxt_field(header, 20, 4) == words - INSTANT_WORDS + 1 && fxt_field(header, 24, 8) != 0 &&
	       !((header >> 32 | header >> 48) & FXT_STRING_INLINE_BIT);
}

/* True if an argument has this type and size, and a name by index that is the string
 * `name`. */
static bool heap_is_argument(
        const struct fxt_heap *h, uint64_t header, enum fxt_argument_type type, uint64_t words, uint32_t name)
{
	uint16_t index = (uint16_t)(header >> 16);

	return (header & ARGUMENT_MASK) == (type | words << 4) && !(index & FXT_STRING_INLINE_BIT) &&
	       fxt_provider_string(h->tables.provider, index) == name;
}

/* Reads the size of an allocation, and the id of its path, if they have that form. */
static bool heap_read_plain_block(const struct fxt_heap *h, const uint64_t *words, const uint64_t *object,
        uint64_t *size, uint64_t *path)
{
	bool is_whole = fxt_record_words(words[0]) == WHOLE_WORDS;

	if (is_whole ? !heap_is_argument(h, words[4], FXT_ARGUMENT_UINT32, 1, h->path) ||
	                        !heap_is_argument(h, words[5], FXT_ARGUMENT_UINT32, 1, h->size)
	             : !object || object[1] != words[3] ||
	                        !heap_is_argument(h, object[2], FXT_ARGUMENT_UINT32, 1, h->size) ||
	                        !heap_is_argument(h, object[3], FXT_ARGUMENT_POINTER, 2, h->path))
		return false;
	*size = (is_whole ? words[5] : object[2]) >> 32;
	*path = is_whole ? fxt_heap_path_of_number(words[4] >> 32) : object[4];
	return true;
}

/* Reads an event of that form; `object` is the record before it, or NULL. Returns false,
 * without any effect, if it has another form. */
static bool heap_read_plain_event(struct fxt_heap *h, const uint64_t *words, const uint64_t *object)
{
	const struct fxt_provider_tables *provider = h->tables.provider;
	uint32_t name = fxt_provider_string(provider, (uint16_t)(words[0] >> 48));
	bool is_free = name == h->free && fxt_record_words(words[0]) == INSTANT_WORDS;
	uint64_t size = 0, path = 0;

	if (fxt_provider_string(provider, (uint16_t)(words[0] >> 32)) != h->category ||
	        (!is_free && name != h->allocate) ||
	        !heap_is_argument(h, words[2], FXT_ARGUMENT_POINTER, 2, h->pointer) ||
	        (!is_free && !heap_read_plain_block(h, words, object, &size, &path)))
		return false;
	uint32_t thread = fxt_provider_thread(provider, (uint8_t)(words[0] >> 24));
	struct fxt_heap_event event = {.ns = fxt_provider_ns(provider, words[1]),
	        .pointer = words[3],
	        .process = heap_find_process(h, h->tables.threads[thread].process),
	        .thread = thread,
	        .kind = is_free ? FXT_HEAP_FREE : FXT_HEAP_ALLOCATION};

	if (!is_free) {
		event.size = size;
		event.node = heap_path_node(h, event.process, path);
	}
	heap_note_start(h, words[1]);
	fxt_heap_take(h, &event);
	return true;
}

/* Reads a record of that form. Returns false if it has another form, and then takes the
 * object before it apart. */
static bool heap_read_plain(struct fxt_heap *h, const struct fxt_record *r)
{
	const uint64_t *object = h->object;

	h->object = NULL;
	if (heap_is_plain_object(r->words)) {
		h->object = r->words;
		return true;
	}
	if (heap_is_plain_instant(r->words[0]) && heap_read_plain_event(h, r->words, object)) {
		h->pending.type = FXT_RECORD_EVENT;
		return true;
	}
	if (object && fxt_decode(&(struct fxt_record){.words = object, .size = OBJECT_WORDS}, &h->pending)) {
		h->pending.type = FXT_RECORD_EVENT;
		h->malformed++;
	}
	return false;
}

/* ---- the archive ---- */

static void heap_settle(struct fxt_heap *h)
{
	fxt_namesakes_settle(&h->tables, &h->origins, h->archive->bytes);
	if (h->until == UINT64_MAX)
		fxt_heap_set_kept_apart(h);
	for (size_t i = 0; i < h->node_count; i++)
		h->nodes[i].name = fxt_tables_settled(&h->tables, h->nodes[i].name);
	for (size_t i = 0; i < h->mention_count; i++)
		h->mentions[i].event = fxt_tables_settled(&h->tables, h->mentions[i].event);
}

static void heap_read(struct fxt_heap *h)
{
	struct fxt_cursor cursor = fxt_cursor(h->archive);
	struct fxt_record r;
	struct fxt_view view;

	fxt_tables_init(&h->tables);
	h->start = h->start_ticks = UINT64_MAX;
	h->category = fxt_tables_intern(&h->tables, fxt_span("heap"));
	h->allocate = fxt_tables_intern(&h->tables, fxt_span("allocate"));
	h->free = fxt_tables_intern(&h->tables, fxt_span("free"));
	h->recorded = fxt_tables_intern(&h->tables, fxt_span("recorded"));
	h->tracer = fxt_tables_intern(&h->tables, fxt_span("fxt"));
	h->pointer = fxt_tables_intern(&h->tables, fxt_span("pointer"));
	h->size = fxt_tables_intern(&h->tables, fxt_span("size"));
	h->path = fxt_tables_intern(&h->tables, fxt_span("path"));
	h->elided = fxt_tables_intern(&h->tables, fxt_span(FXT_HEAP_LEFT_OUT));
	while (!h->out_of_order && fxt_next(&cursor, &r)) {
		if (fxt_is_plain_call(r.words[0])) {
			heap_note_start(h, r.words[1]);
			h->tables.provider->has_slices = true;
			continue;
		}
		if (heap_read_plain(h, &r))
			continue;
		if (fxt_decode(&r, &view) != NULL) {
			h->malformed++;
			continue;
		}
		if (view.type == FXT_RECORD_INITIALIZATION && h->ticks_per_second)
			view.initialization.ticks_per_second = h->ticks_per_second;
		heap_read_record(h, &view);
	}
	h->fault = cursor.fault;
	h->records_lost += fxt_tables_uncounted_losses(&h->tables);
	fxt_heap_finish(h);
	heap_settle(h);
}

/* Copies the request from `asked`. */
static void heap_read_asked(struct fxt_heap *h, const struct fxt_heap *asked)
{
	size_t window_events = WINDOW_EVENTS;

	/* An archive that is more out of order than the window is wide is read again with a
	 * wider window. */
	for (;;) {
		*h = *asked;
		h->window_events = window_events;
		heap_read(h);
		if (!h->out_of_order)
			return;
		fxt_heap_free(h);
		window_events *= 8;
	}
}

void fxt_heap_read(
        struct fxt_heap *h, const struct fxt_archive *archive, uint64_t ticks_per_second, bool with_pointers)
{
	heap_read_asked(h, &(struct fxt_heap){.archive = archive,
	                           .ticks_per_second = ticks_per_second,
	                           .until = UINT64_MAX,
	                           .with_pointers = with_pointers});
}

void fxt_heap_read_with_curves(
        struct fxt_heap *h, const struct fxt_archive *archive, uint64_t ticks_per_second)
{
	heap_read_asked(h, &(struct fxt_heap){.archive = archive,
	                           .ticks_per_second = ticks_per_second,
	                           .until = UINT64_MAX,
	                           .with_curves = true});
}

const struct fxt_live_curve *fxt_heap_live_curve(const struct fxt_heap *h, const struct fxt_heap_process *p)
{
	bool all_are_known = p->sample_bytes == 0 && p->unknown_frees == 0 && p->objects_above == 0 &&
	                     h->records_lost == 0;

	return all_are_known || !p->has_sums ? &p->played : &p->summed;
}

void fxt_heap_read_until(
        struct fxt_heap *h, const struct fxt_archive *archive, uint64_t ns, bool with_pointers)
{
	heap_read_asked(
	        h, &(struct fxt_heap){.archive = archive, .until = ns, .with_pointers = with_pointers});
}

void fxt_heap_each_block(const struct fxt_heap *h, fxt_heap_ended *ended, void *context)
{
	struct fxt_heap again = {.archive = h->archive,
	        .ticks_per_second = h->ticks_per_second,
	        .window_events = h->window_events,
	        .until = h->until,
	        .ended = ended,
	        .step_context = context};

	heap_read(&again);
	fxt_heap_free(&again);
}

void fxt_heap_play(const struct fxt_heap *h, uint32_t process, fxt_heap_step *step, void *context)
{
	struct fxt_heap again = {.archive = h->archive,
	        .ticks_per_second = h->ticks_per_second,
	        .window_events = h->window_events,
	        .until = h->until,
	        .step = step,
	        .step_context = context,
	        .step_process = process};

	heap_read(&again);
	fxt_heap_free(&again);
}

void fxt_heap_free(struct fxt_heap *h)
{
	for (size_t i = 0; i < h->process_count; i++) {
		fxt_heap_end(h, &h->processes[i]);
		free(h->processes[i].played.points);
		free(h->processes[i].summed.points);
	}
	free(h->processes);
	free(h->nodes);
	free(h->latest);
	free(h->rows);
	free(h->mentions);
	fxt_index_free(&h->mention_index);
	fxt_index_free(&h->process_index);
	fxt_index_free(&h->node_index);
	fxt_origins_free(&h->origins);
	fxt_tables_free(&h->tables);
}

/* ---- a curve ---- */

struct curve {
	uint64_t first, last;
	double *most;
	unsigned steps, step;
	double latest;
};

static void heap_on_step(void *context, uint64_t ns, struct fxt_heap_sums live)
{
	struct curve *c = context;
	uint64_t length = c->last - c->first;
	unsigned step =
	        length > 0 ? (unsigned)((unsigned __int128)(ns - c->first) * (c->steps - 1) / length) : 0;

	if (step >= c->steps)
		step = c->steps - 1;
	while (c->step < step)
		c->most[++c->step] = c->latest;
	c->latest = live.bytes;
	if (live.bytes > c->most[step])
		c->most[step] = live.bytes;
}

void fxt_heap_curve(const struct fxt_heap *heap, uint32_t process, double *most, unsigned steps)
{
	const struct fxt_heap_process *p = &heap->processes[process];
	struct curve c = {.first = p->first, .last = p->last, .most = most, .steps = steps};

	memset(most, 0, steps * sizeof(*most));
	fxt_heap_play(heap, process, heap_on_step, &c);
	while (c.step + 1 < steps)
		most[++c.step] = c.latest;
}
