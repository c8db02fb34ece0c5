/*
 * Names: the durable buffer, the string and thread tables of the provider, and what happens when they are
 * full.
 *
 * Strings and threads are registered once, in the durable buffer, and referred to by index from then on. When
 * the durable buffer or the indices are used up tracing goes on: a name is then registered in the chunk that
 * uses it, ahead of its use, under an index that holds for that chunk only (FXT_STRING_LOCAL_FIRST on; thread
 * index 255).
 */
#ifndef FXT_WRITER_STRINGS_H
#define FXT_WRITER_STRINGS_H

#include "engine.h"

/* In the function table, instead of an index: the name is registered chunk by chunk. A real index has bit 15
 * clear. */
#define FXT_INDEX_LOCAL UINT64_C(0xffff)

/* Room for the longest text the engine registers: "{{{pc:0x0123456789abcdef:4294967295}}}". */
#define FXT_PLACEHOLDER_BYTES 48

/*
 * The text a function's string record holds until it is symbolized: "{{{pc:0x55d0c0de1139:3}}}", address and
 * module id; module 0 = not known. Returns its length.
 */
size_t fxt_placeholder(char text[FXT_PLACEHOLDER_BYTES], uint64_t address, uint32_t module);

/* How many entries the fast look-up probes. */
#define FXT_FUNCTION_PROBES 8

/* A function's entry in a table word. */
static inline uint64_t fxt_function_key(uint64_t address)
{
	return address << FXT_FRAME_INDEX_BITS;
}

/* The product's upper bits: below bit 40 functions 16 to 96 bytes apart collide [2 of 3 of 200,000 looked up
 * slowly]. */
static inline uint64_t fxt_function_hash(uint64_t address)
{
	return address * UINT64_C(0x9e3779b97f4a7c15) >> 40;
}

/* Whether a table word is that of the function at `address`. */
static inline bool fxt_function_is(uint64_t word, uint64_t address)
{
	return (word ^ fxt_function_key(address)) < (UINT64_C(1) << FXT_FRAME_INDEX_BITS);
}

/*
 * The fastest look-up: the word in the entry to which the address hashes, which may be another function's, or
 * 0.
 */
static inline uint64_t fxt_function_first(const struct fxt_function_table *table, uint64_t address)
{
	/* Acquire: who sees the mask of a larger table sees that table. Pairs with the release in strings.c.
	 */
	uint64_t mask = load_acquire(&table->mask);

	return load_relaxed(&load_relaxed(&table->entries)[fxt_function_hash(address) & mask]);
}

/*
 * The fast look-up: probes that entry and some behind it. Returns the table word (address << 16 | index) or
 * 0: not there, or further away.
 */
static inline uint64_t fxt_function_find(const struct fxt_function_table *table, uint64_t address)
{
	uint64_t mask = load_acquire(&table->mask); /* as above */
	const uint64_t *entries = load_relaxed(&table->entries);
	uint64_t home = fxt_function_hash(address);

	for (unsigned i = 0; i < FXT_FUNCTION_PROBES; i++) {
		uint64_t word = load_relaxed(&entries[(home + i) & mask]);

		if (fxt_function_is(word, address))
			return word;
		if (word == 0)
			return 0;
	}
	return 0;
}

/* Maps an empty function table; false: no memory. */
bool fxt_function_table_create(struct fxt_engine *e);

/* Forgets all functions. With the lock held. */
void fxt_function_table_clear(struct fxt_engine *e);

/* Unmaps it, and those it outgrew. Nobody may be inside a hook. */
void fxt_function_table_free(struct fxt_engine *e);

/*
 * The slow look-up: registers the function at first sight, with a placeholder that names `module`
 * (see modules of the agent). Returns the table word; its index is FXT_INDEX_LOCAL when no durable index was
 * to be had. With the lock held.
 */
uint64_t fxt_function_register(struct fxt_engine *e, uint64_t address, uint32_t module);

/* Forgets the functions at addresses from `start` up to `end`, which are another module's from now on, or
 * nobody's. With the lock held. */
void fxt_functions_retire(struct fxt_engine *e, uint64_t start, uint64_t end);

/* The word of an address already in the table, wherever collisions put it; 0 = not there. With the lock held.
 */
uint64_t fxt_function_search(const struct fxt_engine *e, uint64_t address);

/*
 * An index for a function's name that holds for the thread's open chunk: registers it there if this chunk has
 * not seen it. Takes a new chunk where needed, so that `words` words more fit behind it. 0: no room, the
 * record is lost. The index is void once the chunk is closed: that lowers `limit`, and the caller asks again.
 * SLOW_PATH, without the lock.
 */
uint16_t fxt_local_index(
        struct fxt_engine *e, struct fxt_block *block, uint64_t address, uint32_t module, uint64_t words);

/* Unmaps the block's table of local names. */
void fxt_local_names_free(struct fxt_block *block);

/* Copies a record into the durable buffer. With the lock held. `last_eighth`: may use the part kept for
 * modules. False: it is full. */
bool fxt_durable_write(struct fxt_engine *e, const uint64_t *record, uint64_t words, bool last_eighth);

/* Registers a string of at most FXT_PLACEHOLDER_BYTES durably; 0 = no room or no index left. With the lock
 * held. */
uint16_t fxt_string_register(struct fxt_engine *e, const char *text, uint64_t bytes);

#endif
