/*
 * Slices that show where records were lost. A thread writes such a slice as soon as it has
 * room again. The collector writes the slices of losses after which a thread had no room
 * any more before it ended, and of records that circular buffering overwrote.
 */
#ifndef FXT_WRITER_LOSS_H
#define FXT_WRITER_LOSS_H

#include <stddef.h>
#include <stdint.h>
#include "writer/shared/control.h"

#define FXT_LOSS_NAME_BYTES 48

/* "lost" records found no room; "overwritten" ones were replaced by newer records. */
#define FXT_LOSS_LOST        " records lost"
#define FXT_LOSS_OVERWRITTEN " records overwritten"

/* Records that a provider did not write, and calls that circular buffering overwrote in its
 * buffer, since it began or was cleared. */
struct fxt_losses {
	uint64_t lost, overwritten;
};

/* The losses of a provider up to now, summed over its slots. May be called at any time, by
 * either process. */
struct fxt_losses fxt_losses_of(const struct fxt_control *control);

/* The name of a loss, "fxt: N records lost"; returns its length in bytes. */
size_t fxt_loss_name(char text[FXT_LOSS_NAME_BYTES], uint64_t records, const char *fate);

/*
 * Returns the time, in ticks, at which the slice of a loss that began at gap_start should
 * end. A slice may hold others but not overlap one in part. Therefore it ends before the
 * oldest of the open calls (`frames`, oldest first) that began after gap_start. Without
 * such a call it ends at `last`, the time at which the thread last began or ended
 * something. It never ends before gap_start.
 */
uint64_t fxt_loss_end(const struct fxt_frame *frames, uint64_t count, uint64_t gap_start, uint64_t last);

#endif
