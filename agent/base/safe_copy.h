/*
 * Copies memory to which a pointer of the program's leads, wherever that is. The kernel reads
 * it (process_vm_readv) and reports what is not mapped. A process that may make no system call
 * copies nothing.
 */
#ifndef FXT_AGENT_SAFE_COPY_H
#define FXT_AGENT_SAFE_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Copies up to `bytes` bytes, at most 64 KB, and returns how many could be read. */
size_t agent_copy(uint64_t address, void *to, size_t bytes);

/* Copies a text of up to `room` bytes, without its end. Returns its bytes; -1: it cannot be
 * read. */
long agent_copy_text(uint64_t address, char *to, size_t room);

#endif
