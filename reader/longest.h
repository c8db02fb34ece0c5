/*
 * The longest slices of some functions, and the time between the first begin and the last end of these.
 */
#ifndef FXT_READER_LONGEST_H
#define FXT_READER_LONGEST_H

#include "scan.h"

enum { FXT_LONGEST_MAX = 10000 };

struct fxt_longest {
	struct fxt_slice *slices; /* the longest first; of equal ones the earlier */
	size_t count;
	uint64_t calls;      /* that there were, all in all */
	uint64_t start, end; /* of all of them, in units of the scan */
};

/*
 * Finds the `most` longest (at most FXT_LONGEST_MAX) slices whose names are marked in `names`, by id, among
 * those that the scan's filter shows. Of what reaches out of the filter's time, that which is inside counts.
 * Returns whether all of the file could be read again.
 */
bool fxt_longest_read(
        struct fxt_longest *longest, const struct fxt_scan *scan, const bool *names, size_t most);
void fxt_longest_free(struct fxt_longest *longest);

#endif
