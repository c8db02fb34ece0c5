/*
 * The parts of records: references to strings and threads, and arguments. A caller builds
 * them by the constructors here and hands them to the encoders of encode.h. A part that the
 * format cannot hold is marked as such, and the encoder then writes nothing. The
 * fxt_…_words and fxt_write_… functions serve the encoders.
 */
#ifndef FXT_WRITER_PARTS_H
#define FXT_WRITER_PARTS_H

#include <string.h>
#include "format.h"

/*
 * A string reference: 0 = empty, 1-0x7fff = index, 0x8000 | bytes = the text follows
 * inline; the text must outlive the call that encodes it. Without text, `text` is "" rather
 * than NULL: when gcc specializes an encoder for callers that pass indices alone, it would
 * warn of a memcpy from NULL that never runs.
 */
struct fxt_string {
	uint16_t ref;
	const char *text;
};

/* Inline text of no bytes is not valid, so this reference stands for a string that cannot
 * be encoded. */
#define FXT_STRING_INVALID FXT_STRING_INLINE_BIT

/* A thread reference: 0 = the two koids follow inline, 1-255 = index. */
struct fxt_thread {
	uint16_t ref;
	uint64_t process;
	uint64_t thread;
};

#define FXT_THREAD_INVALID 0x100u

struct fxt_argument {
	uint8_t type; /* enum fxt_argument_type */
	struct fxt_string name;
	union {
		/* all types but string and blob; int32, uint32 and bool in the low half */
		uint64_t word;
		struct fxt_string string;
		struct {
			const void *data; /* must outlive the call that encodes it */
			size_t bytes;
		} blob;
	} value;
};

static inline struct fxt_string fxt_string_empty(void)
{
	return (struct fxt_string){.ref = 0, .text = ""};
}

/* index is 1-0x7fff. */
static inline struct fxt_string fxt_string_index(uint32_t index)
{
	bool valid = index >= 1 && index <= FXT_STRING_INDEX_MAX;

	return (struct fxt_string){.ref = (uint16_t)(valid ? index : FXT_STRING_INVALID), .text = ""};
}

/* At most 32000 bytes; 0 bytes give the empty string. */
static inline struct fxt_string fxt_string_inline(const char *text, size_t bytes)
{
	if (bytes == 0)
		return fxt_string_empty();
	if (bytes > FXT_STRING_MAX_BYTES)
		return (struct fxt_string){.ref = FXT_STRING_INVALID, .text = ""};
	return (struct fxt_string){.ref = (uint16_t)(FXT_STRING_INLINE_BIT | bytes), .text = text};
}

/* The same for a text that a zero ends. */
static inline struct fxt_string fxt_string_text(const char *text)
{
	return fxt_string_inline(text, __builtin_strlen(text));
}

/* index is 1-255. */
static inline struct fxt_thread fxt_thread_index(uint32_t index)
{
	bool valid = index >= 1 && index <= FXT_THREAD_INDEX_MAX;

	return (struct fxt_thread){.ref = (uint16_t)(valid ? index : FXT_THREAD_INVALID)};
}

static inline struct fxt_thread fxt_thread_inline(uint64_t process, uint64_t thread)
{
	return (struct fxt_thread){.process = process, .thread = thread};
}

static inline struct fxt_argument fxt_argument_of_word(uint8_t type, struct fxt_string name, uint64_t word)
{
	return (struct fxt_argument){.type = type, .name = name, .value.word = word};
}

static inline struct fxt_argument fxt_argument_null(struct fxt_string name)
{
	return fxt_argument_of_word(FXT_ARGUMENT_NULL, name, 0);
}

static inline struct fxt_argument fxt_argument_int32(struct fxt_string name, int32_t value)
{
	return fxt_argument_of_word(FXT_ARGUMENT_INT32, name, (uint32_t)value);
}

static inline struct fxt_argument fxt_argument_uint32(struct fxt_string name, uint32_t value)
{
	return fxt_argument_of_word(FXT_ARGUMENT_UINT32, name, value);
}

static inline struct fxt_argument fxt_argument_int64(struct fxt_string name, int64_t value)
{
	return fxt_argument_of_word(FXT_ARGUMENT_INT64, name, (uint64_t)value);
}

static inline struct fxt_argument fxt_argument_uint64(struct fxt_string name, uint64_t value)
{
	return fxt_argument_of_word(FXT_ARGUMENT_UINT64, name, value);
}

static inline struct fxt_argument fxt_argument_double(struct fxt_string name, double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return fxt_argument_of_word(FXT_ARGUMENT_DOUBLE, name, word);
}

static inline struct fxt_argument fxt_argument_string(struct fxt_string name, struct fxt_string value)
{
	return (struct fxt_argument){.type = FXT_ARGUMENT_STRING, .name = name, .value.string = value};
}

static inline struct fxt_argument fxt_argument_pointer(struct fxt_string name, uint64_t address)
{
	return fxt_argument_of_word(FXT_ARGUMENT_POINTER, name, address);
}

static inline struct fxt_argument fxt_argument_koid(struct fxt_string name, uint64_t koid)
{
	return fxt_argument_of_word(FXT_ARGUMENT_KOID, name, koid);
}

static inline struct fxt_argument fxt_argument_bool(struct fxt_string name, bool value)
{
	return fxt_argument_of_word(FXT_ARGUMENT_BOOL, name, value);
}

static inline struct fxt_argument fxt_argument_blob(struct fxt_string name, const void *data, size_t bytes)
{
	return (struct fxt_argument){
	        .type = FXT_ARGUMENT_BLOB, .name = name, .value.blob = {.data = data, .bytes = bytes}};
}

/* ---- sizes in words, of what follows the reference or stands between records' fixed words
 * ---- */

/* The size of a part that cannot be encoded. No record has room for it, and a sum of
 * several does not overflow. */
#define FXT_IMPOSSIBLE_WORDS ((size_t)1 << 40)

static inline size_t fxt_string_words(struct fxt_string string)
{
	size_t bytes = string.ref & ~FXT_STRING_INLINE_BIT;

	if (!(string.ref & FXT_STRING_INLINE_BIT))
		return 0;
	return bytes >= 1 && bytes <= FXT_STRING_MAX_BYTES ? fxt_words(bytes) : FXT_IMPOSSIBLE_WORDS;
}

static inline size_t fxt_thread_words(struct fxt_thread thread)
{
	if (thread.ref > FXT_THREAD_INDEX_MAX)
		return FXT_IMPOSSIBLE_WORDS;
	return thread.ref == 0 ? 2 : 0;
}

static inline size_t fxt_argument_words(const struct fxt_argument *argument)
{
	size_t words = 1 + fxt_string_words(argument->name);

	switch (argument->type) {
	case FXT_ARGUMENT_NULL:
	case FXT_ARGUMENT_INT32:
	case FXT_ARGUMENT_UINT32:
	case FXT_ARGUMENT_BOOL:
		break;
	case FXT_ARGUMENT_INT64:
	case FXT_ARGUMENT_UINT64:
	case FXT_ARGUMENT_DOUBLE:
	case FXT_ARGUMENT_POINTER:
	case FXT_ARGUMENT_KOID:
		words += 1;
		break;
	case FXT_ARGUMENT_STRING:
		words += fxt_string_words(argument->value.string);
		break;
	case FXT_ARGUMENT_BLOB:
		words += fxt_words(argument->value.blob.bytes);
		break;
	default:
		return FXT_IMPOSSIBLE_WORDS;
	}
	return words <= FXT_ARGUMENT_MAX_WORDS ? words : FXT_IMPOSSIBLE_WORDS;
}

static inline size_t fxt_arguments_words(const struct fxt_argument *arguments, size_t count)
{
	size_t words = 0;

	if (count > FXT_ARGUMENTS_MAX)
		return FXT_IMPOSSIBLE_WORDS;
	for (size_t i = 0; i < count; i++)
		words += fxt_argument_words(&arguments[i]);
	return words;
}

/* ---- writing; each returns where the next part goes ---- */

static inline uint64_t *fxt_write_stream(uint64_t *at, const void *data, size_t bytes)
{
	size_t words = fxt_words(bytes);

	if (bytes == 0)
		return at;
	at[words - 1] = 0;
	memcpy(at, data, bytes);
	return at + words;
}

static inline uint64_t *fxt_write_string(uint64_t *at, struct fxt_string string)
{
	if (!(string.ref & FXT_STRING_INLINE_BIT))
		return at;
	return fxt_write_stream(at, string.text, string.ref & ~FXT_STRING_INLINE_BIT);
}

static inline uint64_t *fxt_write_thread(uint64_t *at, struct fxt_thread thread)
{
	if (thread.ref != 0)
		return at;
	at[0] = thread.process;
	at[1] = thread.thread;
	return at + 2;
}

static inline uint64_t *fxt_write_argument(uint64_t *at, const struct fxt_argument *argument)
{
	uint64_t header =
	        argument->type | fxt_argument_words(argument) << 4 | (uint64_t)argument->name.ref << 16;
	uint64_t *value = fxt_write_string(at + 1, argument->name);

	switch (argument->type) {
	case FXT_ARGUMENT_NULL:
		*at = header;
		return value;
	case FXT_ARGUMENT_INT32:
	case FXT_ARGUMENT_UINT32:
	case FXT_ARGUMENT_BOOL:
		*at = header | argument->value.word << 32;
		return value;
	case FXT_ARGUMENT_STRING:
		*at = header | (uint64_t)argument->value.string.ref << 32;
		return fxt_write_string(value, argument->value.string);
	case FXT_ARGUMENT_BLOB:
		*at = header | (uint64_t)argument->value.blob.bytes << 32;
		return fxt_write_stream(value, argument->value.blob.data, argument->value.blob.bytes);
	default:
		*at = header;
		*value = argument->value.word;
		return value + 1;
	}
}

static inline uint64_t *fxt_write_arguments(uint64_t *at, const struct fxt_argument *arguments, size_t count)
{
	for (size_t i = 0; i < count; i++)
		at = fxt_write_argument(at, &arguments[i]);
	return at;
}

#endif
