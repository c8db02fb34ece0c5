/* The async spans of a trace as a table. */
#ifndef FXT_FXT_ASYNCS_H
#define FXT_FXT_ASYNCS_H

#include <stdbool.h>
#include "reader/slices/scan.h"

/* Prints a line for each name of async spans that the scan's filter shows, most time first;
 * nothing if there are none. Returns false if not all of the file could be read again. */
bool fxt_asyncs_print(const struct fxt_scan *scan, uint64_t limit);

#endif
