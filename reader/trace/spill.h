/*
 * A long array of items of one size, which is written once from its beginning and then read
 * anywhere. A short array is in memory; a longer one continues in a file without a name in
 * TMPDIR. A reader that remembers something of every block, or of every odd record,
 * therefore needs no more memory for a longer trace.
 *
 * If the file cannot be made or written, the program ends with status 2 and one line, as it
 * does when it is out of memory (index.h).
 */
#ifndef FXT_READER_SPILL_H
#define FXT_READER_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The default for the memory that an array may use. */
#define FXT_SPILL_MEMORY_BYTES ((size_t)2 << 20)

struct fxt_spill {
	size_t item_bytes;
	uint64_t count; /* of items, all together */
	uint64_t filed; /* the first of these, which are in the file */
	char *memory;   /* all others */
	size_t room;    /* of these, in items */
	size_t most;    /* items in memory */
	int fd;         /* -1: everything is in memory */
	struct fxt_spill_pages *pages;
};

/* An array without items. At most `memory_bytes` of it are kept in memory, at least one
 * item. */
void fxt_spill_init(struct fxt_spill *s, size_t item_bytes, size_t memory_bytes);
void fxt_spill_free(struct fxt_spill *s);

/* Forgets all items; others may be added. */
void fxt_spill_clear(struct fxt_spill *s);

void fxt_spill_add(struct fxt_spill *s, const void *item);

/* Replaces an item that was added. Not together with fxt_spill_begin_items(). */
void fxt_spill_put(struct fxt_spill *s, uint64_t index, const void *item);

/* Forgets all items except the first `count`. The last of these come back into memory, so
 * the array may be a stack. */
void fxt_spill_cut(struct fxt_spill *s, uint64_t count);

/* The memory for one of a thread's own, by its id. A file each is not to be had for any
 * number of threads: beyond these everything is in memory. */
static inline size_t fxt_spill_bytes_of_thread(uint32_t thread)
{
	return thread < 256 ? (size_t)256 << 10 : SIZE_MAX;
}

/* Copies items that were added. Threads may read at the same time. */
void fxt_spill_read(const struct fxt_spill *s, uint64_t first, size_t count, void *items);

/* A reader's copy of the items around the last one it read from the file. A call into the
 * kernel for each item would cost more than the work on it. All zeros: empty. */
struct fxt_spill_window {
	uint64_t first;
	size_t count;
	uint64_t items[4096 / sizeof(uint64_t)];
};

const void *fxt_spill_move(const struct fxt_spill *s, struct fxt_spill_window *window, uint64_t index);

/* Returns an item of at most 4096 bytes, valid until the window is used again. A window is
 * invalid once its spill has changed. */
static inline const void *fxt_spill_at(
        const struct fxt_spill *s, struct fxt_spill_window *window, uint64_t index)
{
	if (index - window->first < window->count)
		return (const char *)window->items + (index - window->first) * s->item_bytes;
	return fxt_spill_move(s, window, index);
}

/* Prepares the array for random access: until items are added, cut or sorted, one thread
 * may read and change single items of at most 4096 bytes, anywhere. Some pages of the file
 * stay in memory, so that access to and fro, as in a binary search, rarely calls into the
 * kernel. */
void fxt_spill_begin_items(struct fxt_spill *s);

/* The place of an item, until the next call. Only these two functions see a change. The
 * items that were added last are in memory, and may be changed without
 * fxt_spill_begin_items(). */
const void *fxt_spill_item(const struct fxt_spill *s, uint64_t index);
void *fxt_spill_change_item(struct fxt_spill *s, uint64_t index);

/* Puts the items in order; `compare` is that of qsort(), and never finds two items equal.
 * Needs twice the room in TMPDIR for what is in the file. */
void fxt_spill_sort(struct fxt_spill *s, int (*compare)(const void *, const void *));

/* Whether the items are in memory, all of them. */
static inline bool fxt_spill_is_in_memory(const struct fxt_spill *s)
{
	return s->fd < 0;
}

/* A file without a name in TMPDIR, else in /tmp. Returns a descriptor, or -1 with errno
 * set. */
int fxt_spill_file(void);

#endif
