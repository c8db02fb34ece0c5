/*
 * Names that hold for one chunk: those of functions that found no room in the durable
 * buffer or in the string table.
 */
#ifndef FXT_WRITER_LOCAL_NAMES_H
#define FXT_WRITER_LOCAL_NAMES_H

#include "engine.h"

/*
 * Returns an index for a function's name that holds for the thread's open chunk, and
 * registers the name there if this chunk has not seen it. Takes a new chunk if needed, so
 * that `words` words more fit behind it. 0: no room, the record is lost. The index is void
 * once the chunk is closed: closing lowers `limit`, and the caller asks again. SLOW_PATH,
 * without the lock.
 */
uint16_t fxt_local_index(struct fxt_engine *e, struct fxt_thread_writer *writer, uint64_t address,
        uint32_t module, uint64_t words);

/* Unmaps the writer's table of local names. */
void fxt_local_names_free(struct fxt_thread_writer *writer);

#endif
