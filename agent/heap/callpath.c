/* Finds or adds the nodes of call paths and writes their records (callpath.h). Runs on the
 * thread with the event; the thread's writer is on the slow path. Other threads do the same
 * at once, so nodes are only added. Nothing here may call the allocator. */
#include "callpath.h"
#include <string.h>
#include <sys/mman.h>
#include "heap_state.h"
#include "cfi.h"
#include "agent/process/modules.h"
#include "unwind.h"
#include "writer/format/encode.h"
#include "writer/engine/heap.h"
#include "writer/engine/reserve.h"
#include "writer/engine/slots.h"

#define NUMBER_BITS         22
#define NODES               ((UINT64_C(1) << NUMBER_BITS) - 1)
#define INDEX_FIRST_ENTRIES (UINT64_C(1) << 12)
#define INDEX_LAST_ENTRIES  (UINT64_C(1) << (NUMBER_BITS + 1))
#define NODE_WORDS          4
#define GONE_MAX            64

struct agent_heap_thread *agent_heap_threads;

/* A node; its number is its place plus 1. Nodes are only added. */
static struct node {
	uint64_t hash;
	uint64_t written;  /* the generation that has its record, plus 1; 0 = none yet */
	uint64_t function; /* its key | the index of its name, as in the function table */
} * nodes;
static struct fxt_reserve nodes_reserve;
static uint64_t nodes_used;

/*
 * The nodes by their hashes. Threads search it without a lock. It is at most half full; a
 * larger one then takes its place, and it stays mapped, since a thread may be searching it.
 */
static struct node_index {
	uint64_t mask;      /* 0 in a forked child: nothing is added before it has its own paths */
	uint64_t entries[]; /* the upper bits of a hash | a number; 0 = free */
} * node_index;
static uint64_t index_mask; /* of `node_index`, also in a forked child */

static uint64_t powers[AGENT_WALK_MAX]; /* powers of FACTOR, by exponent */

/* ---- nodes ---- */

/*
 * The hash of a path is a polynomial in its functions: the hash of the path it extends
 * times FACTOR, plus the function. A walk's hash is therefore a sum of products that do not
 * wait for each other. It is never 0, and stands for the path: in a program with a million
 * paths, two have the same hash with a probability of one in 10^7.
 */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

#define HASH_BIT (UINT64_C(1) << 63)

static uint64_t callpath_extend(uint64_t parent, uint64_t address)
{
	return (parent * FACTOR + address) | HASH_BIT;
}

/* Address ranges of unloaded modules, with a count of unloads each. Written under the
 * engine's lock, read without. */
static struct gone {
	uint64_t start, end;
	uint64_t times;
} gone[GONE_MAX];
static uint32_t gone_count;

void agent_paths_retire(uint64_t start, uint64_t end)
{
	uint32_t i = 0;

	while (i < gone_count && (gone[i].start != start || gone[i].end != end))
		i++;
	if (i == GONE_MAX) { /* the last entry stands for all that do not fit */
		i--;
		start = start < gone[i].start ? start : gone[i].start;
		end = end > gone[i].end ? end : gone[i].end;
	}
	store_relaxed(&gone[i].start, start);
	store_relaxed(&gone[i].end, end);
	store_relaxed(&gone[i].times, gone[i].times + 1);
	if (i == gone_count)
		store_release(&gone_count, i + 1);
}

/* The number that stands for an address in a path. It changes once the module that was
 * there is unloaded. An address has 47 bits. */
static uint64_t node_key(uint64_t address)
{
	uint64_t key = address;

	for (uint32_t i = 0; i < load_acquire(&gone_count); i++)
		if (address - load_relaxed(&gone[i].start) <
		        load_relaxed(&gone[i].end) - load_relaxed(&gone[i].start))
			key += load_relaxed(&gone[i].times) << 48;
	return key;
}

static uint64_t callpath_of_walk(const struct agent_walk *walk)
{
	uint64_t hash = 0;

	if (unlikely(load_relaxed(&gone_count)))
		for (unsigned i = 0; i < walk->count; i++)
			hash += powers[i] * node_key(walk->addresses[i]);
	else
		for (unsigned i = 0; i < walk->count; i++)
			hash += powers[i] * walk->addresses[i];
	return hash | HASH_BIT;
}

#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)

static uint64_t index_home(uint64_t hash)
{
	return hash * FACTOR >> 32;
}

/* Finds a node; NULL: there is none. */
static struct node *node_find(uint64_t hash)
{
	/* Acquire: what it points to, and the nodes in there, are complete. */
	const struct node_index *index = load_acquire(&node_index);
	uint64_t mask = load_relaxed(&index->mask);

	for (uint64_t at = index_home(hash) & mask;; at = (at + 1) & mask) {
		uint64_t entry = load_acquire(&index->entries[at]);

		if (entry == 0)
			return NULL;
		if (((entry ^ hash) & ~NUMBER_MASK) == 0 && nodes[(entry & NUMBER_MASK) - 1].hash == hash)
			return &nodes[(entry & NUMBER_MASK) - 1];
	}
}

static void index_insert(struct node_index *index, uint64_t hash, uint64_t number)
{
	uint64_t at = index_home(hash) & index->mask;

	while (index->entries[at])
		at = (at + 1) & index->mask;
	/* Release: a thread that finds the entry sees the node's hash. */
	store_release(&index->entries[at], (hash & ~NUMBER_MASK) | number);
}

static uint64_t index_bytes(uint64_t entries)
{
	return sizeof(struct node_index) + entries * sizeof(uint64_t);
}

static struct node_index *index_create(uint64_t entries)
{
	uint64_t bytes = index_bytes(entries);
	struct fxt_reserve reserve = {.memory = fxt_reserve_map(bytes), .entry_bytes = bytes};

	if (!reserve.memory)
		return NULL;
	if (!fxt_reserve_reach(&reserve, 1)) {
		fxt_reserve_unmap(reserve.memory, bytes);
		return NULL;
	}
	((struct node_index *)reserve.memory)->mask = entries - 1;
	return reserve.memory;
}

/* With the lock held. False: there is no room for another node. */
static bool index_make_room(void)
{
	uint64_t entries = index_mask + 1;
	struct node_index *larger = NULL;

	if (nodes_used < entries / 2)
		return true;
	if (entries < INDEX_LAST_ENTRIES)
		larger = index_create(entries * 2);
	if (!larger)
		return nodes_used < entries - entries / 8;
	for (uint64_t number = 1; number <= nodes_used; number++)
		index_insert(larger, nodes[number - 1].hash, number);
	index_mask = entries * 2 - 1;
	store_release(&node_index, larger);
	return true;
}

/* With the lock held: adds a node. NULL: there is no room. */
static struct node *node_add(uint64_t hash)
{
	struct node *node = &nodes[nodes_used];

	/* In a child that a handler made inside of a hook there are no nodes yet. */
	if (node_index->mask == 0 || nodes_used == NODES ||
	        !fxt_reserve_reach(&nodes_reserve, nodes_used + 1) || !index_make_room())
		return NULL;
	node->hash = hash;
	index_insert(node_index, hash, ++nodes_used);
	return node;
}

/* Finds a node, or adds it. NULL: there is no room. */
static struct node *node_get(uint64_t hash)
{
	struct node *node = node_find(hash);
	uint64_t mask;

	if (node)
		return node;
	mask = fxt_lock(&agent_engine.lock);
	node = node_find(hash) ?: node_add(hash);
	fxt_unlock(&agent_engine.lock, mask);
	return node;
}

static uint32_t node_number(const struct node *node)
{
	return (uint32_t)(node - nodes) + 1;
}

static bool node_is_written(const struct node *node, uint64_t generation)
{
	/* Acquire: pairs with the release in callpath_intern(), so that a reader that shows
	 * an event of this path shows the node too. */
	return load_acquire(&node->written) == generation + 1;
}

static uint64_t node_index_of_name(uint64_t address)
{
	return address == AGENT_WALK_LEFT_OUT ? agent_heap.elided_name
	                                      : agent_function_ref(address) & FXT_INDEX_LOCAL;
}

static bool node_write(struct fxt_thread_writer *writer, struct node *node, uint32_t parent, uint64_t address)
{
	struct fxt_engine *e = &agent_engine;
	const struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t record[NODE_WORDS];

	for (;;) {
		/* Any index may become invalid before the write, with the chunk or with the
		 * recording: then the write fails, and we ask again. */
		uint64_t index = node_index_of_name(address);
		bool is_local = index == FXT_INDEX_LOCAL;

		store_relaxed(&node->function, fxt_function_key(address) | index);
		if (is_local)
			index = fxt_local_index(e, writer, address, agent_module_at(address), NODE_WORDS);
		if (!index)
			return false;
		record[0] = fxt_record_header(FXT_RECORD_USERSPACE_OBJECT, parent ? NODE_WORDS : 2) |
		            (uint64_t)slot->thread_index << 16 | index << 24 | (uint64_t)(parent != 0) << 40;
		record[1] = fxt_heap_path_of_number(node_number(node));
		record[2] = agent_heap.parent_argument;
		record[3] = fxt_heap_path_of_number(parent);
		if (fxt_chunk_try_write(e, writer, record, parent ? NODE_WORDS : 2, false))
			return true;
		if (!is_local && !fxt_chunk_reserve(e, writer, NODE_WORDS))
			return false;
	}
}

/* Leads from the address that tells nodes apart, of a function or a return address, to the
 * function. */
typedef uint64_t function_of(uint64_t address);

/* The node that extends `parent`, written if this generation does not have it. If that is
 * impossible, the path ends at the parent. */
static uint32_t callpath_intern(struct fxt_thread_writer *writer, uint32_t parent, uint64_t address,
        function_of *function, uint64_t generation)
{
	struct node *node = node_get(callpath_extend(parent ? nodes[parent - 1].hash : 0, node_key(address)));

	if (!node)
		return parent;
	if (!node_is_written(node, generation)) {
		if (!node_write(writer, node, parent, function(address)))
			return parent;
		/* Release: its record is committed, and its function stored. Pairs with the
		 * acquire in node_is_written(). */
		store_release(&node->written, generation + 1);
	}
	return node_number(node);
}

uint64_t agent_path_function(uint32_t path)
{
	return path ? load_relaxed(&nodes[path - 1].function) : 0;
}

/* ---- paths of open calls ---- */

static uint64_t callpath_function_itself(uint64_t address)
{
	return address;
}

uint32_t agent_path_of_calls(struct fxt_thread_writer *writer, uint64_t allocator)
{
	const struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);
	struct agent_heap_thread *thread = &agent_heap_threads[writer->number];
	const struct fxt_frame *top = (const struct fxt_frame *)(uintptr_t)slot->top - 1, *frame = top;
	uint64_t generation = agent_paths_generation();
	uint32_t path = 0;

	if (thread->generation != generation) {
		memset(thread->kept, 0, sizeof(thread->kept));
		thread->generation = generation;
	}
	if (allocator && fxt_function_is(top->function, allocator) && !is_sentinel(top))
		frame = --top;
	for (; !is_sentinel(frame); frame--) {
		const struct agent_kept_path *kept = agent_path_place(thread, frame);

		if (kept->start == frame->start && kept->path) {
			path = kept->path;
			break;
		}
	}
	for (frame++; frame <= top; frame++) {
		if (fxt_is_wait(frame->function)) /* a handler interrupted the wait */
			continue;
		path = callpath_intern(writer, path, frame->function >> FXT_FRAME_INDEX_BITS,
		        callpath_function_itself, generation);
		*agent_path_place(thread, frame) =
		        (struct agent_kept_path){frame->start, path, agent_path_name(path)};
	}
	return path;
}

/* ---- paths of walks ---- */

/* The start of the function that holds a return address, by the unwind tables, so that its
 * calls share one name. Without a table, the last byte of the call instruction, which also
 * lies in the function. */
static uint64_t callpath_function_of_return(uint64_t address)
{
	if (address == AGENT_WALK_LEFT_OUT)
		return address;
	return agent_cfi_start(address - 1) ?: address - 1;
}

uint32_t agent_path_of_known_walk(const struct agent_walk *walk)
{
	const struct node *node = node_find(callpath_of_walk(walk));

	/* If this node is written, so are all that it extends. */
	return walk->count && node && node_is_written(node, agent_paths_generation()) ? node_number(node) : 0;
}

uint32_t agent_path_of_walk(struct fxt_thread_writer *writer, uint32_t path, const struct agent_walk *walk)
{
	uint64_t generation = agent_paths_generation();

	for (unsigned i = walk->count; i-- > 0;)
		path = callpath_intern(
		        writer, path, walk->addresses[i], callpath_function_of_return, generation);
	return path;
}

/* ---- beginning and end ---- */

void agent_paths_forget(void)
{
	nodes_used = 0;
	if (node_index)
		node_index->mask = index_mask;
}

/* After a detach (agent/process/attach.h): the tables stay mapped. */
static bool paths_prepare_again(void)
{
	fxt_reserve_wipe(nodes, NODES * sizeof(*nodes));
	fxt_reserve_wipe(node_index, index_bytes(index_mask + 1));
	fxt_reserve_wipe(agent_heap_threads, FXT_SLOTS * sizeof(*agent_heap_threads));
	agent_paths_forget();
	return true;
}

bool agent_paths_prepare(void)
{
	static bool is_prepared;

	if (is_prepared)
		return paths_prepare_again();
	nodes = fxt_reserve_map(NODES * sizeof(*nodes));
	nodes_reserve = (struct fxt_reserve){.memory = nodes, .entry_bytes = sizeof(*nodes)};
	node_index = index_create(INDEX_FIRST_ENTRIES);
	index_mask = INDEX_FIRST_ENTRIES - 1;
	agent_heap_threads = fxt_reserve_map(FXT_SLOTS * sizeof(*agent_heap_threads));
	if (!nodes || !node_index || !agent_heap_threads || !agent_unwind_prepare() ||
	        !fxt_slots_add_table(&agent_engine, agent_heap_threads, sizeof(*agent_heap_threads)))
		return false;
	powers[0] = 1;
	for (unsigned i = 1; i < AGENT_WALK_MAX; i++)
		powers[i] = powers[i - 1] * FACTOR;
	is_prepared = true;
	return true;
}
