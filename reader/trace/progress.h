/*
 * How far reading has come, for whoever waits in front of a terminal. What takes a trace apart piece by piece
 * tells of each piece; a piece is large enough for that to cost nothing beside it. One thread tells, the one
 * that reads for the caller: of the ranges that several threads walk it takes its share, from the last to the
 * first like the others, so where it is says where all are.
 */
#ifndef FXT_READER_PROGRESS_H
#define FXT_READER_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pieces of what is not read in blocks. */
#define FXT_PROGRESS_BYTES ((uint64_t)1 << 20)

/* Who is told; NULL: nobody. `doing` is a word such as "reading", or NULL when that has ended; `done` of
 * `all` bytes are through, and `all` is 0 where it is not known. Returns whether to go on: walks (walk.h) end
 * early if not, and what they have summed up is of no use; all else goes on nevertheless. */
extern bool (*fxt_progress)(const char *doing, uint64_t done, uint64_t all);

static inline bool fxt_progress_tell(const char *doing, uint64_t done, uint64_t all)
{
	return !fxt_progress || fxt_progress(doing, done, all);
}

static inline void fxt_progress_end(void)
{
	fxt_progress_tell(NULL, 0, 0);
}

#endif
