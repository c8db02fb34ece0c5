/*
 * A hash index and growing arrays, for tables with dense ids 0, 1, 2, … The caller keeps
 * the entries and compares them; the index only finds the ids filed under a hash.
 *
 *   for (struct fxt_probe probe = fxt_probe(&index, hash); fxt_probe_next(&index, &probe);)
 *           if (entries[probe.id] is the one) return probe.id;
 *   fxt_index_add(&index, hash, id);
 *
 * Out of memory ends the program with status 2 and one line, or as fxt_end_without_memory
 * does.
 */
#ifndef FXT_READER_INDEX_H
#define FXT_READER_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the program because memory is short. */
void fxt_out_of_memory(void) __attribute__((noreturn));

/* Replaces the end described above; it does not return, and any thread may call it. Set
 * once, before there are threads. */
extern void (*fxt_end_without_memory)(void);

/* realloc() to count * bytes; returns only if it worked. */
void *fxt_resize(void *memory, size_t count, size_t bytes);

/* calloc() of one object; returns only if it worked. */
void *fxt_allocate(size_t bytes);

/* Makes sure that items[count] exists. */
#define fxt_make_room(items, count, room)                            \
	((count) < (room) ? (void)0                                  \
	                  : (void)((room) = (room) ? 2 * (room) : 4, \
	                            (items) = fxt_resize((items), (room), sizeof(*(items)))))

/* Makes sure that items[id] exists. New items are zero; `count` includes them. */
#define fxt_make_zeroed(items, count, id)                     \
	((id) < (count) ? (void)0                             \
	                : (void)((items) = fxt_resize_zeroed( \
	                                 (items), &(count), 2 * (size_t)(id) + 1, sizeof(*(items)))))
void *fxt_resize_zeroed(void *memory, size_t *count, size_t larger, size_t bytes);

struct fxt_index_slot {
	uint32_t hash;
	uint32_t id_plus_1; /* 0: empty */
};

struct fxt_index {
	struct fxt_index_slot *slots;
	size_t capacity; /* a power of two, at least twice the count; or 0 */
	size_t count;
};

struct fxt_probe {
	uint32_t hash;
	size_t at;
	uint32_t id;
};

/* Random in every process. With fixed keys a trace could be made with names that all
 * collide, and reading it would take the square of its size. The second key is odd. */
extern uint64_t fxt_hash_keys[2];

/* Folds both halves of a product with a key, so which words collide depends on the keys. */
static inline uint64_t fxt_hash_mix(uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(word ^ fxt_hash_keys[0]) * fxt_hash_keys[1];

	return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static inline uint32_t fxt_hash_word(uint64_t word)
{
	word = fxt_hash_mix(word);
	return (uint32_t)(word >> 32) ^ (uint32_t)word;
}

/* A hash of bytes: equal bytes have equal hashes. */
uint32_t fxt_hash_bytes(const void *data, size_t bytes);

static inline struct fxt_probe fxt_probe(const struct fxt_index *index, uint32_t hash)
{
	return (struct fxt_probe){.hash = hash, .at = hash & (index->capacity - 1)};
}

static inline bool fxt_probe_next(const struct fxt_index *index, struct fxt_probe *probe)
{
	if (index->capacity == 0)
		return false;
	for (;;) {
		struct fxt_index_slot slot = index->slots[probe->at];

		if (slot.id_plus_1 == 0)
			return false;
		probe->at = (probe->at + 1) & (index->capacity - 1);
		if (slot.hash == probe->hash) {
			probe->id = slot.id_plus_1 - 1;
			return true;
		}
	}
}

void fxt_index_add(struct fxt_index *index, uint32_t hash, uint32_t id);
void fxt_index_free(struct fxt_index *index);

#endif
