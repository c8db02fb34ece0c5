/* A length of time as people write it, with its unit: "1.5ms", "20 us", "5min", "0". */
#ifndef FXT_READER_DURATION_H
#define FXT_READER_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the end of the duration that a text begins with, or NULL if it begins with none.
 * *ns is in nanoseconds, at most UINT64_MAX. */
const char *fxt_duration_end(const char *text, uint64_t *ns);

/* Returns false if the text is not a duration, or not only a duration. */
bool fxt_duration_parse(const char *text, uint64_t *ns);

#endif
