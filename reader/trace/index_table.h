/*
 * The meaning of one provider's indices: an id for each, FXT_NOTHING if none was
 * registered. A real provider registers 1, 2, 3, …, so an array is enough. A hostile trace
 * may register the highest index alone, again and again. The array is therefore never
 * longer than the number of registrations justifies, and indices beyond it are found by
 * search. The table takes at most 128 bytes for each registration. Clearing it costs no
 * more than the registrations since it was last cleared.
 */
#ifndef FXT_READER_INDEX_TABLE_H
#define FXT_READER_INDEX_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct fxt_index_entry {
	uint32_t index, id;
};

/* All zeros: nothing is registered. */
struct fxt_index_table {
	uint32_t *near;              /* ids by index, near_count of them */
	struct fxt_index_entry *far; /* the others, by index */
	uint32_t near_count, far_count, far_room;
	uint32_t registered; /* number of indices that got an entry */
};

uint32_t fxt_index_table_find_far(const struct fxt_index_table *m, uint32_t index);

static inline uint32_t fxt_index_entry(const struct fxt_index_table *m, uint64_t index)
{
	return __builtin_expect(index < m->near_count, 1) ? m->near[index]
	                                                  : fxt_index_table_find_far(m, (uint32_t)index);
}

void fxt_index_table_set(struct fxt_index_table *m, uint32_t index, uint32_t id);

/* Finds the next registered index, in ascending order; `at` is 0 before the first one.
 * Returns false after the last. */
bool fxt_index_table_next(const struct fxt_index_table *m, uint32_t *at, struct fxt_index_entry *entry);

/* A copy, with memory of its own. */
struct fxt_index_table fxt_index_table_copy(const struct fxt_index_table *m);

/* Forgets all entries, and frees the memory. */
void fxt_index_table_free(struct fxt_index_table *m);

#endif
