/*
 * Blocks of thunks (agent/hook/thunks.h) in consecutive pages: those of one module's
 * entries (entries.h), or of some imported functions (imports.h). All functions need the
 * engine's lock.
 */
#ifndef FXT_AGENT_THUNK_BLOCKS_H
#define FXT_AGENT_THUNK_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include "agent/hook/thunks.h"

struct agent_thunk_block {
	uint32_t count; /* of thunks; 0: the block is free */
	uint32_t first_page, pages;
};

/* A thunk's function, and the function's code behind the jump. */
struct agent_thunk_target {
	uint64_t function, body;
};

/* Sets the code that thunks call. Its addresses are NULL if there are no thunks here. */
void agent_thunk_blocks_prepare(const struct agent_thunk_code *code);

/*
 * Makes a block of `count` thunks. `target` tells the target of each, by its number and
 * `of`. The memory of this process must be open (code.h). NULL: there is no room or no
 * memory, or the system does not allow code there.
 */
struct agent_thunk_block *agent_thunk_block_make(
        uint32_t count, struct agent_thunk_target (*target)(const void *of, uint32_t number), const void *of);

/* Makes one thunk of a block anew. No thread is in it. False: the system does not allow it. */
bool agent_thunk_remake(
        const struct agent_thunk_block *block, uint32_t number, struct agent_thunk_target target);

/* The address of a thunk. */
uint64_t agent_thunk_of_block(const struct agent_thunk_block *block, uint32_t number);

/* Finds the block and the number of a thunk by an address in it. NULL: there is none. */
struct agent_thunk_block *agent_thunk_find_block(uint64_t address, uint32_t *number);

/* The functions are gone. The thunks stay until others are made there: a thread may be in
 * one. */
void agent_thunk_block_free(struct agent_thunk_block *block);

#endif
