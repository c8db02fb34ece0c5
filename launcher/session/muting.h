/*
 * fxtrun --auto: while a session records, functions whose calls are so many and so short that recording them
 * costs more than they tell are muted, by a change of the filter (filter_change.h), as long as recording
 * takes more than so many percent of the time that the processes run.
 *
 *   calls by function, and the time that processes ran (call_counts.h), window by window
 *     --> calls x cost of one > percent x time?  mute the most called of the brief ones, as many as it takes
 *     --> the next window begins once the change is made
 *
 * What is muted stays so: a function whose calls are not seen cannot be found to be harmless again.
 *
 * The main thread's.
 */
#ifndef FXT_LAUNCHER_SESSION_MUTING_H
#define FXT_LAUNCHER_SESSION_MUTING_H

#include "session.h"

/* Mutes functions if it is time for it. Every 100 ms or so. */
void fxt_muting_look(struct fxt_session *session);

/* Which functions of the window are to be muted so that recording takes that share of the time, 0 to 1, if a
 * call costs `cost_ns`. Returns how many, in an array that is the caller's, the most called first; 0: none,
 * and no array, as where memory is short. With the lock held. */
size_t fxt_muting_choose(const struct fxt_call_counts *counts, double share, double cost_ns,
        struct fxt_counted_function ***chosen);

#endif
