/*
 * Arrays that continue in a file without a name when they grow long. One thread writes an
 * array; several may read it afterwards, except through fxt_spill_item(). A file that
 * cannot be written ends the program: no item may be lost silently.
 */
#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "index.h"

static const char *spill_directory(void)
{
	const char *named = getenv("TMPDIR");

	return named && *named ? named : "/tmp";
}

static void spill_fail(const char *what, int error)
{
	fprintf(stderr, "fxt: a temporary file in %s cannot be %s: %s\n", spill_directory(), what,
	        strerror(error));
	exit(2);
}

int fxt_spill_file(void)
{
	char name[4096];
	int fd = open(spill_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* The file system has no files without a name. */
	if ((size_t)snprintf(name, sizeof(name), "%s/fxt-XXXXXX", spill_directory()) >= sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

void fxt_spill_init(struct fxt_spill *s, size_t item_bytes, size_t memory_bytes)
{
	*s = (struct fxt_spill){.item_bytes = item_bytes, .most = memory_bytes / item_bytes, .fd = -1};
	if (s->most == 0)
		s->most = 1;
}

void fxt_spill_free(struct fxt_spill *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->memory);
	free(s->pages);
	*s = (struct fxt_spill){.fd = -1};
}

void fxt_spill_clear(struct fxt_spill *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->pages);
	s->pages = NULL;
	s->fd = -1;
	s->count = s->filed = 0;
}

static void spill_write(const struct fxt_spill *s, uint64_t first, size_t count, const void *items)
{
	uint64_t at = first * s->item_bytes;
	const char *bytes = items;

	for (size_t left = count * s->item_bytes; left > 0;) {
		ssize_t put = pwrite(s->fd, bytes, left, (off_t)at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			spill_fail("written", put < 0 ? errno : ENOSPC);
		bytes += put;
		at += (uint64_t)put;
		left -= (size_t)put;
	}
}

static void spill_file_items(struct fxt_spill *s)
{
	if (s->fd < 0 && (s->fd = fxt_spill_file()) < 0)
		spill_fail("made", errno);
	spill_write(s, s->filed, (size_t)(s->count - s->filed), s->memory);
	s->filed = s->count;
}

void fxt_spill_cut(struct fxt_spill *s, uint64_t count)
{
	if (s->filed > 0 && count <= s->filed) {
		uint64_t back = count < s->most / 2 ? count : s->most / 2;

		fxt_spill_read(s, count - back, (size_t)back, s->memory);
		s->filed = count - back;
	}
	if (s->filed == 0 && s->fd >= 0) {
		close(s->fd);
		s->fd = -1;
	}
	s->count = count;
}

void fxt_spill_add(struct fxt_spill *s, const void *item)
{
	if (s->count - s->filed == s->most)
		spill_file_items(s);
	size_t kept = (size_t)(s->count - s->filed);

	if (kept == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		if (s->room > s->most)
			s->room = s->most;
		s->memory = fxt_resize(s->memory, s->room, s->item_bytes);
	}
	memcpy(s->memory + kept * s->item_bytes, item, s->item_bytes);
	s->count++;
}

void fxt_spill_put(struct fxt_spill *s, uint64_t index, const void *item)
{
	if (index < s->filed)
		spill_write(s, index, 1, item);
	else
		memcpy(s->memory + (index - s->filed) * s->item_bytes, item, s->item_bytes);
}

void fxt_spill_read(const struct fxt_spill *s, uint64_t first, size_t count, void *items)
{
	uint64_t filed = first < s->filed ? s->filed - first : 0;
	char *to = items;

	if (filed > count)
		filed = count;
	uint64_t at = first * s->item_bytes;

	for (size_t left = (size_t)filed * s->item_bytes; left > 0;) {
		ssize_t got = pread(s->fd, to, left, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			spill_fail("read", got < 0 ? errno : EIO);
		to += got;
		at += (uint64_t)got;
		left -= (size_t)got;
	}
	if (count > filed)
		memcpy(to, s->memory + (first + filed - s->filed) * s->item_bytes,
		        (count - filed) * s->item_bytes);
}

const void *fxt_spill_move(const struct fxt_spill *s, struct fxt_spill_window *window, uint64_t index)
{
	size_t most = sizeof(window->items) / s->item_bytes;

	if (index >= s->filed)
		return s->memory + (index - s->filed) * s->item_bytes;
	/* The window starts at a multiple of its size, so it serves readers in both
	 * directions. */
	window->first = index - index % most;
	window->count = s->filed - window->first < most ? (size_t)(s->filed - window->first) : most;
	fxt_spill_read(s, window->first, window->count, window->items);
	return (const char *)window->items + (index - window->first) * s->item_bytes;
}

/* ---- single items: pages of the file, in sets; each page belongs to one set ---- */

enum { PAGE_BYTES = 4096, SETS = 16, PAGES_OF_SET = 4 };

struct spill_page {
	uint64_t number; /* 1 + the page's number; 0: none */
	size_t count;    /* of items */
	bool is_changed;
	uint64_t items[PAGE_BYTES / sizeof(uint64_t)];
};

struct fxt_spill_pages {
	struct spill_page pages[SETS][PAGES_OF_SET];
	unsigned next[SETS]; /* slot to reuse next */
};

void fxt_spill_begin_items(struct fxt_spill *s)
{
	if (!fxt_spill_is_in_memory(s) && !s->pages)
		s->pages = fxt_allocate(sizeof(*s->pages));
}

static void spill_write_back(const struct fxt_spill *s, struct spill_page *page)
{
	if (page->is_changed)
		spill_write(s, (page->number - 1) * (PAGE_BYTES / s->item_bytes), page->count, page->items);
	page->is_changed = false;
}

static struct spill_page *spill_page(const struct fxt_spill *s, uint64_t number)
{
	size_t set = fxt_hash_word(number) % SETS;
	struct spill_page *pages = s->pages->pages[set], *page;
	uint64_t most = PAGE_BYTES / s->item_bytes, first = number * most;

	for (size_t i = 0; i < PAGES_OF_SET; i++)
		if (pages[i].number == number + 1)
			return &pages[i];
	page = &pages[s->pages->next[set]++ % PAGES_OF_SET];
	spill_write_back(s, page);
	page->number = number + 1;
	page->count = (size_t)(s->filed - first < most ? s->filed - first : most);
	fxt_spill_read(s, first, page->count, page->items);
	return page;
}

static char *spill_item(const struct fxt_spill *s, uint64_t index, bool is_changed)
{
	if (index >= s->filed)
		return s->memory + (index - s->filed) * s->item_bytes;
	size_t most = PAGE_BYTES / s->item_bytes;
	struct spill_page *page = spill_page(s, index / most);

	page->is_changed |= is_changed;
	return (char *)page->items + index % most * s->item_bytes;
}

const void *fxt_spill_item(const struct fxt_spill *s, uint64_t index)
{
	return spill_item(s, index, false);
}

void *fxt_spill_change_item(struct fxt_spill *s, uint64_t index)
{
	return spill_item(s, index, true);
}

/* ---- sorting: runs that fit in memory, then all of them merged ---- */

enum { MERGE_ITEMS = 256 }; /* of a run in memory while runs are merged, at most */

struct run {
	uint64_t next, end; /* its items that are still to be read */
	char *items;
	size_t at, count;
};

struct merge {
	const struct fxt_spill *sorted; /* by runs */
	int (*compare)(const void *, const void *);
	struct run *runs; /* a binary heap, with the run of the least item on top */
	size_t count;
	size_t items; /* of a run in memory */
};

static const char *spill_least(const struct merge *m, size_t run)
{
	return m->runs[run].items + m->runs[run].at * m->sorted->item_bytes;
}

static bool spill_refill(const struct merge *m, struct run *run)
{
	run->at = 0;
	run->count = run->end - run->next < m->items ? (size_t)(run->end - run->next) : m->items;
	if (run->count > 0)
		fxt_spill_read(m->sorted, run->next, run->count, run->items);
	run->next += run->count;
	return run->count > 0;
}

static void spill_sink(struct merge *m, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < m->count; at = child) {
		struct run run = m->runs[at];

		if (child + 1 < m->count && m->compare(spill_least(m, child + 1), spill_least(m, child)) < 0)
			child++;
		if (m->compare(spill_least(m, at), spill_least(m, child)) <= 0)
			return;
		m->runs[at] = m->runs[child];
		m->runs[child] = run;
	}
}

static void spill_merge_runs(struct merge *m, struct fxt_spill *merged)
{
	for (size_t i = m->count; i-- > 0;)
		spill_sink(m, i);
	while (m->count > 0) {
		struct run *run = &m->runs[0];

		fxt_spill_add(merged, spill_least(m, 0));
		if (++run->at == run->count && !spill_refill(m, run)) {
			free(run->items);
			*run = m->runs[--m->count];
		}
		spill_sink(m, 0);
	}
}

void fxt_spill_sort(struct fxt_spill *s, int (*compare)(const void *, const void *))
{
	struct fxt_spill sorted, merged;
	struct merge m = {.sorted = &sorted, .compare = compare};
	size_t room = 0;

	if (fxt_spill_is_in_memory(s)) {
		if (s->count > 1)
			qsort(s->memory, (size_t)s->count, s->item_bytes, compare);
		return;
	}
	/* The memory that the array uses is needed for sorting. */
	spill_file_items(s);
	free(s->memory);
	s->memory = NULL;
	s->room = 0;
	fxt_spill_init(&sorted, s->item_bytes, s->most * s->item_bytes);
	fxt_spill_init(&merged, s->item_bytes, s->most * s->item_bytes);
	char *items = fxt_resize(NULL, s->most, s->item_bytes);

	for (uint64_t at = 0; at < s->count;) {
		size_t count = s->count - at < s->most ? (size_t)(s->count - at) : s->most;

		fxt_spill_read(s, at, count, items);
		qsort(items, count, s->item_bytes, compare);
		for (size_t i = 0; i < count; i++)
			fxt_spill_add(&sorted, items + i * s->item_bytes);
		fxt_make_room(m.runs, m.count, room);
		m.runs[m.count] = (struct run){.next = at, .end = at + count};
		m.count++;
		at += count;
	}
	free(items);
	m.items = s->most / m.count < MERGE_ITEMS ? s->most / m.count + 1 : MERGE_ITEMS;
	fxt_spill_free(s);
	for (size_t i = 0; i < m.count; i++) {
		m.runs[i].items = fxt_resize(NULL, m.items, sorted.item_bytes);
		spill_refill(&m, &m.runs[i]);
	}
	spill_merge_runs(&m, &merged);
	free(m.runs);
	fxt_spill_free(&sorted);
	*s = merged;
}
