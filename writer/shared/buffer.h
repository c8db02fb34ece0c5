/*
 * The trace buffer as Fuchsia lays it out: a 128-byte header, the durable buffer, rolling
 * buffers 0 and 1. Oneshot has no durable buffer and one rolling buffer.
 */
#ifndef FXT_WRITER_BUFFER_H
#define FXT_WRITER_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#define FXT_BUFFER_MAGIC      UINT64_C(0x627566ee68656164)
#define FXT_BUFFER_VERSION    0u
#define FXT_BUFFER_MIN_BYTES  UINT64_C(4096)
#define FXT_BUFFER_MAX_BYTES  (UINT64_C(1) << 32)
#define FXT_DURABLE_MIN_BYTES UINT64_C(16)
#define FXT_DURABLE_MAX_BYTES (UINT64_C(1) << 20)
#define FXT_PAGES_FIRST_BYTES (UINT64_C(1) << 20)
#define FXT_PAGES_AHEAD_BYTES (UINT64_C(48) << 20)

enum fxt_buffering_mode { FXT_ONESHOT = 0, FXT_CIRCULAR = 1, FXT_STREAMING = 2 };

/* Written by the agent under its engine lock, read by the manager. Offsets count from the
 * start of their buffer. */
struct fxt_buffer_header {
	uint64_t magic;
	uint16_t version;
	uint8_t buffering_mode; /* enum fxt_buffering_mode */
	/* 1: the rolling buffers hold chunks (Fuchsia's reserved field) */
	uint8_t chunked;
	/* switches so far; the current rolling buffer is wrapped_count & 1 */
	uint32_t wrapped_count;
	uint64_t total_size;
	uint64_t durable_buffer_size;
	uint64_t rolling_buffer_size;
	uint64_t durable_data_end; /* stored after the bytes it covers (release) */
	/* stored (release) after the headers of the chunks it covers; covers whole
	 * chunks */
	uint64_t rolling_data_end[2];
	uint64_t num_records_dropped;
	uint64_t reserved[7];
};
_Static_assert(sizeof(struct fxt_buffer_header) == 128, "Fuchsia's header is 128 bytes");
_Static_assert(offsetof(struct fxt_buffer_header, total_size) == 16, "Fuchsia's layout");
_Static_assert(offsetof(struct fxt_buffer_header, num_records_dropped) == 64, "Fuchsia's layout");

/* The slot number of a chunk that holds durable records: a oneshot buffer has no durable
 * buffer of its own. */
#define FXT_SLOT_DURABLE UINT32_MAX

enum fxt_chunk_state { FXT_CHUNK_OPEN = 0, FXT_CHUNK_CLOSED = 1 };

/*
 * While a chunk is open its thread writes to it, and the end of its committed records
 * stands in the thread's slot (fxt_thread_slot.committed), or in control.durable_committed
 * for a durable chunk. Once it is closed the first `committed` bytes behind the header are
 * its records, for good. Written with the engine's lock held; read by collectors, which
 * load `state` (acquire) first.
 */
struct fxt_chunk_header {
	/* size of the whole chunk in bytes, header included; a multiple of 8 */
	uint32_t size;
	uint32_t slot;
	uint32_t committed; /* bytes of records; valid once closed */
	uint32_t state;     /* enum fxt_chunk_state; stored last (release) */
};
_Static_assert(sizeof(struct fxt_chunk_header) == 16, "");

/* String indices from this one on, and thread index 255, are registered in the chunk that
 * uses them, ahead of their use, and hold in that chunk only. */
#define FXT_STRING_LOCAL_FIRST 0x7c00u
#define FXT_STRING_LOCAL_COUNT 1024u
#define FXT_THREAD_LOCAL_INDEX 255u

/* ---- setting up and checking ---- */

struct fxt_buffer_layout {
	uint64_t durable_bytes; /* 0 in oneshot mode */
	uint64_t rolling_bytes; /* size of each rolling buffer */
	/* from the start of the trace buffer; [1] is the end of the buffer in oneshot
	 * mode */
	uint64_t rolling_offset[2];
};

/* Returns 0, or EINVAL: total_bytes is no multiple of 4096 or outside
 * [FXT_BUFFER_MIN_BYTES, FXT_BUFFER_MAX_BYTES], or there is no such mode. */
int fxt_buffer_layout(enum fxt_buffering_mode mode, uint64_t total_bytes, struct fxt_buffer_layout *layout);

/*
 * How many bytes of the rolling buffers should have pages once `used` bytes were given out.
 * The first write to a fresh page costs as much as 90 calls, and a program that records at
 * full rate fills 1.2 MiB in a millisecond. A program that records little takes little
 * memory.
 */
static inline uint64_t fxt_pages_wanted(uint64_t used)
{
	return used > FXT_PAGES_FIRST_BYTES ? used + FXT_PAGES_AHEAD_BYTES : FXT_PAGES_FIRST_BYTES + 2 * used;
}

/* Writes the header of an empty buffer. */
void fxt_buffer_clear(struct fxt_buffer_header *header, enum fxt_buffering_mode mode, uint64_t total_bytes);

/* Returns what is wrong with the header of a buffer of total_bytes that was set up for
 * `mode`, or NULL. */
const char *fxt_buffer_check(
        const struct fxt_buffer_header *header, enum fxt_buffering_mode mode, uint64_t total_bytes);

#endif
