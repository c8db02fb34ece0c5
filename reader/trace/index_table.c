#include "index_table.h"

#include <stdlib.h>
#include <string.h>
#include "index.h"
#include "writer/shared/search.h"

/* Entries that the array may have for each registration, and spare registrations. */
enum { NEAR_FOR_ONE = 16, NEAR_AHEAD = 1 };

/* The place of the first far entry that is not before an index. */
static uint32_t index_table_place(const struct fxt_index_table *m, uint32_t index)
{
	return partition_point(i, m->far_count, m->far[i].index < index);
}

uint32_t fxt_index_table_find_far(const struct fxt_index_table *m, uint32_t index)
{
	uint32_t at = index_table_place(m, index);

	return at < m->far_count && m->far[at].index == index ? m->far[at].id : 0;
}

/* Extends the array to an index, and moves the far entries that it now covers. */
static void index_table_reach(struct fxt_index_table *m, uint32_t index)
{
	size_t count = m->near_count;
	uint32_t moved;

	m->near = fxt_resize_zeroed(m->near, &count, (size_t)index + index / 2 + 1, sizeof(*m->near));
	m->near_count = (uint32_t)count;
	moved = index_table_place(m, m->near_count);
	for (uint32_t i = 0; i < moved; i++)
		m->near[m->far[i].index] = m->far[i].id;
	m->far_count -= moved;
	if (moved > 0)
		memmove(m->far, m->far + moved, m->far_count * sizeof(*m->far));
}

static void index_table_set_far(struct fxt_index_table *m, uint32_t index, uint32_t id)
{
	uint32_t at = index_table_place(m, index);

	if (at == m->far_count || m->far[at].index != index) {
		fxt_make_room(m->far, m->far_count, m->far_room);
		memmove(m->far + at + 1, m->far + at, (m->far_count - at) * sizeof(*m->far));
		m->far_count++;
		m->registered++;
	}
	m->far[at] = (struct fxt_index_entry){index, id};
}

void fxt_index_table_set(struct fxt_index_table *m, uint32_t index, uint32_t id)
{
	if (index >= m->near_count && index < NEAR_FOR_ONE * (m->registered + NEAR_AHEAD))
		index_table_reach(m, index);
	if (index >= m->near_count) {
		index_table_set_far(m, index, id);
		return;
	}
	m->registered += m->near[index] == 0;
	m->near[index] = id;
}

bool fxt_index_table_next(const struct fxt_index_table *m, uint32_t *at, struct fxt_index_entry *entry)
{
	while (*at < m->near_count + m->far_count) {
		uint32_t i = (*at)++;

		*entry = i < m->near_count ? (struct fxt_index_entry){i, m->near[i]}
		                           : m->far[i - m->near_count];
		if (entry->id != 0)
			return true;
	}
	return false;
}

static void *index_table_copy_of(const void *items, size_t bytes)
{
	return bytes > 0 ? memcpy(fxt_resize(NULL, bytes, 1), items, bytes) : NULL;
}

struct fxt_index_table fxt_index_table_copy(const struct fxt_index_table *m)
{
	struct fxt_index_table copy = *m;

	copy.near = index_table_copy_of(m->near, m->near_count * sizeof(*m->near));
	copy.far = index_table_copy_of(m->far, m->far_count * sizeof(*m->far));
	copy.far_room = m->far_count;
	return copy;
}

void fxt_index_table_free(struct fxt_index_table *m)
{
	free(m->near);
	free(m->far);
	*m = (struct fxt_index_table){0};
}
