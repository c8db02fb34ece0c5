/*
 * fxtrun --auto: mutes functions while a session records. A function is muted if its calls
 * are so many and so short that recording them costs more than they tell, as long as
 * recording takes more than the given percentage of the processes' running time. Muting is
 * a change of the filter (filter_change.h).
 *
 *   calls by function, and the time that processes ran (call_counts.h), window by window
 *     --> calls x cost of one > percent x time?  mute the most called of the brief ones, as many as needed
 *     --> the next window begins once the change is made
 *
 * A muted function stays muted: its calls are not seen any more, so there is no way to find
 * that it has become harmless.
 *
 * Everything here runs on the main thread.
 */
#ifndef FXT_LAUNCHER_MANAGER_MUTING_H
#define FXT_LAUNCHER_MANAGER_MUTING_H

#include "session.h"

/* Mutes functions if it is time for it. Call it about every 100 ms. */
void fxt_muting_look(struct fxt_session *session);

/* Chooses the functions of the window to mute, so that recording takes that share of the
 * time, 0 to 1, at `cost_ns` per call. Returns their number, and an array that the caller
 * owns, the most called first. 0: none, and no array; also if memory is short. Call it with
 * the lock held. */
size_t fxt_muting_choose(const struct fxt_call_counts *counts, double share, double cost_ns,
        struct fxt_counted_function ***chosen);

#endif
