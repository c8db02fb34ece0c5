/*
 * Slices that show where records were lost. A thread writes such a slice as soon as it has room again. The
 * collector writes those for losses after which a thread had no room any more before it ended, and for
 * records that circular buffering overwrote.
 */
#ifndef FXT_WRITER_LOSS_H
#define FXT_WRITER_LOSS_H

#include <stddef.h>
#include <stdint.h>
#include "control.h"

#define FXT_LOSS_NAME_BYTES 48

/* "lost" is what found no room; "overwritten" is what made room for newer records. */
#define FXT_LOSS_LOST        " records lost"
#define FXT_LOSS_OVERWRITTEN " records overwritten"

/* Records that a provider did not write, and calls that circular buffering overwrote in its buffer, since it
 * began or was cleared. */
struct fxt_losses {
	uint64_t lost, overwritten;
};

/* The losses of a provider up to now, by its slots: at any time, from either process. */
struct fxt_losses fxt_losses_of(const struct fxt_control *control);

/* The name of a loss, "fxt: N records lost"; returns its length in bytes. */
size_t fxt_loss_name(char text[FXT_LOSS_NAME_BYTES], uint64_t records, const char *fate);

/*
 * Returns where the slice of a loss that began at gap_start is to end. A slice may hold others but not
 * overlap one in part: so it ends before the first of the open calls (`frames`, oldest first) that began
 * after gap_start, and without such a call at `last`, the time at which the thread last began or ended
 * something. In ticks, never before gap_start.
 */
uint64_t fxt_loss_end(const struct fxt_frame *frames, uint64_t count, uint64_t gap_start, uint64_t last);

#endif
