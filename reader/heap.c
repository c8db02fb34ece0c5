#include "heap.h"

#include <math.h>
#include <stdlib.h>

/* How much later than its successor's allocation a free may seem to be. */
#define DISORDER_NS 100000

/* ---- processes and nodes ---- */

static uint32_t hash_node(uint32_t process, uint64_t id)
{
	return fxt_hash_word(id ^ (uint64_t)process << 48);
}

static uint32_t find_node(struct fxt_heap *h, uint32_t process, uint64_t id)
{
	uint32_t hash = hash_node(process, id), number = (uint32_t)h->node_count;

	for (struct fxt_probe probe = fxt_probe(&h->node_index, hash);
	        fxt_probe_next(&h->node_index, &probe);)
		if (h->nodes[probe.id].id == id && h->nodes[probe.id].process == process)
			return probe.id;
	fxt_make_room(h->nodes, h->node_count, h->node_room);
	/* Until its record comes, and if it never does, a node's parent is the root. */
	h->nodes[h->node_count++] = (struct fxt_heap_node){
	        .id = id, .process = process, .parent = id ? h->processes[process].root : number};
	fxt_index_add(&h->node_index, hash, number);
	return number;
}

static uint32_t find_process(struct fxt_heap *h, uint64_t koid)
{
	uint32_t hash = fxt_hash_word(koid), number = (uint32_t)h->process_count;

	for (struct fxt_probe probe = fxt_probe(&h->process_index, hash);
	        fxt_probe_next(&h->process_index, &probe);)
		if (h->processes[probe.id].koid == koid)
			return probe.id;
	fxt_make_room(h->processes, h->process_count, h->process_room);
	h->processes[h->process_count++] = (struct fxt_heap_process){
	        .koid = koid, .provider = h->tables.provider->id, .first = UINT64_MAX};
	fxt_index_add(&h->process_index, hash, number);
	h->processes[number].root = find_node(h, number, 0);
	return number;
}

/* ---- records ---- */

static bool pointer_argument(
        struct fxt_heap *h, const struct fxt_view *view, const char *name, uint64_t *pointer)
{
	struct fxt_argument argument;

	if (!fxt_tables_argument(&h->tables, view, name, &argument) || argument.type != FXT_ARGUMENT_POINTER)
		return false;
	*pointer = argument.value.word;
	return true;
}

static uint64_t process_of(struct fxt_heap *h, struct fxt_thread thread)
{
	if (thread.ref == 0)
		return thread.process;
	return h->tables.threads[fxt_tables_thread(&h->tables, thread)].process;
}

static void read_node(struct fxt_heap *h, const struct fxt_view *view)
{
	uint32_t process = find_process(h, process_of(h, view->userspace_object.process));
	uint32_t node = find_node(h, process, view->userspace_object.pointer),
	         parent = h->processes[process].root;
	uint64_t id;

	if (pointer_argument(h, view, "parent", &id))
		parent = find_node(h, process, id);
	h->nodes[node].parent = parent;
	h->nodes[node].name = fxt_tables_string(&h->tables, view->userspace_object.name);
}

static void add_event(struct fxt_heap *h, struct fxt_heap_event event)
{
	fxt_make_room(h->events, h->event_count, h->event_room);
	event.order = (uint32_t)h->event_count;
	h->events[h->event_count++] = event;
}

static double weight(const struct fxt_heap_process *p, uint64_t size)
{
	return p->sample_bytes ? 1 / -expm1(-(double)(size ? size : 1) / (double)p->sample_bytes) : 1;
}

/* The object that stands right before the instant of its allocation. */
static uint32_t read_block(
        struct fxt_heap *h, uint32_t process, uint32_t thread, uint64_t pointer, uint64_t ns)
{
	struct fxt_argument size;
	uint64_t path;

	if (h->pending.type != FXT_RECORD_USERSPACE_OBJECT ||
	        h->pending.userspace_object.pointer != pointer ||
	        !fxt_tables_argument(&h->tables, &h->pending, "size", &size) ||
	        !pointer_argument(h, &h->pending, "path", &path))
		return FXT_HEAP_NO_BLOCK;
	fxt_make_room(h->blocks, h->block_count, h->block_room);
	h->blocks[h->block_count] = (struct fxt_heap_block){.pointer = pointer,
	        .size = size.value.word,
	        .start = ns,
	        .end = FXT_HEAP_LIVES,
	        .node = find_node(h, process, path),
	        .thread = thread,
	        .weight = weight(&h->processes[process], size.value.word)};
	if (path == 0 && h->nodes[h->processes[process].root].name == FXT_NOTHING)
		h->nodes[h->processes[process].root].name =
		        fxt_tables_intern(&h->tables, fxt_span("(call path unknown)"));
	return (uint32_t)h->block_count++;
}

static void read_heap_event(struct fxt_heap *h, const struct fxt_view *view)
{
	uint32_t name = fxt_tables_string(&h->tables, view->event.name);
	uint32_t thread = fxt_tables_thread(&h->tables, view->event.thread);
	uint32_t process = find_process(h, h->tables.threads[thread].process);
	struct fxt_heap_event event = {.ns = fxt_provider_ns(h->tables.provider, view->event.ticks),
	        .process = process,
	        .thread = thread,
	        .block = FXT_HEAP_NO_BLOCK};
	struct fxt_argument sample_bytes;

	if (name == h->recorded && fxt_tables_argument(&h->tables, view, "sample_bytes", &sample_bytes))
		h->processes[process].sample_bytes = sample_bytes.value.word;
	if ((name != h->allocate && name != h->free) || !pointer_argument(h, view, "pointer", &event.pointer))
		return;
	if (name == h->allocate)
		event.block = read_block(h, process, thread, event.pointer, event.ns);
	if (name == h->allocate && event.block == FXT_HEAP_NO_BLOCK)
		h->malformed++;
	else
		add_event(h, event);
}

static void read_record(struct fxt_heap *h, const struct fxt_view *view)
{
	struct fxt_argument lost;

	fxt_tables_apply(&h->tables, view);
	if (view->type == FXT_RECORD_USERSPACE_OBJECT && view->userspace_object.pointer >> 63)
		read_node(h, view);
	if (view->type == FXT_RECORD_EVENT) {
		uint32_t category = fxt_tables_string(&h->tables, view->event.category);

		if (category == h->category && view->event.type == FXT_EVENT_INSTANT)
			read_heap_event(h, view);
		else if (category == h->tracer && fxt_tables_argument(&h->tables, view, "records", &lost))
			h->records_lost += lost.value.word;
	}
	h->pending = *view;
}

/* ---- history ---- */

static int compare_events(const void *left, const void *right)
{
	const struct fxt_heap_event *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* What lies at an address, by address, in a table of open addressing that knows no removal: `block` says that
 * nothing lives there. */
struct place {
	uint64_t pointer;
	uint32_t block;
	uint64_t owed_until; /* a free up to then is that of the block before */
};

struct places {
	struct place *items;
	size_t count, room;
	struct fxt_index index;
};

static struct place *find_place(struct places *places, uint64_t pointer)
{
	uint32_t hash = fxt_hash_word(pointer);

	for (struct fxt_probe probe = fxt_probe(&places->index, hash);
	        fxt_probe_next(&places->index, &probe);)
		if (places->items[probe.id].pointer == pointer)
			return &places->items[probe.id];
	fxt_make_room(places->items, places->count, places->room);
	fxt_index_add(&places->index, hash, (uint32_t)places->count);
	places->items[places->count] = (struct place){.pointer = pointer, .block = FXT_HEAP_NO_BLOCK};
	return &places->items[places->count++];
}

static void add(struct fxt_heap_sums *sums, const struct fxt_heap_block *block, double sign)
{
	sums->blocks += sign * block->weight;
	sums->bytes += sign * block->weight * (double)block->size;
}

/* Finds the end of each block, and turns the frees into events that know their block. */
static void pair_events(struct fxt_heap *h, struct fxt_heap_event *event, const struct fxt_heap_event *end)
{
	struct fxt_heap_process *p = &h->processes[event->process];
	struct places places = {0};
	uint32_t *latest = NULL; /* by thread: the block its latest event allocated */
	size_t latest_count = 0;

	for (; event < end; event++) {
		struct place *place = find_place(&places, event->pointer);

		fxt_make_zeroed(latest, latest_count, event->thread);
		if (event->ns < p->first)
			p->first = event->ns;
		p->last = event->ns;
		if (event->block != FXT_HEAP_NO_BLOCK) {
			if (place->block != FXT_HEAP_NO_BLOCK) {
				h->blocks[place->block].end = event->ns;
				place->owed_until = event->ns + DISORDER_NS;
				p->frees += h->blocks[place->block].weight;
				p->repaired++;
			}
			place->block = event->block;
			latest[event->thread] = event->block + 1;
			continue;
		}
		if (event->ns < place->owed_until) {
			place->owed_until = 0;
		} else if (place->block == FXT_HEAP_NO_BLOCK) {
			p->unknown_frees++;
		} else {
			struct fxt_heap_block *block = &h->blocks[place->block];

			block->end = event->ns;
			block->temporary = latest[event->thread] == place->block + 1;
			p->frees += block->weight;
			place->block = FXT_HEAP_NO_BLOCK;
		}
		latest[event->thread] = 0;
	}
	free(places.items);
	fxt_index_free(&places.index);
	free(latest);
}

/* One end of a block's life. */
struct moment {
	uint64_t ns;
	uint32_t block;
	bool ends;
};

static int compare_moments(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->ends != b->ends)
		return a->ends ? -1 : 1;
	return a->block < b->block ? -1 : a->block > b->block;
}

void fxt_heap_play(const struct fxt_heap *h, uint32_t process,
        void (*step)(void *context, uint64_t ns, struct fxt_heap_sums live), void *context)
{
	struct moment *moments = fxt_resize(NULL, 2 * h->block_count + 1, sizeof(*moments));
	struct fxt_heap_sums live = {0};
	size_t count = 0;

	for (uint32_t i = 0; i < h->block_count; i++) {
		if (h->nodes[h->blocks[i].node].process != process)
			continue;
		moments[count++] = (struct moment){h->blocks[i].start, i, false};
		if (h->blocks[i].end != FXT_HEAP_LIVES)
			moments[count++] = (struct moment){h->blocks[i].end, i, true};
	}
	qsort(moments, count, sizeof(*moments), compare_moments);
	for (size_t i = 0; i < count; i++) {
		add(&live, &h->blocks[moments[i].block], moments[i].ends ? -1 : 1);
		step(context, moments[i].ns, live);
	}
	free(moments);
}

static void see_peak(void *context, uint64_t ns, struct fxt_heap_sums live)
{
	struct fxt_heap_process *p = context;

	if (live.bytes > p->at_peak.bytes) {
		p->at_peak = live;
		p->peak = ns;
	}
}

static void sum_up(struct fxt_heap *h)
{
	for (uint32_t i = 0; i < h->process_count; i++)
		fxt_heap_play(h, i, see_peak, &h->processes[i]);
	for (size_t i = 0; i < h->block_count; i++) {
		const struct fxt_heap_block *block = &h->blocks[i];
		struct fxt_heap_node *node = &h->nodes[block->node];
		struct fxt_heap_process *p = &h->processes[node->process];

		add(&node->allocated, block, 1);
		add(&p->allocated, block, 1);
		if (block->temporary) {
			add(&node->temporary, block, 1);
			add(&p->temporary, block, 1);
		}
		if (block->start <= p->peak && block->end > p->peak)
			add(&node->at_peak, block, 1);
		if (block->end == FXT_HEAP_LIVES) {
			add(&node->leaked, block, 1);
			add(&p->leaked, block, 1);
		}
	}
}

void fxt_heap_read(struct fxt_heap *h, const struct fxt_archive *archive, uint64_t ticks_per_second)
{
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_record r;
	struct fxt_view view;

	*h = (struct fxt_heap){0};
	fxt_tables_init(&h->tables);
	h->category = fxt_tables_intern(&h->tables, fxt_span("heap"));
	h->allocate = fxt_tables_intern(&h->tables, fxt_span("allocate"));
	h->free = fxt_tables_intern(&h->tables, fxt_span("free"));
	h->recorded = fxt_tables_intern(&h->tables, fxt_span("recorded"));
	h->tracer = fxt_tables_intern(&h->tables, fxt_span("fxt"));
	while (fxt_next(&cursor, &r)) {
		if (fxt_is_plain_call(r.words[0]))
			continue;
		if (fxt_decode(&r, &view) != NULL) {
			h->malformed++;
			continue;
		}
		if (view.type == FXT_RECORD_INITIALIZATION && ticks_per_second)
			view.initialization.ticks_per_second = ticks_per_second;
		read_record(h, &view);
	}
	h->fault = cursor.fault;
	qsort(h->events, h->event_count, sizeof(*h->events), compare_events);
	for (size_t i = 0, next; i < h->event_count; i = next) {
		for (next = i; next < h->event_count && h->events[next].process == h->events[i].process;)
			next++;
		pair_events(h, h->events + i, h->events + next);
	}
	sum_up(h);
}

void fxt_heap_free(struct fxt_heap *h)
{
	free(h->processes);
	free(h->nodes);
	free(h->blocks);
	free(h->events);
	fxt_index_free(&h->process_index);
	fxt_index_free(&h->node_index);
	fxt_tables_free(&h->tables);
}
