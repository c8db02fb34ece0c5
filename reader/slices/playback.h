/*
 * The slices of a trace forward, in the order of time, and what else its threads did in between. A trace is
 * read backwards (walk.h), so this is done piece by piece: a stretch of time in which the blocks of the file
 * end that make up a few megabytes is walked, sorted, and handed on, before the next one is read.
 *
 *   time      |    piece    |    piece    | ...
 *   main      {                            ...    } begin and end in pieces of their own
 *     f         {  } leaf
 *     g                  {     } begin, end
 *
 * Memory holds one piece, and what is open.
 */
#ifndef FXT_READER_PLAYBACK_H
#define FXT_READER_PLAYBACK_H

#include "reader/time/timeline.h"
#include "walk.h"

enum fxt_playback_kind {
	FXT_PLAYBACK_LEAF,  /* a slice with nothing inside, as a whole, at its begin */
	FXT_PLAYBACK_BEGIN, /* of a slice with something inside, or that may have */
	FXT_PLAYBACK_END,   /* of one that began */
	FXT_PLAYBACK_PAUSE, /* a stretch in which a thread was not on a CPU */
};

struct fxt_playback_event {
	enum fxt_playback_kind kind;
	uint64_t ns;                /* when; of END the end */
	uint32_t thread;            /* id in the tables */
	uint32_t depth;             /* how many slices it is in, of those that the filter shows */
	struct fxt_slice slice;     /* not of PAUSE */
	struct fxt_stretch stretch; /* of PAUSE */
};

/* Returns whether it wants more. */
typedef bool fxt_playback_visit(void *state, const struct fxt_playback_event *event);

/* Sizes to be used instead of those that suit a real trace. */
struct fxt_playback_sizes {
	uint64_t piece_bytes;
};

/*
 * Plays what the scan's filter shows. Pauses are of the timeline, none if that is NULL; a filter that chooses
 * functions hides them. A slice that is never ended ends where the scan says. Returns false if not all of the
 * file could be read again.
 */
bool fxt_playback(const struct fxt_scan *scan, const struct fxt_timeline *timeline,
        const struct fxt_playback_sizes *sizes, fxt_playback_visit *visit, void *state);

#endif
