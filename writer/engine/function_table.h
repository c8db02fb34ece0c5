/*
 * The function table: for each function that was called, the index of its name. One table
 * serves the process. It is searched without a lock at each call, and changed with the
 * engine's lock held.
 */
#ifndef FXT_WRITER_FUNCTION_TABLE_H
#define FXT_WRITER_FUNCTION_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include "writer/shared/arch.h"
#include "writer/shared/atomics.h"
#include "writer/shared/slot.h"

struct fxt_engine;

/*
 * Open addressing: a function's reference, address << 16 | string index, lies in the entry
 * that its address hashes to or in one behind it. 0 = the entry was never used. Both fields
 * are written with the engine's lock held and read by every hook. A larger table is stored
 * before its mask (release), and the mask is loaded first (acquire).
 */
struct fxt_function_table {
	uint64_t *entries;
	uint64_t mask; /* number of entries - 1, a power of two - 1 */
};
#define FXT_FUNCTION_TABLE_GROWTHS 7 /* how often the table may double */

/* Replaces the index in a reference if the name has no durable one: such a name is
 * registered in each chunk that uses it (local_names.h). Indices have bit 15 clear. */
#define FXT_INDEX_LOCAL UINT64_C(0xffff)

/*
 * Set in the reference of an excluded function: its calls are not recorded. No address of a
 * function has the bit, so the hooks' fast path finds that the reference matches no
 * function. The hooks recognize the mark on their way to the slow path, and the recorded
 * functions pay nothing.
 */
#define FXT_FUNCTION_EXCLUDED ((UINT64_C(1) << ARCH_FREE_ADDRESS_BIT) << FXT_FRAME_INDEX_BITS)

/* The number of entries that the fast look-up probes. */
#define FXT_FUNCTION_PROBES 8

/* The table reference of a function, with index 0. */
static inline uint64_t fxt_function_key(uint64_t address)
{
	return address << FXT_FRAME_INDEX_BITS;
}

/* Takes the product's upper bits: below bit 40 functions 16 to 96 bytes apart collide [2 of
 * 3 of 200,000 looked up slowly]. */
static inline uint64_t fxt_function_hash(uint64_t address)
{
	return address * UINT64_C(0x9e3779b97f4a7c15) >> 40;
}

/* Whether a table reference is that of the function at `address`. */
static inline bool fxt_function_is(uint64_t ref, uint64_t address)
{
	return (ref ^ fxt_function_key(address)) < (UINT64_C(1) << FXT_FRAME_INDEX_BITS);
}

/*
 * The fastest look-up: returns the reference in the address's home entry, which may be
 * another function's, or 0.
 */
static inline uint64_t fxt_function_first(const struct fxt_function_table *table, uint64_t address)
{
	/* Acquire: a reader that sees the mask of a larger table sees that table. Pairs
	 * with the release in functions_make_room(). */
	uint64_t mask = load_acquire(&table->mask);

	return load_relaxed(&load_relaxed(&table->entries)[fxt_function_hash(address) & mask]);
}

/* Looks for the function's reference with `mark` in it, which is 0 or
 * FXT_FUNCTION_EXCLUDED. Begins `first` entries behind the address's home entry. */
static inline uint64_t fxt_function_probe(
        const struct fxt_function_table *table, uint64_t address, unsigned first, uint64_t mark)
{
	uint64_t mask = load_acquire(&table->mask); /* as above */
	const uint64_t *entries = load_relaxed(&table->entries);
	uint64_t home = fxt_function_hash(address);

	for (unsigned i = first; i < FXT_FUNCTION_PROBES; i++) {
		uint64_t ref = load_relaxed(&entries[(home + i) & mask]);

		if (fxt_function_is(ref ^ mark, address))
			return ref;
		if (ref == 0)
			return 0;
	}
	return 0;
}

/* The fast look-up. Returns the table reference (address << 16 | index) or 0: it is not
 * there, or further away, or the function is excluded. */
static inline uint64_t fxt_function_find(const struct fxt_function_table *table, uint64_t address)
{
	return fxt_function_probe(table, address, 0, 0);
}

/* Whether the function is known to be excluded. Also false if its reference lies too far
 * from its first entry: then the slow path takes its calls, and the manager excludes
 * them. */
static inline bool fxt_function_is_excluded(const struct fxt_function_table *table, uint64_t address)
{
	return fxt_function_probe(table, address, 0, FXT_FUNCTION_EXCLUDED) != 0;
}

/* Maps an empty function table; false: no memory. */
bool fxt_function_table_create(struct fxt_engine *e);

/* Forgets all functions. With the lock held. */
void fxt_function_table_clear(struct fxt_engine *e);

/* Unmaps the table, and those it replaced. No thread may be inside a hook. */
void fxt_function_table_free(struct fxt_engine *e);

/*
 * The slow look-up: registers the function at first sight, with a placeholder that names
 * `module` (see modules of the agent). Returns the table reference; its index is
 * FXT_INDEX_LOCAL if no durable index was available. With the lock held.
 */
uint64_t fxt_function_register(struct fxt_engine *e, uint64_t address, uint32_t module);

/* Forgets the functions at addresses from `start` up to `end`, which belong to another
 * module from now on, or to none. With the lock held. */
void fxt_functions_retire(struct fxt_engine *e, uint64_t start, uint64_t end);

/* Returns the reference of an address already in the table, excluded or not, wherever
 * collisions put it; 0 = not there. With the lock held. */
uint64_t fxt_function_search(const struct fxt_engine *e, uint64_t address);

#endif
