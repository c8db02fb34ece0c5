/*
 * Slices that show where records were lost. A thread writes them as soon as it has room again; what it did
 * not come to show, and what circular buffering overwrote, the collector shows.
 */
#ifndef FXT_WRITER_LOSS_H
#define FXT_WRITER_LOSS_H

#include <stddef.h>
#include <stdint.h>
#include "slot.h"

#define FXT_LOSS_NAME_BYTES 48

/* "lost" is what found no room; "overwritten" is what made room for newer records. */
#define FXT_LOSS_LOST        " records lost"
#define FXT_LOSS_OVERWRITTEN " records overwritten"

/* The name of a loss, "fxt: N records lost"; returns its length in bytes. */
size_t fxt_loss_name(char text[FXT_LOSS_NAME_BYTES], uint64_t records, const char *fate);

/*
 * Where a loss that began at gap_start ends so that its slice overlaps no other partially: before the first
 * of the open calls, oldest first, that began inside it, else at `last`, when the thread last began or ended
 * something.
 */
uint64_t fxt_loss_end(const struct fxt_frame *frames, uint64_t count, uint64_t gap_start, uint64_t last);

#endif
