#include "keep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fxt/commands.h"
#include "reader/slices/walk.h"

/* ---- threads ---- */

static int keep_by_koids(const void *left, const void *right)
{
	const struct fxt_koids *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static int keep_by_process(const void *left, const void *right)
{
	const struct fxt_koids *a = left, *b = right;

	return (a->process > b->process) - (a->process < b->process);
}

static void keep_find_threads(struct fxt_keep *k)
{
	const struct fxt_tables *t = &k->scan->tables;

	if (!k->filter->threads)
		return;
	k->threads = fxt_resize(NULL, t->thread_count + 1, sizeof(*k->threads));
	k->koids = fxt_resize(NULL, t->thread_count + 1, sizeof(*k->koids));
	for (uint32_t i = 1; i < t->thread_count; i++) {
		if (!k->filter->threads[i])
			continue;
		k->koids[k->thread_count] = t->threads[i].thread;
		k->threads[k->thread_count++] = t->threads[i];
	}
	qsort(k->threads, k->thread_count, sizeof(*k->threads), keep_by_koids);
	k->koid_count = fxt_sort_koids(k->koids, k->thread_count);
}

bool fxt_keep_has_thread(const struct fxt_keep *k, struct fxt_koids thread)
{
	return !k->filter->threads ||
	       bsearch(&thread, k->threads, k->thread_count, sizeof(*k->threads), keep_by_koids);
}

bool fxt_keep_has_process(const struct fxt_keep *k, uint64_t process)
{
	const struct fxt_koids key = {.process = process};

	return !k->filter->threads ||
	       bsearch(&key, k->threads, k->thread_count, sizeof(*k->threads), keep_by_process);
}

bool fxt_keep_has_koid(const struct fxt_keep *k, uint64_t thread)
{
	return !k->filter->threads || fxt_find_koid(k->koids, k->koid_count, thread);
}

/* ---- bits ---- */

/* Released bits are not lost, because they are in the file. */
void fxt_keep_enter_window(struct fxt_keep *k, size_t window)
{
	k->window = window;
	if (++k->windows < FXT_KEEP_WINDOWS)
		return;
	madvise(k->bits, k->words / 8 + 1, MADV_DONTNEED);
	k->windows = 0;
}

/* ---- slices ---- */

static void keep_slice(void *state, struct fxt_walk_frame *frame)
{
	struct fxt_keep *k = state;

	if (!frame->is_hidden || frame->slice.category == k->scan->tracer_category)
		fxt_keep_add(k, frame->slice.offset);
}

/* Called only for walks without a filter. */
static void keep_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	(void)parent;
	fxt_keep_add(state, slice->offset);
}

static bool keep_walk(struct fxt_keep *k)
{
	static const struct fxt_visitor visitor = {
	        .enter = keep_slice, .leaf = keep_leaf, .sees_hidden = true, .looks_near = true};
	struct fxt_walker walker;

	fxt_walk_begin(&walker, k->scan);
	while (fxt_walk_step(&walker, &visitor, k))
		;
	bool is_whole = !walker.is_short;

	fxt_walk_end(&walker);
	return is_whole;
}

/* ---- all ---- */

bool fxt_keep_slices(struct fxt_keep *k, const struct fxt_scan *scan, const struct fxt_archive *archive)
{
	int fd = fxt_spill_file();

	*k = (struct fxt_keep){.scan = scan, .filter = scan->filter, .words = archive->bytes / 8 + 1};
	if (fd >= 0 && ftruncate(fd, (off_t)(k->words / 8 + 1)) == 0)
		k->bits = mmap(NULL, k->words / 8 + 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || !k->bits || k->bits == MAP_FAILED) {
		fprintf(stderr, "fxt: no file can be made in TMPDIR: %s\n", strerror(errno));
		exit(FXT_FAILED);
	}
	close(fd);
	keep_find_threads(k);
	return keep_walk(k);
}

void fxt_keep_free(struct fxt_keep *k)
{
	munmap(k->bits, k->words / 8 + 1);
	free(k->threads);
	free(k->koids);
}
