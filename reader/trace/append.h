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
 * Appends bytes to a file whose first *end bytes are ours, and advances *end by the bytes
 * that it wrote. Drops bytes that another process wrote behind *end. Returns 0 or an errno
 * value; FXT_ERROR_CUT if the file is shorter than *end. Then it removes its bytes again.
 * It keeps those that another process overwrote meanwhile, and those before them.
 */
int fxt_append_all(int fd, const void *bytes, size_t count, uint64_t *end);

#endif
