/*
 * Records of the program's own events (said.h), and their encoding. The functions that both
 * paths call are inline.
 */
#ifndef FXT_AGENT_SAID_RECORD_H
#define FXT_AGENT_SAID_RECORD_H

#include <string.h>
#include "said_names.h"
#include "writer/engine/engine.h"
#include "writer/format/encode.h"

enum said_kind {
	SAID_EVENT,
	SAID_LOG,
	SAID_BLOB,
	SAID_BLOB_EVENT,
	SAID_USERSPACE_OBJECT,
	SAID_KERNEL_OBJECT
};

/* A record, ready to be encoded. */
struct said {
	enum said_kind kind;
	uint32_t type; /* of the event or of the kernel object */
	struct fxt_thread thread;
	struct fxt_string category, name;
	uint64_t ticks;
	uint64_t extra; /* id or end of the event; pointer or koid of the object */
	const struct fxt_argument *arguments;
	size_t count;
	const void *data; /* of the blob, or the text of the log */
	size_t bytes;
};

static inline struct fxt_string said_text(uint16_t index, const char *text)
{
	if (index)
		return fxt_string_index(index);
	return text ? fxt_string_text(text) : fxt_string_empty();
}

/* A value as inline text. It is cut to what a string can have. */
static inline struct fxt_string said_inline(const struct fxt_trace_value *value)
{
	size_t bytes = value->type != FXT_TRACE_STRING       ? 0
	               : value->bytes < FXT_STRING_MAX_BYTES ? value->bytes
	                                                     : FXT_STRING_MAX_BYTES;

	return fxt_string_inline((const char *)(uintptr_t)value->word, bytes);
}

static inline void said_arguments(struct fxt_argument *to, const struct fxt_trace_site *site,
        const struct fxt_trace_argument *arguments, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct fxt_trace_value *value = &arguments[i].value;
		struct fxt_string name = said_text(load_relaxed(&site->texts[2 + i]), arguments[i].name);

		if (value->type == FXT_TRACE_STRING)
			to[i] = fxt_argument_string(name, said_inline(value));
		else if (value->type == FXT_TRACE_BLOB)
			to[i] = fxt_argument_blob(name, (const void *)(uintptr_t)value->word, value->bytes);
		else
			to[i] = fxt_argument_of_word((uint8_t)value->type, name, value->word);
	}
}

/* Fills in the site's names, and its arguments, which it stores at `to`. */
static inline void said_fill(struct said *said, struct fxt_argument *to, const struct fxt_thread_slot *slot,
        const struct fxt_trace_site *site, const struct fxt_trace_argument *arguments, size_t count)
{
	said_arguments(to, site, arguments, count);
	said->thread = fxt_thread_index(slot->thread_index);
	said->category = said_text(load_relaxed(&site->texts[0]), site->category);
	said->name = said_text(load_relaxed(&site->texts[1]), site->name);
	said->arguments = to;
	said->count = count;
}

static inline size_t said_put_event(uint64_t *position, uint64_t words, const struct said *said)
{
	return fxt_put_event(position, words, (enum fxt_event_type)said->type, said->thread, said->category,
	        said->name, said->ticks, said->arguments, said->count, said->extra);
}

/* The words that a record takes. */
size_t said_words(const struct said *said);

/* Encodes a record (`context`: struct said) of so many words. */
void said_put(uint64_t *position, uint64_t words, const void *context);

#endif
