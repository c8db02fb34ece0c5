/*
 * Encoders, one function for each record type. They are header-only, and fit a signal
 * handler or a preloaded agent as well as a tool: no malloc, no locks, no system calls,
 * nothing of libc but memcpy.
 *
 * Every fxt_put_… writes one whole record at dst (8-byte aligned, room for `capacity`
 * words) and returns its size in words. It returns 0 and writes nothing if the record is
 * larger than the room or breaks a limit of the format: a record or an argument of more
 * than 4095 words, more than 15 arguments, an inline string of more than 32000 bytes, an
 * index out of range, a value wider than its field. `text` and `data` are copied; they need
 * no terminator, may be NULL if they have 0 bytes, and must not overlap dst.
 */
#ifndef FXT_WRITER_ENCODE_H
#define FXT_WRITER_ENCODE_H

#include "parts.h"

static inline bool fxt_record_fits(size_t words, size_t capacity)
{
	return words <= FXT_RECORD_MAX_WORDS && words <= capacity;
}

static inline bool fxt_large_record_fits(size_t words, size_t capacity)
{
	return words <= FXT_LARGE_RECORD_MAX_WORDS && words <= capacity;
}

static inline bool fxt_value_fits(uint64_t value, unsigned bits)
{
	return value >> bits == 0;
}

static inline uint64_t fxt_record_header(enum fxt_record_type type, size_t words)
{
	return (uint64_t)type | words << 4;
}

static inline uint64_t fxt_metadata_header(enum fxt_metadata_type type, size_t words, uint32_t provider)
{
	return fxt_record_header(FXT_RECORD_METADATA, words) | (uint64_t)type << 16 |
	       (uint64_t)provider << 20;
}

/* ---- metadata: for programs that write an archive, never from inside a provider ---- */

static inline size_t fxt_put_magic(uint64_t *dst, size_t capacity)
{
	if (!fxt_record_fits(1, capacity))
		return 0;
	*dst = FXT_MAGIC_RECORD;
	return 1;
}

/* At most 255 bytes of name. */
static inline size_t fxt_put_provider_info(
        uint64_t *dst, size_t capacity, uint32_t id, const char *name, size_t bytes)
{
	size_t words = 1 + fxt_words(bytes);

	if (bytes > FXT_PROVIDER_NAME_MAX_BYTES || !fxt_record_fits(words, capacity))
		return 0;
	*dst = fxt_metadata_header(FXT_METADATA_PROVIDER_INFO, words, id) | (uint64_t)bytes << 52;
	fxt_write_stream(dst + 1, name, bytes);
	return words;
}

static inline size_t fxt_put_provider_section(uint64_t *dst, size_t capacity, uint32_t id)
{
	if (!fxt_record_fits(1, capacity))
		return 0;
	*dst = fxt_metadata_header(FXT_METADATA_PROVIDER_SECTION, 1, id);
	return 1;
}

static inline size_t fxt_put_provider_event(
        uint64_t *dst, size_t capacity, uint32_t id, enum fxt_provider_event event)
{
	if (!fxt_value_fits(event, 4) || !fxt_record_fits(1, capacity))
		return 0;
	*dst = fxt_metadata_header(FXT_METADATA_PROVIDER_EVENT, 1, id) | (uint64_t)event << 52;
	return 1;
}

/* ---- what later records refer to ---- */

static inline size_t fxt_put_initialization(uint64_t *dst, size_t capacity, uint64_t ticks_per_second)
{
	if (!fxt_record_fits(2, capacity))
		return 0;
	dst[0] = fxt_record_header(FXT_RECORD_INITIALIZATION, 2);
	dst[1] = ticks_per_second;
	return 2;
}

/* index is 1-0x7fff. */
static inline size_t fxt_put_string(
        uint64_t *dst, size_t capacity, uint32_t index, const char *text, size_t bytes)
{
	size_t words = 1 + fxt_words(bytes);

	if (index < 1 || index > FXT_STRING_INDEX_MAX || bytes > FXT_STRING_MAX_BYTES ||
	        !fxt_record_fits(words, capacity))
		return 0;
	*dst = fxt_record_header(FXT_RECORD_STRING, words) | (uint64_t)index << 16 | (uint64_t)bytes << 32;
	fxt_write_stream(dst + 1, text, bytes);
	return words;
}

/* index is 1-255. */
static inline size_t fxt_put_thread(
        uint64_t *dst, size_t capacity, uint32_t index, uint64_t process, uint64_t thread)
{
	if (index < 1 || index > FXT_THREAD_INDEX_MAX || !fxt_record_fits(3, capacity))
		return 0;
	dst[0] = fxt_record_header(FXT_RECORD_THREAD, 3) | (uint64_t)index << 16;
	dst[1] = process;
	dst[2] = thread;
	return 3;
}

/* ---- events ---- */

/* extra: counter id, end in ticks, or correlation id; ignored for the types that have
 * none. */
static inline size_t fxt_put_event(uint64_t *dst, size_t capacity, enum fxt_event_type type,
        struct fxt_thread thread, struct fxt_string category, struct fxt_string name, uint64_t ticks,
        const struct fxt_argument *arguments, size_t count, uint64_t extra)
{
	size_t words = 2 + fxt_thread_words(thread) + fxt_string_words(category) + fxt_string_words(name) +
	               fxt_arguments_words(arguments, count) + fxt_event_has_extra(type);
	uint64_t *at = dst;

	if (type > FXT_EVENT_FLOW_END || !fxt_record_fits(words, capacity))
		return 0;
	*at++ = fxt_record_header(FXT_RECORD_EVENT, words) | (uint64_t)type << 16 | (uint64_t)count << 20 |
	        (uint64_t)thread.ref << 24 | (uint64_t)category.ref << 32 | (uint64_t)name.ref << 48;
	*at++ = ticks;
	at = fxt_write_thread(at, thread);
	at = fxt_write_string(at, category);
	at = fxt_write_string(at, name);
	at = fxt_write_arguments(at, arguments, count);
	if (fxt_event_has_extra(type))
		*at = extra;
	return words;
}

/* ---- objects ---- */

/* Unlike other records, this one inlines only the process of a thread reference. */
static inline size_t fxt_put_userspace_object(uint64_t *dst, size_t capacity, struct fxt_thread process,
        uint64_t pointer, struct fxt_string name, const struct fxt_argument *arguments, size_t count)
{
	size_t words = 2 + fxt_thread_words(process) - (process.ref == 0) + fxt_string_words(name) +
	               fxt_arguments_words(arguments, count);
	uint64_t *at = dst;

	if (!fxt_record_fits(words, capacity))
		return 0;
	*at++ = fxt_record_header(FXT_RECORD_USERSPACE_OBJECT, words) | (uint64_t)process.ref << 16 |
	        (uint64_t)name.ref << 24 | (uint64_t)count << 40;
	*at++ = pointer;
	if (process.ref == 0)
		*at++ = process.process;
	at = fxt_write_string(at, name);
	fxt_write_arguments(at, arguments, count);
	return words;
}

/* The header of a userspace object with another index as its name; the name was one too. */
static inline uint64_t fxt_userspace_object_renamed(uint64_t header, uint16_t index)
{
	return (header & ~(UINT64_C(0xffff) << 24)) | (uint64_t)index << 24;
}

/* type: enum fxt_object_type, or another of Zircon's object types, 8 bits. By convention
 * the object of a thread has a koid argument "process". */
static inline size_t fxt_put_kernel_object(uint64_t *dst, size_t capacity, uint32_t type, uint64_t koid,
        struct fxt_string name, const struct fxt_argument *arguments, size_t count)
{
	size_t words = 2 + fxt_string_words(name) + fxt_arguments_words(arguments, count);
	uint64_t *at = dst;

	if (!fxt_value_fits(type, 8) || !fxt_record_fits(words, capacity))
		return 0;
	*at++ = fxt_record_header(FXT_RECORD_KERNEL_OBJECT, words) | (uint64_t)type << 16 |
	        (uint64_t)name.ref << 24 | (uint64_t)count << 40;
	*at++ = koid;
	at = fxt_write_string(at, name);
	fxt_write_arguments(at, arguments, count);
	return words;
}

/* ---- scheduling: threads are koids, except in the legacy record ---- */

/* cpu has 16 bits. Optional int32 arguments: "incoming_weight", "outgoing_weight". */
static inline size_t fxt_put_context_switch(uint64_t *dst, size_t capacity, uint64_t ticks, uint32_t cpu,
        enum fxt_thread_state outgoing_state, uint64_t outgoing_thread, uint64_t incoming_thread,
        const struct fxt_argument *arguments, size_t count)
{
	size_t words = 4 + fxt_arguments_words(arguments, count);

	if (!fxt_value_fits(cpu, 16) || !fxt_value_fits(outgoing_state, 4) ||
	        !fxt_record_fits(words, capacity))
		return 0;
	dst[0] = fxt_record_header(FXT_RECORD_SCHEDULING, words) | (uint64_t)count << 16 |
	         (uint64_t)cpu << 20 | (uint64_t)outgoing_state << 36 |
	         (uint64_t)FXT_SCHEDULING_CONTEXT_SWITCH << 60;
	dst[1] = ticks;
	dst[2] = outgoing_thread;
	dst[3] = incoming_thread;
	fxt_write_arguments(dst + 4, arguments, count);
	return words;
}

/* cpu has 16 bits. Optional int32 argument: "weight". */
static inline size_t fxt_put_thread_wakeup(uint64_t *dst, size_t capacity, uint64_t ticks, uint32_t cpu,
        uint64_t thread, const struct fxt_argument *arguments, size_t count)
{
	size_t words = 3 + fxt_arguments_words(arguments, count);

	if (!fxt_value_fits(cpu, 16) || !fxt_record_fits(words, capacity))
		return 0;
	dst[0] = fxt_record_header(FXT_RECORD_SCHEDULING, words) | (uint64_t)count << 16 |
	         (uint64_t)cpu << 20 | (uint64_t)FXT_SCHEDULING_THREAD_WAKEUP << 60;
	dst[1] = ticks;
	dst[2] = thread;
	fxt_write_arguments(dst + 3, arguments, count);
	return words;
}

/* The record of older traces. cpu and priorities have 8 bits; the outgoing thread cannot be
 * running. */
static inline size_t fxt_put_legacy_context_switch(uint64_t *dst, size_t capacity, uint64_t ticks,
        uint32_t cpu, enum fxt_thread_state outgoing_state, struct fxt_thread outgoing,
        struct fxt_thread incoming, uint32_t outgoing_priority, uint32_t incoming_priority)
{
	size_t words = 2 + fxt_thread_words(outgoing) + fxt_thread_words(incoming);
	uint64_t *at = dst;

	if (!fxt_value_fits(cpu, 8) || !fxt_value_fits(outgoing_state, 4) ||
	        outgoing_state == FXT_THREAD_STATE_RUNNING || !fxt_value_fits(outgoing_priority, 8) ||
	        !fxt_value_fits(incoming_priority, 8) || !fxt_record_fits(words, capacity))
		return 0;
	*at++ = fxt_record_header(FXT_RECORD_SCHEDULING, words) | (uint64_t)cpu << 16 |
	        (uint64_t)outgoing_state << 24 | (uint64_t)outgoing.ref << 28 | (uint64_t)incoming.ref << 36 |
	        (uint64_t)outgoing_priority << 44 | (uint64_t)incoming_priority << 52 |
	        (uint64_t)FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH << 60;
	*at++ = ticks;
	at = fxt_write_thread(at, outgoing);
	fxt_write_thread(at, incoming);
	return words;
}

/* ---- text and data ---- */

/* At most FXT_LOG_MAX_BYTES of text, 16 less with an inline thread. */
static inline size_t fxt_put_log(uint64_t *dst, size_t capacity, uint64_t ticks, struct fxt_thread thread,
        const char *text, size_t bytes)
{
	size_t words = 2 + fxt_thread_words(thread) + fxt_words(bytes);
	uint64_t *at = dst;

	if (!fxt_record_fits(words, capacity))
		return 0;
	*at++ = fxt_record_header(FXT_RECORD_LOG, words) | (uint64_t)bytes << 16 | (uint64_t)thread.ref << 32;
	*at++ = ticks;
	at = fxt_write_thread(at, thread);
	fxt_write_stream(at, text, bytes);
	return words;
}

/* At most FXT_BLOB_MAX_BYTES of data, less the stream of an inline name. Records of one
 * name are concatenated. */
static inline size_t fxt_put_blob(uint64_t *dst, size_t capacity, struct fxt_string name,
        enum fxt_blob_type type, const void *data, size_t bytes)
{
	size_t words = 1 + fxt_string_words(name) + fxt_words(bytes);
	uint64_t *at = dst;

	if (!fxt_value_fits(type, 8) || !fxt_record_fits(words, capacity))
		return 0;
	*at++ = fxt_record_header(FXT_RECORD_BLOB, words) | (uint64_t)name.ref << 16 | (uint64_t)bytes << 32 |
	        (uint64_t)type << 48;
	at = fxt_write_string(at, name);
	fxt_write_stream(at, data, bytes);
	return words;
}

/* A large record has up to 2^32 - 1 words. Perfetto reads 12 bits of its size: if it has
 * more than 4095 words, Perfetto loses the rest of the file. */
static inline uint64_t fxt_large_blob_header(enum fxt_large_blob_format format, size_t words)
{
	return fxt_record_header(FXT_RECORD_LARGE, words) | (uint64_t)FXT_LARGE_RECORD_BLOB << 36 |
	       (uint64_t)format << 40;
}

static inline size_t fxt_put_large_blob_with_metadata(uint64_t *dst, size_t capacity,
        struct fxt_thread thread, struct fxt_string category, struct fxt_string name, uint64_t ticks,
        const struct fxt_argument *arguments, size_t count, const void *data, size_t bytes)
{
	size_t words = 4 + fxt_string_words(category) + fxt_string_words(name) + fxt_thread_words(thread) +
	               fxt_arguments_words(arguments, count) + fxt_words(bytes);
	uint64_t *at = dst;

	if (!fxt_large_record_fits(words, capacity))
		return 0;
	*at++ = fxt_large_blob_header(FXT_LARGE_BLOB_WITH_METADATA, words);
	*at++ = (uint64_t)category.ref | (uint64_t)name.ref << 16 | (uint64_t)count << 32 |
	        (uint64_t)thread.ref << 36;
	at = fxt_write_string(at, category);
	at = fxt_write_string(at, name);
	*at++ = ticks;
	at = fxt_write_thread(at, thread);
	at = fxt_write_arguments(at, arguments, count);
	*at++ = bytes;
	fxt_write_stream(at, data, bytes);
	return words;
}

static inline size_t fxt_put_large_blob(uint64_t *dst, size_t capacity, struct fxt_string category,
        struct fxt_string name, const void *data, size_t bytes)
{
	size_t words = 3 + fxt_string_words(category) + fxt_string_words(name) + fxt_words(bytes);
	uint64_t *at = dst;

	if (!fxt_large_record_fits(words, capacity))
		return 0;
	*at++ = fxt_large_blob_header(FXT_LARGE_BLOB_WITHOUT_METADATA, words);
	*at++ = (uint64_t)category.ref | (uint64_t)name.ref << 16;
	at = fxt_write_string(at, category);
	at = fxt_write_string(at, name);
	*at++ = bytes;
	fxt_write_stream(at, data, bytes);
	return words;
}

#endif
