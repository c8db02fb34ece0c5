/*
 * Which records of a trace a choice keeps: decided once, in two passes over the trace, and then a bit for
 * each of its words, in a file without a name. What later records refer to (strings, threads, names, call
 * paths) is not among them: write.h has these written where something that is kept needs them.
 *
 *   slices        what a walk shows that heeds the choice, as all answers do; each as a whole. Losses and
 *                 waits that the tracer tells of stay wherever their thread and time do.
 *   other events  those of the chosen threads at the chosen time
 *   flows         if all of a flow is kept, and no functions were chosen: else the slices that it joins are
 *                 gone
 *   async events  each with both ends, if it reaches into the time
 *   the heap      of a process of which a thread is chosen; and the allocations of what lived when the time
 *                 began
 *   the CPUs      also each thread's last record before the time, which tells whether it ran
 *
 * Memory holds what is open, what lives, and the threads; not more for a longer trace.
 */
#ifndef FXT_FXT_CUT_KEEP_H
#define FXT_FXT_CUT_KEEP_H

#include "reader/slices/scan.h"

struct fxt_keep {
	const struct fxt_scan *scan;
	const struct fxt_filter *filter;
	uint8_t *bits; /* by word of the archive; mapped */
	size_t words;
	size_t window;             /* of the bits, where the last one was that was asked for */
	unsigned windows;          /* that were entered since all were let go of */
	struct fxt_koids *threads; /* those chosen, by process and thread; if not all are */
	uint64_t *koids;           /* of the same, sorted */
	size_t thread_count;
	bool has_profiles; /* of its heap, for viewers; none is kept */
};

/* Decides on slices that are a record or begin with one; others.h has the rest, which comes next. `scan` has
 * a filter, and its source is the archive. Returns false if not all could be read again. */
bool fxt_keep_slices(struct fxt_keep *k, const struct fxt_scan *scan, const struct fxt_archive *archive);
void fxt_keep_free(struct fxt_keep *k);

/* Bits, so many bytes of them; of them so many windows are in memory at most. */
#define FXT_KEEP_WINDOW_BYTES ((size_t)1 << 20)
#define FXT_KEEP_WINDOWS      4

void fxt_keep_enter_window(struct fxt_keep *k, size_t window);

/* The byte with a word's bit. */
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

/* A time in units of the scan, the tables standing where it was read. */
static inline uint64_t fxt_keep_time(const struct fxt_keep *k, const struct fxt_tables *t, uint64_t ticks)
{
	return k->scan->in_ticks ? ticks : fxt_rate_ns(&t->provider->rate, ticks);
}

/* Whether slices were left out because of what they are. */
static inline bool fxt_keep_hides(const struct fxt_keep *k)
{
	return k->filter->names || k->filter->under || k->filter->least > 0;
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
