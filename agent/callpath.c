#include "callpath.h"
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include "heap.h"
#include "writer/encode.h"

#define NODES          (UINT64_C(1) << 22)
#define NODES_USED_MAX (NODES - NODES / 8)
#define NODE_WORDS     4
#define PATH_BIT       (UINT64_C(1) << 63)

struct agent_heap_thread *agent_heap_threads;

/* A node that was written. Entries are only added; `id` is stored last. */
static struct node {
	uint64_t id;
	uint32_t generation;
	uint32_t index; /* the function's string */
} * nodes;
static uint64_t nodes_used;

static void *map(size_t bytes)
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

/* One multiplication a function: a walk has as many to wait for as it has frames. */
static uint64_t extend(uint64_t parent, uint64_t address)
{
	return ((parent ^ address) * UINT64_C(0x9e3779b97f4a7c15)) | PATH_BIT;
}

/* Where a node is, or would be. */
static struct node *find_node(uint64_t id)
{
	uint64_t at = id >> 41 & (NODES - 1); /* the highest bits are the best mixed */

	/* Acquire: pairs with the release of `id`, the last of an entry to be stored. */
	for (;; at = (at + 1) & (NODES - 1)) {
		uint64_t found = load_acquire(&nodes[at].id);

		if (found == id || found == 0)
			return &nodes[at];
	}
}

static bool is_written(const struct node *node, uint32_t generation)
{
	return load_acquire(&node->id) != 0 && load_relaxed(&node->generation) == generation;
}

static uint64_t function_word(uint64_t address, uint32_t *module)
{
	struct fxt_engine *e = &agent_engine;
	uint64_t mask = fxt_lock(&e->lock);
	uint64_t word = fxt_function_search(e, address);

	*module = agent_module_of(address);
	if (!word)
		word = fxt_function_register(e, address, *module);
	fxt_unlock(&e->lock, mask);
	return word;
}

static bool write_node(struct fxt_block *block, uint64_t id, uint64_t parent, uint64_t address,
        uint64_t index, uint32_t module)
{
	struct fxt_engine *e = &agent_engine;
	const struct fxt_thread_slot *slot = fxt_slot(e, block->number);
	bool is_local = index == FXT_INDEX_LOCAL;
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
		if (fxt_chunk_try_write(e, block, record, parent ? NODE_WORDS : 2, 0))
			return true;
		if (!is_local && !fxt_chunk_take(e, block, NODE_WORDS))
			return false;
	}
}

/* Notes that a node was written. */
static void insert(uint64_t id, uint32_t generation, uint64_t index)
{
	uint64_t mask = fxt_lock(&agent_engine.lock);
	struct node *node = find_node(id);

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

/* How the key that tells nodes apart, a function or a return address, leads to the function. */
typedef uint64_t function_of(uint64_t key);

static struct agent_path of_node(const struct node *node, uint64_t key, function_of *function)
{
	uint64_t index = node->index;

	return (struct agent_path){node->id, index == FXT_INDEX_LOCAL ? function(key) : 0, index};
}

/*
 * The node that extends `parent`, written if it was not in this generation. Where that is impossible the path
 * ends at the parent.
 */
static struct agent_path intern(struct fxt_block *block, struct agent_path parent, uint64_t key,
        function_of *function, uint32_t generation)
{
	uint64_t id = extend(parent.id, key);
	const struct node *node = find_node(id);
	uint32_t module;

	if (is_written(node, generation))
		return of_node(node, key, function);
	if (load_relaxed(&nodes_used) >= NODES_USED_MAX)
		return parent;
	struct agent_path path = {.id = id, .address = function(key)};

	path.index = function_word(path.address, &module) & FXT_INDEX_LOCAL;
	if (!write_node(block, id, parent.id, path.address, path.index, module))
		return parent;
	insert(id, generation, path.index);
	return path;
}

/* ---- paths of open calls ---- */

static uint64_t itself(uint64_t address)
{
	return address;
}

static struct agent_path innermost(uint64_t id, const struct fxt_frame *frame)
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
			path = innermost(id, frame);
			break;
		}
	}
	for (frame++; frame <= top; frame++) {
		unsigned at = (uintptr_t)frame / sizeof(*frame) % AGENT_PATHS_KEPT;

		path = intern(
		        block, path, frame->function >> FXT_FRAME_INDEX_BITS, itself, (uint32_t)generation);
		thread->kept[at].path = path.id;
		thread->kept[at].start = frame->start;
	}
	return top->function ? innermost(path.id, top) : path;
}

/* ---- paths of walks ---- */

extern int _dl_find_object(void *address, struct dl_find_object *result) __attribute__((weak));

/* The header of .eh_frame_hdr, when it has the binary search table that linkers write. */
struct frame_table {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frames;
	uint32_t count;
	struct {
		int32_t start, description; /* from the header */
	} entry[];
};

/*
 * Where the function begins that holds a return address, as unwind tables know it: so its calls share one
 * name. Without a table, the call instruction's last byte: that lies in the function too.
 */
static uint64_t function_at(uint64_t return_address)
{
	uint64_t address = return_address - 1;
	struct dl_find_object found;

	if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)address, &found) != 0)
		return address;
	const struct frame_table *table = found.dlfo_eh_frame;

	/* version 1; counts are udata4, entries sdata4 relative to the header */
	if (!table || table->version != 1 || table->count_encoding != 0x03 || table->table_encoding != 0x3b ||
	        (table->frame_encoding & 0x0f) != 0x0b || table->count == 0)
		return address;
	int64_t wanted = (int64_t)(address - (uint64_t)(uintptr_t)table);
	uint32_t low = 0, high = table->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->entry[middle].start <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (uint64_t)(uintptr_t)table + (uint64_t)(int64_t)table->entry[low - 1].start : address;
}

struct agent_path agent_path_of_walk(struct fxt_block *block, void *const *addresses, unsigned count)
{
	struct agent_path path = {0};
	uint64_t id = 0;

	for (unsigned i = count; i-- > 0;)
		id = extend(id, (uint64_t)(uintptr_t)addresses[i]);
	uint32_t generation = (uint32_t)agent_paths_generation();
	const struct node *node = find_node(id);

	if (count == 0)
		return path;
	if (is_written(node, generation)) /* then all it extends are */
		return of_node(node, (uint64_t)(uintptr_t)addresses[0], function_at);
	for (unsigned i = count; i-- > 0;)
		path = intern(block, path, (uint64_t)(uintptr_t)addresses[i], function_at, generation);
	return path;
}

/* ---- walking ---- */

int (*agent_unwind)(void **addresses, int count);

void agent_paths_thread_begins(void)
{
	uint64_t mask = sys_block_signals();
	void *addresses[2];

	/* What libunwind allocates at a thread's first walk is not the program's. */
	agent_heap_guard = AGENT_HEAP_OURS;
	if (agent_unwind)
		agent_unwind(addresses, 2);
	agent_heap_guard = AGENT_HEAP_OPEN;
	sys_restore_signals(mask);
}

static void open_unwinder(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	void *function = library ? dlsym(library, "unw_backtrace") : NULL;

	memcpy(&agent_unwind, &function, sizeof(agent_unwind));
	if (!agent_unwind)
		agent_notice("libunwind.so.8 is not installed: allocations made by code without "
		             "-finstrument-functions have no call path",
		        NULL);
	else
		agent_paths_thread_begins();
}

/* Libc's, from 2.32 on: false once the process had a second thread, in its forked children too. */
extern char __libc_single_threaded __attribute__((weak));

void agent_paths_forget(void)
{
	nodes_used = 0;
	/* A thread that is not here any more may have held the locks of libunwind, and of the loader, which a
	 * walk takes. */
	if (!&__libc_single_threaded || !__libc_single_threaded)
		agent_unwind = NULL;
}

bool agent_paths_prepare(bool unwinding)
{
	nodes = map(NODES * sizeof(*nodes));
	agent_heap_threads = map(FXT_SLOTS * sizeof(*agent_heap_threads));
	if (!nodes || !agent_heap_threads)
		return false;
	if (unwinding)
		open_unwinder();
	return true;
}
