/*
 * Copies memory behind a pointer of the program, which may be invalid. The kernel reads it
 * (process_vm_readv) and reports pages that are not mapped [0.5 us]. A process that may
 * make no system call copies nothing.
 */
#ifndef FXT_AGENT_SAFE_COPY_H
#define FXT_AGENT_SAFE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The least room that a text can be copied to. */
#define AGENT_TEXT_LEAST 8

/* Copies up to `bytes` bytes, at most a page, and returns how many could be read. */
size_t agent_copy(uint64_t address, void *to, size_t bytes);

/*
 * Puts a text into `to` as valid UTF-8 (writer/format/escape.h). "..." follows if it does
 * not fit, or if it is the beginning of a longer one (`is_cut`). `room` is at least
 * AGENT_TEXT_LEAST. Returns the bytes written.
 */
size_t agent_text_put(char *to, size_t room, const char *text, size_t bytes, bool is_cut);

/*
 * Puts the text at an address into `to` in the same way. The text ends at a zero byte, or
 * after the `limit` bytes of its array; 0: there is no limit. `room` is at most a page. The
 * call needs that much of the stack. Returns the bytes written; -1: the text cannot be
 * read.
 */
long agent_copy_text(uint64_t address, size_t limit, char *to, size_t room);

#endif
