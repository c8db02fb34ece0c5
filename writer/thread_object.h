/*
 * The kernel-object record of a thread, which gives the thread's name and process.
 */
#ifndef FXT_WRITER_THREAD_OBJECT_H
#define FXT_WRITER_THREAD_OBJECT_H

#include <stdint.h>
#include "slot.h"

#define FXT_THREAD_OBJECT_WORDS 16 /* of the record with the longest name: room enough */

/* Writes the record of a thread. Its name, as in its slot, may be without a terminator. Returns the record's
 * size in words, at most FXT_THREAD_OBJECT_WORDS; 0: `capacity` words are too few. */
uint64_t fxt_thread_object(uint64_t koid, const char name[FXT_THREAD_NAME_BYTES], uint64_t process_koid,
        uint64_t *record, uint64_t capacity);

#endif
