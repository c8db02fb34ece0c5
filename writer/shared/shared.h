/*
 * The only memory and messages that an agent and its manager share: the trace buffer (memfd
 * 1), the control memory (memfd 2), and the messages of the handshake. Everything here is
 * little-endian, versioned by FXT_SHARED_VERSION, and distrusted by the manager: it
 * believes a field only after checking it.
 *
 *   trace buffer                              control memory
 *   +--------------------+ 0                  +-------------------------+ 0
 *   | fxt_buffer_header  | 128 bytes          | fxt_control             | 4096 bytes
 *   +--------------------+                    +-------------------------+ FXT_SLOTS_OFFSET
 *   | durable buffer     | strings, threads   | fxt_thread_slot [16384] |
 *   +--------------------+                    +-------------------------+ FXT_HEAP_SUMS_OFFSET
 *   | rolling buffer 0   | chunks             | fxt_heap_sum [16384]    |
 *   +--------------------+                    +-------------------------+ FXT_TID_USES_OFFSET
 *   | rolling buffer 1   | chunks             | uint16_t [4194304]      | the koid of each tid
 *   +--------------------+                    +-------------------------+ FXT_DECISIONS_OFFSET
 *                                             | uint64_t [32768]        | decisions
 *                                             +-------------------------+ FXT_LIMITS_OFFSET
 *                                             | fxt_limit [32768]       | limits of calls, and
 *                                             |                         | how many have begun
 *                                             +-------------------------+ FXT_PROGRAM_CATEGORIES_OFFSET
 *                                             | categories [256]        | of the program's events
 *                                             +-------------------------+ FXT_STACKS_OFFSET
 *                                             | small shadow stacks     | one a slot, 1023 calls deep
 *                                             +-------------------------+ FXT_LARGE_STACKS_OFFSET
 *                                             | large shadow stacks     | 64, for deep recursion
 *                                             +-------------------------+ FXT_CONTROL_BYTES: its end,
 *                                             | fxt_elided [513]        | or elided calls
 *                                             +-------------------------+ FXT_ELIDED_END
 *
 * A rolling buffer is a sequence of chunks, each a fxt_chunk_header and the records of one
 * thread behind it. Chunk headers never reach the archive. Both memories are sparse: a page
 * costs memory only once it was touched.
 */
#ifndef FXT_WRITER_SHARED_H
#define FXT_WRITER_SHARED_H

#include "buffer.h"
#include "control.h"
#include "handshake.h"
#include "packets.h"

#define FXT_SHARED_VERSION 26u

#endif
