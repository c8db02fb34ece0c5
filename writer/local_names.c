#include "local_names.h"
#include <sys/mman.h>
#include "chunk.h"
#include "closing.h"
#include "encode.h"
#include "rolling.h"
#include "strings.h"

#define LOCAL_SLOTS (2 * FXT_STRING_LOCAL_COUNT)
#define LOCAL_BYTES (LOCAL_SLOTS * sizeof(struct fxt_local_name))

/* A slot of the thread's table; valid when its chunk is the open one. */
struct fxt_local_name {
	uint64_t address;
	uint64_t chunk; /* the serial number of the chunk that registered it */
	uint32_t module;
	uint16_t index;
};

static struct fxt_local_name *local_names_find(struct fxt_block *block, uint64_t address, uint32_t module)
{
	struct fxt_local_name *table = block->local_names;
	uint64_t at = fxt_function_hash(address) % LOCAL_SLOTS;

	/* At most half of the slots belong to this chunk, so the search ends. */
	while (table[at].chunk == block->chunk_serial &&
	        (table[at].address != address || table[at].module != module))
		at = (at + 1) % LOCAL_SLOTS;
	return &table[at];
}

static bool local_names_have_room(
        const struct fxt_block *block, const struct fxt_thread_slot *slot, uint64_t words)
{
	return load_relaxed(&slot->committed) + words * 8 <= load_relaxed(&block->limit);
}

/* Closes the thread's chunk, which has no index left. A larger chunk would run out of
 * indices too, so the next one gets as many bytes as this one has used. */
static void local_names_close_own(struct fxt_engine *e, struct fxt_block *block)
{
	uint64_t mask = fxt_engine_lock(e);

	if (block->state == FXT_BLOCK_OPEN)
		block->chunk_bytes = fxt_chunk_round_up(fxt_slot(e, block->number)->committed - block->chunk);
	fxt_engine_change_begin(e);
	fxt_close_thread(e, block);
	fxt_engine_change_end(e);
	fxt_engine_unlock(e, mask);
}

uint16_t fxt_local_index(
        struct fxt_engine *e, struct fxt_block *block, uint64_t address, uint32_t module, uint64_t words)
{
	const struct fxt_thread_slot *slot = fxt_slot(e, block->number);
	uint64_t record[FXT_PLACEHOLDER_BYTES / 8 + 1];
	char text[FXT_PLACEHOLDER_BYTES];
	size_t bytes = fxt_placeholder(text, address, module);

	if (!block->local_names)
		block->local_names = sys_map(
		        LOCAL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!block->local_names)
		return 0;
	for (;;) {
		struct fxt_local_name *name = local_names_find(block, address, module);
		uint16_t index = (uint16_t)(FXT_STRING_LOCAL_FIRST + block->local_strings);
		size_t size = 0;

		if (name->chunk == block->chunk_serial && name->address == address) {
			if (local_names_have_room(block, slot, words))
				return name->index;
		} else if (block->local_strings == FXT_STRING_LOCAL_COUNT) {
			local_names_close_own(e, block);
		} else {
			size = fxt_put_string(record, sizeof(record) / 8, index, text, bytes);
			/* Noted only once it is written: a noted name is never written
			 * again. */
			if (local_names_have_room(block, slot, size + words) &&
			        fxt_chunk_try_write(e, block, record, size, false)) {
				*name = (struct fxt_local_name){address, block->chunk_serial, module, index};
				block->local_strings++;
				return index;
			}
		}
		/* A new chunk knows no names. */
		if (!fxt_chunk_reserve(e, block, words + fxt_words(bytes) + 1))
			return 0;
	}
}

void fxt_local_names_free(struct fxt_block *block)
{
	if (block->local_names)
		sys_unmap(block->local_names, LOCAL_BYTES);
	block->local_names = NULL;
}
