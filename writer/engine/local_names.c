#include "local_names.h"
#include <sys/mman.h>
#include "chunk.h"
#include "closing.h"
#include "writer/format/encode.h"
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

static struct fxt_local_name *local_names_find(
        struct fxt_thread_writer *writer, uint64_t address, uint32_t module)
{
	struct fxt_local_name *table = writer->local_names;
	uint64_t at = fxt_function_hash(address) % LOCAL_SLOTS;

	/* At most half of the slots belong to this chunk, so the search ends. */
	while (table[at].chunk == writer->chunk_serial &&
	        (table[at].address != address || table[at].module != module))
		at = (at + 1) % LOCAL_SLOTS;
	return &table[at];
}

static bool local_names_have_room(
        const struct fxt_thread_writer *writer, const struct fxt_thread_slot *slot, uint64_t words)
{
	return load_relaxed(&slot->committed) + words * 8 <= load_relaxed(&writer->limit);
}

/* Closes the thread's chunk, which has no index left. A larger chunk would run out of
 * indices too, so the next one gets as many bytes as this one has used. */
static void local_names_close_own(struct fxt_engine *e, struct fxt_thread_writer *writer)
{
	uint64_t mask = fxt_engine_lock(e);

	if (writer->state == FXT_WRITER_OPEN)
		writer->chunk_bytes =
		        fxt_chunk_round_up(fxt_slot(e, writer->number)->committed - writer->chunk);
	fxt_engine_change_begin(e);
	fxt_close_thread(e, writer);
	fxt_engine_change_end(e);
	fxt_engine_unlock(e, mask);
}

uint16_t fxt_local_index(struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t address,
        uint32_t module, uint64_t words)
{
	const struct fxt_thread_slot *slot = fxt_slot(e, writer->number);
	uint64_t record[FXT_PLACEHOLDER_BYTES / 8 + 1];
	char text[FXT_PLACEHOLDER_BYTES];
	size_t bytes = fxt_placeholder(text, address, module);

	if (!writer->local_names)
		writer->local_names = sys_map(
		        LOCAL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!writer->local_names)
		return 0;
	for (;;) {
		struct fxt_local_name *name = local_names_find(writer, address, module);
		uint16_t index = (uint16_t)(FXT_STRING_LOCAL_FIRST + writer->local_strings);
		size_t size = 0;

		if (name->chunk == writer->chunk_serial && name->address == address) {
			if (local_names_have_room(writer, slot, words))
				return name->index;
		} else if (writer->local_strings == FXT_STRING_LOCAL_COUNT) {
			local_names_close_own(e, writer);
		} else {
			size = fxt_put_string(record, sizeof(record) / 8, index, text, bytes);
			/* Noted only once it is written: a noted name is never written
			 * again. */
			if (local_names_have_room(writer, slot, size + words) &&
			        fxt_chunk_try_write(e, writer, record, size, false)) {
				*name = (struct fxt_local_name){address, writer->chunk_serial, module, index};
				writer->local_strings++;
				return index;
			}
		}
		/* A new chunk knows no names. */
		if (!fxt_chunk_reserve(e, writer, words + fxt_words(bytes) + 1))
			return 0;
	}
}

void fxt_local_names_free(struct fxt_thread_writer *writer)
{
	if (writer->local_names)
		sys_unmap(writer->local_names, LOCAL_BYTES);
	writer->local_names = NULL;
}
