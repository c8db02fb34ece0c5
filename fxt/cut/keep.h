/*
 * The records of a trace that a choice keeps. This is decided once, in two passes over the
 * trace, and stored as a bit for each word of the archive, in an unlinked temporary file.
 * Records that later ones refer to (strings, threads, names, call paths) get no bit:
 * write.h writes these where a kept record needs them.
 *
 *   slices        those that a filtered walk shows, as in all answers; each as a whole.
 *                 Losses and waits that the tracer reports stay if their thread and time
 *                 are chosen.
 *   other events  those of the chosen threads at the chosen time
 *   flows         if all of a flow is kept, and no functions were chosen: otherwise the
 *                 slices that it joins are gone
 *   async events  each with both ends, if it reaches into the time
 *   the heap      of a process with a chosen thread; and the allocations of what lived
 *                 when the time began
 *   the CPUs      also each thread's last record before the time, which shows whether it
 *                 ran
 *
 * Memory holds the open calls, the live blocks and the threads; a longer trace takes no
 * more.
 */
#ifndef FXT_FXT_CUT_KEEP_H
#define FXT_FXT_CUT_KEEP_H

#include "reader/slices/scan.h"

struct fxt_keep {
	const struct fxt_scan *scan;
	const struct fxt_filter *filter;
	uint8_t *bits; /* by word of the archive; mapped */
	size_t words;
	size_t window;             /* the window of the bits that was used last */
	unsigned windows;          /* windows entered since all were released */
	struct fxt_koids *threads; /* the chosen ones, by process and thread; unused if
	                              all are chosen */
	uint64_t *koids;           /* koids of the same, sorted */
	size_t thread_count, koid_count;
	bool has_profiles; /* the trace has heap profiles for viewers; none is kept */
};

/* Decides on slices that are one record or begin with one. others.h decides on the rest,
 * and is called next. `scan` has a filter, and its source is the archive. Returns false
 * if not all could be read again. */
bool fxt_keep_slices(struct fxt_keep *k, const struct fxt_scan *scan, const struct fxt_archive *archive);
void fxt_keep_free(struct fxt_keep *k);

/* The size of a window of the bits in bytes, and the most windows in memory at a time. */
#define FXT_KEEP_WINDOW_BYTES ((size_t)1 << 20)
#define FXT_KEEP_WINDOWS      4

void fxt_keep_enter_window(struct fxt_keep *k, size_t window);

/* The byte that has a word's bit. */
static inline uint8_t *fxt_keep_byte(struct fxt_keep *k, size_t word)
{
	size_t window = word / 8 / FXT_KEEP_WINDOW_BYTES;

	if (window != k->window)
		fxt_keep_enter_window(k, window);
	return &k->bits[word / 8];
}

static inline bool fxt_keep_has(struct fxt_keep *k, size_t word)
{
	return *fxt_keep_byte(k, word) >> word % 8 & 1;
}

/* Converts a time to units of the scan. The tables must be in the state that they had
 * where the time was read. */
static inline uint64_t fxt_keep_time(const struct fxt_keep *k, const struct fxt_tables *t, uint64_t ticks)
{
	return k->scan->in_ticks ? ticks : fxt_rate_ns(&t->provider->rate, ticks);
}

/* True if the choice leaves out slices by their properties rather than by thread or
 * time. */
static inline bool fxt_keep_hides(const struct fxt_keep *k)
{
	return k->filter->names || k->filter->under || k->filter->least > 0 || k->filter->records;
}

/* ---- for the parts of this ---- */

static inline void fxt_keep_add(struct fxt_keep *k, uint64_t offset)
{
	*fxt_keep_byte(k, offset / 8) |= (uint8_t)(1u << offset / 8 % 8);
}

bool fxt_keep_has_thread(const struct fxt_keep *k, struct fxt_koids thread);
bool fxt_keep_has_process(const struct fxt_keep *k, uint64_t process);
bool fxt_keep_has_koid(const struct fxt_keep *k, uint64_t thread);

#endif
