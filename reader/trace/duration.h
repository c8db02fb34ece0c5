/* A length of time as people write it, with its unit: "1.5ms", "20 us", "5min", "0". */
#ifndef FXT_READER_DURATION_H
#define FXT_READER_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* Where one ends that a text begins with; NULL if it begins with none. Nanoseconds; at most UINT64_MAX. */
const char *fxt_duration_end(const char *text, uint64_t *ns);

/* Returns false if the text is none, or not that alone. */
bool fxt_duration_parse(const char *text, uint64_t *ns);

#endif
