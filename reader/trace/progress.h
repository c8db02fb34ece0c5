/*
 * The progress of reading, for a user who waits in front of a terminal. Code that takes a
 * trace apart piece by piece reports each piece. A piece is large enough to make the cost
 * of a report negligible. Only one thread reports: the thread that reads for the caller. It
 * takes its share of the ranges that several threads walk, from the last to the first like
 * the others, so its position stands for all of them.
 */
#ifndef FXT_READER_PROGRESS_H
#define FXT_READER_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of a piece of input that is not read in blocks. */
#define FXT_PROGRESS_BYTES ((uint64_t)1 << 20)

/* Receives the reports; NULL: there is no receiver. `doing` is a word such as "reading", or
 * NULL when that has ended. `done` of `all` bytes are processed; `all` is 0 if it is
 * unknown. Returns false to stop: walks (walk.h) then end early, and their sums are of no
 * use. All other work goes on nevertheless. */
extern bool (*fxt_progress)(const char *doing, uint64_t done, uint64_t all);

static inline bool fxt_progress_report(const char *doing, uint64_t done, uint64_t all)
{
	return !fxt_progress || fxt_progress(doing, done, all);
}

static inline void fxt_progress_end(void)
{
	fxt_progress_report(NULL, 0, 0);
}

#endif
