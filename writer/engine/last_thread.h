/*
 * Ends a process after its last thread. A process lasts until its last thread ends, and the
 * helper is a thread of it that never ends by itself. The program's own threads may all end
 * unnoticed, by a system call of theirs. Therefore a process or thread that is awake anyway
 * (the manager or, standalone, the helper) looks from time to time, and a helper that is
 * alone ends the process. The program is never woken up for it.
 *
 * The look asks whether the main thread has ended and one thread is left. Its number shows
 * that this thread is the helper: it was stored by a helper that ran before the look, and a
 * helper that finds its number in `last_thread` while it runs has run ever since.
 */
#ifndef FXT_WRITER_LAST_THREAD_H
#define FXT_WRITER_LAST_THREAD_H

#include "writer/shared/atomics.h"
#include "writer/shared/control.h"

/*
 * Looks at the process `pid`, or the calling one if it is 0; `control` is its control
 * memory. True: its helper is alone, which now stands in `last_thread` and `last_status`.
 * Also false if /proc cannot be read.
 */
bool fxt_last_thread_look(struct fxt_control *control, int pid);

/* Whether the helper of that number is alone. Called by that helper, which then ends the
 * process with `last_status`. */
static inline bool fxt_last_thread_is(const struct fxt_control *control, uint32_t helper)
{
	/* Acquire: pairs with the release of the look; the status was stored before. */
	return load_acquire(&control->last_thread) == helper;
}

#endif
