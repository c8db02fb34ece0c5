/*
 * The kernel-object record of a thread, which gives the thread's name and process.
 */
#ifndef FXT_WRITER_THREAD_OBJECT_H
#define FXT_WRITER_THREAD_OBJECT_H

#include <stdint.h>
#include "slot.h"

#define FXT_THREAD_OBJECT_WORDS 16 /* of the record with the longest name: room enough */

/* Writes the record of the thread of `slot`. The slot's name may be without a terminator. Returns its size in
 * words, at most FXT_THREAD_OBJECT_WORDS. */
uint64_t fxt_thread_object(
        const struct fxt_thread_slot *slot, uint64_t process_koid, uint64_t *record, uint64_t capacity);

#endif
