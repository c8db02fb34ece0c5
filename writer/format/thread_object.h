/*
 * The kernel-object record of a thread, which gives the thread's name and process.
 *
 * A thread's heap events have another thread in their headers, its heap track; its page
 * faults have its fault track. Viewers therefore draw them apart from the thread's calls,
 * which they would cover. The object of such a track names the thread that the events
 * belong to, and readers count them as that thread's.
 */
#ifndef FXT_WRITER_THREAD_OBJECT_H
#define FXT_WRITER_THREAD_OBJECT_H

#include <stdint.h>
#include "writer/shared/slot.h"

#define FXT_THREAD_OBJECT_WORDS 20 /* room for the record with the longest name */

/* The longest name that records of threads show, after fxt_escape(). The kernel's names of
 * 15 bytes always fit, whatever their bytes are. */
#define FXT_VALID_NAME_BYTES 88

/* Writes the record of a thread. `name` is the name in its slot, and may be without a
 * terminator. Returns the record's size in words, at most FXT_THREAD_OBJECT_WORDS; 0:
 * `capacity` words are too few. */
uint64_t fxt_thread_object(uint64_t koid, const char name[FXT_THREAD_NAME_BYTES], uint64_t process_koid,
        uint64_t *record, uint64_t capacity);

/* The same for the heap track of that thread. */
uint64_t fxt_heap_track_object(uint64_t koid, const char name[FXT_THREAD_NAME_BYTES], uint64_t process_koid,
        uint64_t *record, uint64_t capacity);

/* The argument of a heap or fault track's object that has the koid of the thread. */
#define FXT_ROW_OF "row_of"

/* The koids of a thread's heap track and fault track. Viewers cut koids to 32 bits. A
 * thread has bit 30 only once the kernel has given its number out for the 256th time, and
 * bit 29 for the 128th (fxt_thread_koid). */
static inline uint64_t fxt_heap_track_koid(uint64_t koid)
{
	return koid ^ (UINT64_C(1) << 62 | UINT64_C(1) << 30);
}

static inline uint64_t fxt_fault_track_koid(uint64_t koid)
{
	return koid ^ (UINT64_C(1) << 63 | UINT64_C(1) << 29);
}

#endif
