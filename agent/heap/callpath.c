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

#define NODES_BITS     22
#define NODES          (UINT64_C(1) << NODES_BITS)
#define NODES_USED_MAX (NODES - NODES / 8)
#define NODE_WORDS     4
#define GONE_MAX       64

struct agent_heap_thread *agent_heap_threads;

/* A node; its number is its place plus 1. Entries are only added. */
static struct node {
	uint64_t hash;
	uint64_t written; /* the generation that has its record, plus 1; 0 = none yet */
} * nodes;
static uint64_t nodes_used;

static uint64_t powers[AGENT_WALK_MAX]; /* powers of FACTOR, by exponent */

static void *callpath_map(size_t bytes)
{
	void *memory =
	        sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	if (memory) {
		sys_advise(memory, bytes, MADV_WIPEONFORK);
		sys_advise(memory, bytes, MADV_DONTDUMP);
	}
	return memory;
}

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

/* The place of a node, or the place where it would be. */
static struct node *node_find(uint64_t hash)
{
	for (uint64_t at = hash * FACTOR >> (64 - NODES_BITS);; at = (at + 1) & (NODES - 1)) {
		uint64_t found = load_relaxed(&nodes[at].hash);

		if (found == hash || found == 0)
			return &nodes[at];
	}
}

/* Finds a node, or adds it. NULL: there is no room. */
static struct node *node_get(uint64_t hash)
{
	struct node *node = node_find(hash);
	uint64_t mask;

	if (load_relaxed(&node->hash))
		return node;
	mask = fxt_lock(&agent_engine.lock);
	node = node_find(hash);
	if (!node->hash && nodes_used < NODES_USED_MAX) {
		store_relaxed(&node->hash, hash);
		nodes_used++;
	}
	fxt_unlock(&agent_engine.lock, mask);
	return node->hash ? node : NULL;
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

static bool node_write(struct fxt_thread_writer *writer, uint32_t number, uint32_t parent, uint64_t address)
{
	struct fxt_engine *e = &agent_engine;
	const struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t index = address == AGENT_WALK_LEFT_OUT ? agent_heap.elided_name
	                                                : agent_function_ref(address) & FXT_INDEX_LOCAL;
	bool is_local = index == FXT_INDEX_LOCAL;
	uint32_t module = is_local ? agent_module_at(address) : 0;
	uint64_t record[NODE_WORDS];

	for (;;) {
		/* An index of the chunk becomes invalid with the chunk: then the write
		 * fails, and we ask again. */
		if (is_local)
			index = fxt_local_index(e, writer, address, module, NODE_WORDS);
		if (!index)
			return false;
		record[0] = fxt_record_header(FXT_RECORD_USERSPACE_OBJECT, parent ? NODE_WORDS : 2) |
		            (uint64_t)slot->thread_index << 16 | index << 24 | (uint64_t)(parent != 0) << 40;
		record[1] = fxt_heap_path_of_number(number);
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
		if (!node_write(writer, node_number(node), parent, function(address)))
			return parent;
		/* Release: its record is committed. Pairs with the acquire in
		 * node_is_written(). */
		store_release(&node->written, generation + 1);
	}
	return node_number(node);
}

/* ---- paths of open calls ---- */

static uint64_t callpath_function_itself(uint64_t address)
{
	return address;
}

uint32_t agent_path_of_calls(struct fxt_thread_writer *writer)
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
	while (!is_sentinel(frame) && !(path = agent_path_kept(thread, frame)))
		frame--;
	for (frame++; frame <= top; frame++) {
		if (fxt_is_wait(frame->function)) /* a handler interrupted the wait */
			continue;
		unsigned at = (uintptr_t)frame / sizeof(*frame) % AGENT_PATHS_KEPT;

		path = callpath_intern(writer, path, frame->function >> FXT_FRAME_INDEX_BITS,
		        callpath_function_itself, generation);
		thread->kept[at].path = path;
		thread->kept[at].start = frame->start;
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
	return walk->count && node_is_written(node, agent_paths_generation()) ? node_number(node) : 0;
}

uint32_t agent_path_of_walk(struct fxt_thread_writer *writer, const struct agent_walk *walk)
{
	uint64_t generation = agent_paths_generation();
	uint32_t path = 0;

	for (unsigned i = walk->count; i-- > 0;)
		path = callpath_intern(
		        writer, path, walk->addresses[i], callpath_function_of_return, generation);
	return path;
}

/* ---- beginning and end ---- */

void agent_paths_forget(void)
{
	nodes_used = 0;
}

bool agent_paths_prepare(void)
{
	nodes = callpath_map(NODES * sizeof(*nodes));
	agent_heap_threads = callpath_map(FXT_SLOTS * sizeof(*agent_heap_threads));
	if (!nodes || !agent_heap_threads || !agent_unwind_prepare())
		return false;
	powers[0] = 1;
	for (unsigned i = 1; i < AGENT_WALK_MAX; i++)
		powers[i] = powers[i - 1] * FACTOR;
	return true;
}
