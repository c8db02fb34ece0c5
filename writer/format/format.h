/*
 * The Fuchsia trace format: constants of every record and argument type, and the positions
 * of fields. A record is a sequence of 64-bit little-endian words; the first has its type
 * (bits 0-3) and size in words (bits 4-15, or 4-35 for large records). Text and data are
 * streams: bytes, padded with zeros to whole words, without a terminator. encode.h writes
 * records; readers decode them with the functions here.
 */
#ifndef FXT_WRITER_FORMAT_H
#define FXT_WRITER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FXT_MAGIC_RECORD UINT64_C(0x0016547846040010)

enum fxt_record_type {
	FXT_RECORD_METADATA = 0,
	FXT_RECORD_INITIALIZATION = 1,
	FXT_RECORD_STRING = 2,
	FXT_RECORD_THREAD = 3,
	FXT_RECORD_EVENT = 4,
	FXT_RECORD_BLOB = 5,
	FXT_RECORD_USERSPACE_OBJECT = 6,
	FXT_RECORD_KERNEL_OBJECT = 7,
	FXT_RECORD_SCHEDULING = 8,
	FXT_RECORD_LOG = 9,
	FXT_RECORD_LARGE = 15,
};

enum fxt_metadata_type {
	FXT_METADATA_PROVIDER_INFO = 1,
	FXT_METADATA_PROVIDER_SECTION = 2,
	FXT_METADATA_PROVIDER_EVENT = 3,
	FXT_METADATA_TRACE_INFO = 4, /* its one kind is the magic record */
};

/* records may have been dropped */
enum fxt_provider_event { FXT_PROVIDER_EVENT_BUFFER_FULL = 0 };

enum fxt_event_type {
	FXT_EVENT_INSTANT = 0,
	FXT_EVENT_COUNTER = 1,
	FXT_EVENT_DURATION_BEGIN = 2,
	FXT_EVENT_DURATION_END = 3,
	FXT_EVENT_DURATION_COMPLETE = 4,
	FXT_EVENT_ASYNC_BEGIN = 5,
	FXT_EVENT_ASYNC_INSTANT = 6,
	FXT_EVENT_ASYNC_END = 7,
	FXT_EVENT_FLOW_BEGIN = 8,
	FXT_EVENT_FLOW_STEP = 9,
	FXT_EVENT_FLOW_END = 10,
};

enum fxt_argument_type {
	FXT_ARGUMENT_NULL = 0,
	FXT_ARGUMENT_INT32 = 1,
	FXT_ARGUMENT_UINT32 = 2,
	FXT_ARGUMENT_INT64 = 3,
	FXT_ARGUMENT_UINT64 = 4,
	FXT_ARGUMENT_DOUBLE = 5,
	FXT_ARGUMENT_STRING = 6,
	FXT_ARGUMENT_POINTER = 7,
	FXT_ARGUMENT_KOID = 8,
	FXT_ARGUMENT_BOOL = 9,
	FXT_ARGUMENT_BLOB = 10,
};

enum fxt_blob_type { FXT_BLOB_DATA = 1, FXT_BLOB_LAST_BRANCH = 2, FXT_BLOB_PERFETTO = 3 };

enum fxt_object_type { FXT_OBJECT_PROCESS = 1, FXT_OBJECT_THREAD = 2 };

enum fxt_scheduling_type {
	FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH = 0,
	FXT_SCHEDULING_CONTEXT_SWITCH = 1,
	FXT_SCHEDULING_THREAD_WAKEUP = 2,
};

enum fxt_thread_state {
	FXT_THREAD_STATE_NEW = 0,
	FXT_THREAD_STATE_RUNNING = 1,
	FXT_THREAD_STATE_SUSPENDED = 2,
	FXT_THREAD_STATE_BLOCKED = 3,
	FXT_THREAD_STATE_DYING = 4,
	FXT_THREAD_STATE_DEAD = 5,
};

enum fxt_large_record_type { FXT_LARGE_RECORD_BLOB = 0 };

enum fxt_large_blob_format { FXT_LARGE_BLOB_WITH_METADATA = 0, FXT_LARGE_BLOB_WITHOUT_METADATA = 1 };

/* ---- limits ---- */

#define FXT_RECORD_MAX_WORDS        4095u
#define FXT_LARGE_RECORD_MAX_WORDS  UINT64_C(0xffffffff)
#define FXT_ARGUMENTS_MAX           15u
#define FXT_ARGUMENT_MAX_WORDS      4095u
#define FXT_STRING_INDEX_MAX        0x7fffu
#define FXT_STRING_INLINE_BIT       0x8000u
#define FXT_STRING_MAX_BYTES        32000u /* Fuchsia's rule; the field would hold 32767 */
#define FXT_THREAD_INDEX_MAX        0xffu
#define FXT_PROVIDER_NAME_MAX_BYTES 255u
/* These two follow from the size of a record, for an indexed name and an indexed thread. An
 * inline thread takes 16 bytes of them, an inline name its stream. */
#define FXT_BLOB_MAX_BYTES ((FXT_RECORD_MAX_WORDS - 1) * 8)
#define FXT_LOG_MAX_BYTES  ((FXT_RECORD_MAX_WORDS - 2) * 8)

_Static_assert(FXT_STRING_MAX_BYTES <= 0x7fff, "a string's length has 15 bits");
_Static_assert(FXT_BLOB_MAX_BYTES <= 0x7fff, "a blob's size has 15 bits");
_Static_assert(FXT_LOG_MAX_BYTES <= 0x7fff, "a log message's length has 15 bits");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are stored as they lie in memory");

/* ---- fields ---- */

/* The words of a stream of `bytes` bytes. */
static inline size_t fxt_words(size_t bytes)
{
	return bytes / 8 + (bytes % 8 != 0);
}

/* The field of 1-64 bits that begins at first_bit. */
static inline uint64_t fxt_field(uint64_t word, unsigned first_bit, unsigned bits)
{
	return word >> first_bit & UINT64_MAX >> (64 - bits);
}

static inline enum fxt_record_type fxt_record_type(uint64_t header)
{
	return (enum fxt_record_type)fxt_field(header, 0, 4);
}

/* Size of a record in words, header included; 0 = malformed. The size of a large record has
 * more bits. */
static inline size_t fxt_record_words(uint64_t header)
{
	return fxt_field(header, 4, fxt_record_type(header) == FXT_RECORD_LARGE ? 32 : 12);
}

/* Counters, complete durations, async and flow events end in one word: id, end time or
 * correlation id. */
static inline bool fxt_event_has_extra(enum fxt_event_type type)
{
	return type == FXT_EVENT_COUNTER ||
	       (type >= FXT_EVENT_DURATION_COMPLETE && type <= FXT_EVENT_FLOW_END);
}

#define FXT_CALL_WORDS 3 /* words of the record of a call, as below */
#define FXT_CALL_BYTES UINT64_C(24)

/*
 * The hot path writes a call as three words: header | (uint64_t)name_index << 48, start,
 * end. This is the header of its Duration Complete record; thread_index is 1-255,
 * category_index 0 (none) to 0x7fff.
 */
static inline uint64_t fxt_duration_complete_header(uint8_t thread_index, uint16_t category_index)
{
	return FXT_RECORD_EVENT | FXT_CALL_WORDS << 4 | FXT_EVENT_DURATION_COMPLETE << 16 |
	       (uint64_t)thread_index << 24 | (uint64_t)category_index << 32;
}

#endif
