/*
 * Plays the slices of a trace forward, in the order of time, together with the pauses of
 * its threads and the lines of its logs. A trace is read backwards (walk.h), so it is played piece by piece. A piece
 * is the stretch of time in which a few megabytes of the file's blocks end. It is walked,
 * sorted, and handed on before the next one is read.
 *
 *   time      |    piece    |    piece    | ...
 *   main      {                            ...    } begin and end in pieces of their own
 *     f         {  } leaf
 *     g                  {     } begin, end
 *
 * Memory holds one piece, and the open slices.
 */
#ifndef FXT_READER_PLAYBACK_H
#define FXT_READER_PLAYBACK_H

#include "reader/time/log_lines.h"
#include "reader/time/timeline.h"
#include "walk.h"

enum fxt_playback_kind {
	FXT_PLAYBACK_LEAF,  /* a slice with nothing inside, as a whole, at its begin */
	FXT_PLAYBACK_BEGIN, /* the begin of a slice that has, or may have, children or lines */
	FXT_PLAYBACK_END,   /* the end of a slice that began */
	FXT_PLAYBACK_PAUSE, /* a thread was off its CPU for this stretch */
	FXT_PLAYBACK_LINE,  /* a thread wrote this line to a log */
};

struct fxt_playback_event {
	enum fxt_playback_kind kind;
	uint64_t ns;                /* the time of the event; for END the end */
	uint32_t thread;            /* id in the tables */
	uint32_t depth;             /* the number of slices around it that the filter shows */
	struct fxt_slice slice;     /* undefined for PAUSE and LINE */
	struct fxt_stretch stretch; /* for PAUSE */
	struct fxt_log_line line;   /* for LINE */
};

/* Whether an event is of a slice. Others have no depth. */
static inline bool fxt_playback_is_slice(const struct fxt_playback_event *event)
{
	return event->kind != FXT_PLAYBACK_PAUSE && event->kind != FXT_PLAYBACK_LINE;
}

/* Returns whether it wants more. */
typedef bool fxt_playback_visit(void *state, const struct fxt_playback_event *event);

/* Sizes that replace the defaults, which suit a real trace. */
struct fxt_playback_sizes {
	uint64_t piece_bytes;
};

/*
 * Plays the slices that the scan's filter shows. Pauses come from the timeline, and lines
 * from the log; without these (NULL) there are none, and a filter that chooses functions
 * hides them. A slice without an end lasts as long as the scan determined. Returns false if
 * not all of the file could be read again.
 */
bool fxt_playback(const struct fxt_scan *scan, const struct fxt_timeline *timeline,
        const struct fxt_log_lines *lines, const struct fxt_playback_sizes *sizes, fxt_playback_visit *visit,
        void *state);

#endif
