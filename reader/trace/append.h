/*
 * Appends to a file that other processes may cut, overwrite or append to at the same time.
 */
#ifndef FXT_READER_APPEND_H
#define FXT_READER_APPEND_H

#include <stddef.h>
#include <stdint.h>

/* In place of an errno value: another process truncated or replaced the file. Only the
 * beginning of the archive is left. */
#define FXT_ERROR_CUT (-1)

/*
 * Appends bytes to a file that we have made up to *end, and advances *end by the bytes that
 * are in the file. Returns 0, an errno value, or FXT_ERROR_CUT if the file is shorter; then
 * what was appended is taken back, up to the last byte that another process overwrote. What another process wrote behind *end is
 * dropped.
 */
int fxt_append_all(int fd, const void *bytes, size_t count, uint64_t *end);

#endif
