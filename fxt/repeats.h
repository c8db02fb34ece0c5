/*
 * Finds deep recursion in a thread's lines of fxt replay, which are played in the order of
 * time: lines that repeat those before, each time deeper, or each time less deep.
 *
 *   f {             line 0
 *     g();          line 1
 *     f {           line 2 is line 0, one deeper
 *       g();        line 3 is line 1, one deeper: the cycle f, g goes into its second round
 *
 *   if (!fxt_repeats_hides(&repeats, &line)) {
 *           if (repeats.hidden > 0) tell of the hidden lines, by fxt_repeats_line();
 *           fxt_repeats_add(&repeats, &line);
 *           print the line;
 *   }
 */
#ifndef FXT_FXT_REPEATS_H
#define FXT_FXT_REPEATS_H

#include "reader/slices/playback.h"

/* The lines of the longest cycle. */
enum { FXT_REPEATS_CYCLE = 8 };

struct fxt_repeats_line {
	uint32_t name, depth;
	enum fxt_playback_kind kind;
};

struct fxt_repeats_cycle {
	int64_t step;   /* how much deeper a round is than the one before */
	uint64_t lines; /* the last ones, each of which repeats one of the round before */
};

/* All zeros: no lines so far. */
struct fxt_repeats {
	struct fxt_repeats_line lines[FXT_REPEATS_CYCLE]; /* the last ones, by number modulo
	                                                     the size */
	uint64_t count;
	struct fxt_repeats_cycle cycles[FXT_REPEATS_CYCLE]; /* by length - 1 */
	uint64_t hidden;                                    /* the last lines */
	uint32_t cycle;                                     /* the length of their cycle */
	bool has_hidden_begin;                              /* the ends of hidden begins follow */
	uint32_t begin;                                     /* the depth of the outermost one */
};

/* Returns true if a line is to be hidden: it repeats a cycle that was printed
 * FXT_RECURSION_LEVELS times (reader/stats/recursion.h). If the begin of a call was
 * printed, its end is not hidden. A hidden line is added. */
bool fxt_repeats_hides(struct fxt_repeats *r, const struct fxt_repeats_line *line);

/* Adds a line that is printed. Before it the number of hidden rounds was printed. */
void fxt_repeats_add(struct fxt_repeats *r, const struct fxt_repeats_line *line);

/* The line that was added `back` lines before the last one; less than FXT_REPEATS_CYCLE. */
static inline const struct fxt_repeats_line *fxt_repeats_line(const struct fxt_repeats *r, uint64_t back)
{
	return &r->lines[(r->count - 1 - back) % FXT_REPEATS_CYCLE];
}

#endif
