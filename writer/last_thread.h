/*
 * A process ends when its last thread does, and the helper is a thread of it that never ends by itself. The
 * program's own threads may all end without a word to us: by a system call of theirs. So whoever is awake
 * anyway (the manager, or where there is none the helper) looks from time to time, and a helper that is alone
 * ends the process. The program is never woken up for it.
 *
 * What is asked for is whether the main thread has ended and one thread is left. That this thread is the
 * helper follows from its number: it was stored by a helper that ran before the look, and who finds that
 * number in `last_thread` while it runs has run ever since.
 */
#ifndef FXT_WRITER_LAST_THREAD_H
#define FXT_WRITER_LAST_THREAD_H

#include "atomics.h"
#include "control.h"

/*
 * Looks at the process `pid`, 0 being the calling one, whose control memory this is. True: its helper is
 * alone, which now stands in `last_thread` and `last_status`. False too where /proc cannot be read.
 */
bool fxt_last_thread_look(struct fxt_control *control, int pid);

/* Whether the helper of that number is alone. By that helper, which then ends with `last_status`. */
static inline bool fxt_last_thread_is(const struct fxt_control *control, uint32_t helper)
{
	/* Acquire: pairs with the release of the look; the status stands. */
	return load_acquire(&control->last_thread) == helper;
}

#endif
