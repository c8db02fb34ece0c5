/*
 * What the indices of one provider mean: an id for each, FXT_NOTHING where none was registered. A real
 * provider registers 1, 2, 3, …, so that an array is all that is needed. Anybody may write a trace that
 * registers the highest index alone, again and again: so the array reaches no further than what was
 * registered deserves, and what lies behind is found by search. All of it takes at most 128 bytes for each
 * registration, and clearing it costs no more than what was registered since it was last cleared.
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
	uint32_t registered; /* how many indices got a entry */
};

uint32_t fxt_index_table_find_far(const struct fxt_index_table *m, uint32_t index);

static inline uint32_t fxt_index_entry(const struct fxt_index_table *m, uint64_t index)
{
	return __builtin_expect(index < m->near_count, 1) ? m->near[index]
	                                                  : fxt_index_table_find_far(m, (uint32_t)index);
}

void fxt_index_table_set(struct fxt_index_table *m, uint32_t index, uint32_t id);

/* The next index that means something, the lowest first; `at` is 0 before the first one. False: there is no
 * more. */
bool fxt_index_table_next(const struct fxt_index_table *m, uint32_t *at, struct fxt_index_entry *entry);

/* A copy, with memory of its own. */
struct fxt_index_table fxt_index_table_copy(const struct fxt_index_table *m);

/* Forgets all of it, and frees the memory. */
void fxt_index_table_free(struct fxt_index_table *m);

#endif
