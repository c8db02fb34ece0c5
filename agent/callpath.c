#include "callpath.h"
#include <string.h>
#include <sys/mman.h>
#include "heap_state.h"
#include "modules.h"
#include "walk.h"
#include "writer/encode.h"

#define NODES_BITS     22
#define NODES          (UINT64_C(1) << NODES_BITS)
#define NODES_USED_MAX (NODES - NODES / 8)
#define NODE_WORDS     4
#define GONE_MAX       64
#define PATH_BIT       (UINT64_C(1) << 63)

struct agent_heap_thread *agent_heap_threads;

/* A node that was written. Entries are only added; `id` is stored last. */
static struct node {
	uint64_t id;
	uint32_t generation;
	uint32_t index; /* the function's string */
} * nodes;
static uint64_t nodes_used;

static uint64_t powers[AGENT_WALK_MAX]; /* of FACTOR, by their exponents */

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
 * The id of a path is a polynomial in its functions, modulo 2^63: the one it extends times FACTOR, plus the
 * function. So that of a walk is a sum of products that do not wait for each other.
 */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

static uint64_t callpath_extend(uint64_t parent, uint64_t address)
{
	return (parent * FACTOR + address) | PATH_BIT;
}

/* Where modules were unloaded, and how often. Written under the engine's lock, read without. */
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
	if (i == GONE_MAX) { /* the last one stands for all that are too many */
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

/* What stands for an address in a path: another number once the module that was there is gone. An address has
 * 47 bits. */
static uint64_t node_key(uint64_t address)
{
	uint64_t key = address;

	for (uint32_t i = 0; i < load_acquire(&gone_count); i++)
		if (address - load_relaxed(&gone[i].start) <
		        load_relaxed(&gone[i].end) - load_relaxed(&gone[i].start))
			key += load_relaxed(&gone[i].times) << 48;
	return key;
}

static uint64_t callpath_of_walk(void *const *addresses, unsigned count)
{
	uint64_t id = 0;

	if (unlikely(load_relaxed(&gone_count)))
		for (unsigned i = 0; i < count; i++)
			id += powers[i] * node_key((uint64_t)(uintptr_t)addresses[i]);
	else
		for (unsigned i = 0; i < count; i++)
			id += powers[i] * (uint64_t)(uintptr_t)addresses[i];
	return id | PATH_BIT;
}

/* Where a node is, or would be. */
static struct node *node_find(uint64_t id)
{
	uint64_t at = id * FACTOR >> (64 - NODES_BITS);

	/* Acquire: pairs with the release of `id`, the last of an entry to be stored. */
	for (;; at = (at + 1) & (NODES - 1)) {
		uint64_t found = load_acquire(&nodes[at].id);

		if (found == id || found == 0)
			return &nodes[at];
	}
}

static bool node_is_written(const struct node *node, uint32_t generation)
{
	return load_acquire(&node->id) != 0 && load_relaxed(&node->generation) == generation;
}

static bool node_write(
        struct fxt_block *block, uint64_t id, uint64_t parent, uint64_t address, uint64_t index)
{
	struct fxt_engine *e = &agent_engine;
	const struct fxt_thread_slot *slot = fxt_slot(e, block->number);
	bool is_local = index == FXT_INDEX_LOCAL;
	uint32_t module = is_local ? agent_module_at(address) : 0;
	uint64_t record[NODE_WORDS];

	for (;;) {
		/* An index of the chunk is void with the chunk: then the write fails, and we ask again. */
		if (is_local)
			index = fxt_local_index(e, block, address, module, NODE_WORDS);
		if (!index)
			return false;
		record[0] = fxt_record_header(FXT_RECORD_USERSPACE_OBJECT, parent ? NODE_WORDS : 2) |
		            (uint64_t)slot->thread_index << 16 | index << 24 | (uint64_t)(parent != 0) << 40;
		record[1] = id;
		record[2] = agent_heap.parent_argument;
		record[3] = parent;
		if (fxt_chunk_try_write(e, block, record, parent ? NODE_WORDS : 2, false))
			return true;
		if (!is_local && !fxt_chunk_reserve(e, block, NODE_WORDS))
			return false;
	}
}

/* Notes that a node was written. */
static void node_insert(uint64_t id, uint32_t generation, uint64_t index)
{
	uint64_t mask = fxt_lock(&agent_engine.lock);
	struct node *node = node_find(id);

	if (node->id == 0 && nodes_used < NODES_USED_MAX) {
		node->index = (uint32_t)index;
		node->generation = generation;
		store_release(&node->id, id);
		nodes_used++;
	} else if (node->id == id) {
		store_relaxed(&node->generation, generation);
	}
	fxt_unlock(&agent_engine.lock, mask);
}

/* How the address that tells nodes apart, of a function or a return address, leads to the function. */
typedef uint64_t function_of(uint64_t address);

static struct agent_path callpath_of_node(const struct node *node, uint64_t address, function_of *function)
{
	uint64_t index = node->index;

	return (struct agent_path){node->id, index == FXT_INDEX_LOCAL ? function(address) : 0, index};
}

/*
 * The node that extends `parent`, written if it was not in this generation. Where that is impossible the path
 * ends at the parent.
 */
static struct agent_path callpath_intern(struct fxt_block *block, struct agent_path parent, uint64_t address,
        function_of *function, uint32_t generation)
{
	uint64_t id = callpath_extend(parent.id, node_key(address));
	const struct node *node = node_find(id);

	if (node_is_written(node, generation))
		return callpath_of_node(node, address, function);
	if (load_relaxed(&nodes_used) >= NODES_USED_MAX)
		return parent;
	struct agent_path path = {.id = id, .address = function(address)};

	path.index = agent_function_word(path.address) & FXT_INDEX_LOCAL;
	if (!node_write(block, id, parent.id, path.address, path.index))
		return parent;
	node_insert(id, generation, path.index);
	return path;
}

/* ---- paths of open calls ---- */

static uint64_t callpath_function_itself(uint64_t address)
{
	return address;
}

static struct agent_path callpath_innermost(uint64_t id, const struct fxt_frame *frame)
{
	return (struct agent_path){
	        id, frame->function >> FXT_FRAME_INDEX_BITS, frame->function & FXT_INDEX_LOCAL};
}

struct agent_path agent_path_of_calls(struct fxt_block *block)
{
	const struct fxt_thread_slot *slot = fxt_slot(&agent_engine, block->number);
	struct agent_heap_thread *thread = &agent_heap_threads[block->number];
	const struct fxt_frame *top = (const struct fxt_frame *)(uintptr_t)slot->top - 1, *frame = top;
	struct agent_path path = {0};
	uint64_t generation = agent_paths_generation();

	if (thread->generation != generation) {
		memset(thread->kept, 0, sizeof(thread->kept));
		thread->generation = generation;
	}
	for (; frame->function != 0; frame--) {
		uint64_t id = agent_path_kept(thread, frame);

		if (id) {
			path = callpath_innermost(id, frame);
			break;
		}
	}
	for (frame++; frame <= top; frame++) {
		if (fxt_is_wait(frame->function)) /* a handler came into it */
			continue;
		unsigned at = (uintptr_t)frame / sizeof(*frame) % AGENT_PATHS_KEPT;

		path = callpath_intern(block, path, frame->function >> FXT_FRAME_INDEX_BITS,
		        callpath_function_itself, (uint32_t)generation);
		/* An index that is local to a chunk is void with the chunk: such a path is not kept, but made
		 * anew each time; so is one of an inherited call, and of a call that was left out when it
		 * began, whose words have no index for the fast path. */
		bool has_index = path.index != FXT_INDEX_LOCAL && !fxt_is_inherited(frame->function) &&
		                 (frame->function & FXT_INDEX_LOCAL) != FXT_INDEX_LOCAL;

		thread->kept[at].path = has_index ? path.id : 0;
		thread->kept[at].start = frame->start;
	}
	return is_sentinel(top) || !fxt_is_counted(top->function) ? path : callpath_innermost(path.id, top);
}

/* ---- paths of walks ---- */

struct agent_path agent_path_of_known_walk(void *const *addresses, unsigned count)
{
	uint64_t id = callpath_of_walk(addresses, count);
	const struct node *node = node_find(id);

	/* If it is written, all it extends are. */
	if (count == 0 || !node_is_written(node, (uint32_t)agent_paths_generation()) ||
	        node->index == FXT_INDEX_LOCAL)
		return (struct agent_path){0};
	return (struct agent_path){.id = id, .index = node->index};
}

struct agent_path agent_path_of_walk(struct fxt_block *block, void *const *addresses, unsigned count)
{
	uint32_t generation = (uint32_t)agent_paths_generation();
	struct agent_path path = {0};

	for (unsigned i = count; i-- > 0;)
		path = callpath_intern(
		        block, path, (uint64_t)(uintptr_t)addresses[i], agent_walk_function, generation);
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
	if (!nodes || !agent_heap_threads)
		return false;
	powers[0] = 1;
	for (unsigned i = 1; i < AGENT_WALK_MAX; i++)
		powers[i] = powers[i - 1] * FACTOR;
	return true;
}
