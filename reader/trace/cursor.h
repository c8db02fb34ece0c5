/*
 * reader/ knows what a trace holds: its records, what they refer to, its heaps and what its
 * threads did. It is a library that prints nothing and writes no file. This is the first
 * header to read.
 *
 * Errors, in the whole folder: opening an archive returns 0, or -1 and one line of text. A
 * fault inside an archive is no error but a finding: broken framing is a struct fxt_fault,
 * and a malformed record a reason in words (a literal). Malformed records are counted and
 * left out. Lack of memory ends the program (index.h). Nothing else fails.
 *
 * An archive is a sequence of records. A record is a header word with its type and size,
 * followed by the words that the type defines (the sections on record types of the Fuchsia
 * trace format).
 *
 * Reading takes three steps. An archive is the bytes of a file. A cursor walks over its
 * records and knows nothing but their framing; this runs at the speed of memory. Decoding
 * takes one record apart into a view; its strings and data point into the archive. A view
 * holds references as they stand; tables.h resolves them.
 *
 * Nothing is ever read outside the archive. Broken framing ends the walk with a fault;
 * every record before it was handed out. A record that is well framed and malformed inside
 * fails to decode and can be skipped. Reserved bits, padding and words behind the known
 * contents are ignored here; check.h examines them.
 */
#ifndef FXT_READER_CURSOR_H
#define FXT_READER_CURSOR_H

#include "archive.h"
#include "writer/format/anchor.h"
#include "writer/format/archive_state.h"
#include "writer/format/rotation.h"
#include "writer/format/parts.h"

struct fxt_record {
	const uint64_t *words; /* words[0] is the header */
	size_t size;           /* in words, at least 1 */
	uint64_t offset;       /* in bytes, from the start of the archive */
};

/* Why a walk ended early: the archive was cut off inside a record, or a record of size 0
 * hides where the next one begins. */
struct fxt_fault {
	uint64_t offset;
	const char *reason; /* NULL: no fault, the archive is at its end */
	bool truncated;
};

struct fxt_cursor {
	const uint64_t *first;
	const uint64_t *next;
	const uint64_t *end;  /* of the whole words, or of the part */
	const uint64_t *tell; /* report progress (progress.h) behind this */
	const uint64_t *kept; /* the mapping is in memory from here on, a piece and more;
	                         NULL: not mapped */
	bool tail;            /* bytes stand behind the last whole word */
	const struct fxt_archive_part *part, *last_part; /* the next one, and behind the last */
	struct fxt_fault fault;
};

/* A cursor before the first record, which is the magic record. */
struct fxt_cursor fxt_cursor(const struct fxt_archive *archive);

bool fxt_cursor_stop(struct fxt_cursor *c, struct fxt_record *r);
void fxt_cursor_where(struct fxt_cursor *c);

/* Moves to the next record. Returns false at the end or at a fault (c->fault). */
static inline bool fxt_next(struct fxt_cursor *c, struct fxt_record *r)
{
	size_t room = (size_t)(c->end - c->next);

	r->words = c->next;
	r->offset = (uint64_t)(c->next - c->first) * 8;
	r->size = 0;
	if (room == 0)
		return fxt_cursor_stop(c, r);
	r->size = fxt_record_words(*c->next);
	if (r->size == 0 || r->size > room)
		return fxt_cursor_stop(c, r);
	c->next += r->size;
	if (__builtin_expect(c->next > c->tell, 0))
		fxt_cursor_where(c);
	/* A record's position depends on the record before it, so the processor waits for
	 * each line of memory: walking 24-byte records takes 14 ns each without this hint
	 * and 5 ns with it. */
	__builtin_prefetch((const void *)((uintptr_t)c->next + 1024));
	return true;
}

/* True for the header of a plain call: a Duration Complete record of three words (header,
 * start, end) that refers to its thread, category and name by index. Most records of a
 * trace are plain calls and need no decoding. */
static inline bool fxt_is_plain_call(uint64_t header)
{
	return (header & UINT64_C(0x8000800000ffffff)) ==
	               (FXT_RECORD_EVENT | 3u << 4 | FXT_EVENT_DURATION_COMPLETE << 16) &&
	       fxt_field(header, 24, 8) != 0;
}

/* ---- view ---- */

/* The arguments of a record, not yet read. */
struct fxt_arguments {
	const uint64_t *next;
	const uint64_t *end;
	unsigned left;
};

/* The type, in a view, of a record that no member of the view is for. */
#define FXT_RECORD_OTHER ((enum fxt_record_type)16)

/* A record taken apart. Inline strings, names of arguments and data point into the
 * archive. */
struct fxt_view {
	enum fxt_record_type type;
	bool is_unknown; /* its kind is not in the table of fields.c */
	union {
		struct {
			enum fxt_metadata_type type;
			uint32_t provider;
			uint8_t event;        /* of a provider event */
			struct fxt_span name; /* of a provider info */
		} metadata;
		struct {
			uint64_t ticks_per_second;
		} initialization;
		struct {
			uint16_t index; /* 0: to be ignored */
			struct fxt_span text;
		} string;
		struct {
			uint8_t index;           /* 0: to be ignored */
			struct fxt_thread koids; /* inline */
		} thread;
		struct {
			enum fxt_event_type type; /* may be an unknown one */
			struct fxt_thread thread;
			struct fxt_string category;
			struct fxt_string name;
			uint64_t ticks;
			uint64_t extra; /* counter id, end in ticks, correlation id; else 0 */
		} event;
		struct {
			uint8_t type;
			struct fxt_string name;
			struct fxt_span data;
		} blob;
		struct {
			struct fxt_thread process; /* inline: only the process is known */
			uint64_t pointer;
			struct fxt_string name;
		} userspace_object;
		struct {
			uint8_t type;
			uint64_t koid;
			struct fxt_string name;
		} kernel_object;
		struct {
			enum fxt_scheduling_type type;
			uint64_t ticks;
			uint16_t cpu;
			uint8_t outgoing_state; /* of switches */
			/* A wakeup has only `incoming`. Koids stand in .thread, except for
			 * the legacy record: its references are whole. */
			struct fxt_thread outgoing;
			struct fxt_thread incoming;
			uint8_t outgoing_priority; /* of legacy switches */
			uint8_t incoming_priority;
		} scheduling;
		struct {
			struct fxt_thread thread;
			uint64_t ticks;
			struct fxt_span text;
		} log;
		struct {
			enum fxt_large_blob_format format;
			struct fxt_string category;
			struct fxt_string name;
			uint64_t ticks; /* this and thread: with metadata only */
			struct fxt_thread thread;
			struct fxt_span data;
		} large_blob;
	};
	struct fxt_arguments arguments; /* none for records that have no arguments */
	/* behind the known contents; the record itself may go on */
	const uint64_t *end;
};

/*
 * Takes a record apart, as the table of fields.c says. Returns NULL, or the reason why it
 * cannot be done: contents that do not fit in the record; the view is undefined then. Every
 * argument of a decoded record is well framed. The view of an unknown kind says only that
 * it is one; readers skip the record.
 */
const char *fxt_decode(const struct fxt_record *r, struct fxt_view *view);

/*
 * Takes the next argument of a view; returns false after the last one. An argument of an
 * unknown type is handed out with its name's reference and no value.
 */
bool fxt_next_argument(struct fxt_arguments *arguments, struct fxt_argument *argument);

/* True if a text is among the arguments. Objects without one, such as the many blocks of a
 * heap, describe no function. */
static inline bool fxt_view_has_text(const struct fxt_view *view)
{
	struct fxt_arguments arguments = view->arguments;
	struct fxt_argument argument;

	while (fxt_next_argument(&arguments, &argument))
		if (argument.type == FXT_ARGUMENT_STRING)
			return true;
	return false;
}

/* The text of an inline string; nothing for other references. */
static inline struct fxt_span fxt_inline_text(struct fxt_string string)
{
	if (!(string.ref & FXT_STRING_INLINE_BIT))
		return (struct fxt_span){0};
	return (struct fxt_span){string.text, string.ref & ~FXT_STRING_INLINE_BIT};
}

/* The inline name of a blob; nothing for other records and names. */
static inline struct fxt_span fxt_view_blob_name(const struct fxt_view *view)
{
	return view->type == FXT_RECORD_BLOB ? fxt_inline_text(view->blob.name) : (struct fxt_span){0};
}

/* True if a decoded record is the blob of that name and size; its data are then copied. */
static inline bool fxt_view_blob(const struct fxt_view *view, const char *name, void *data, size_t bytes)
{
	if (!fxt_span_is(fxt_view_blob_name(view), name) || view->blob.data.bytes != bytes)
		return false;
	memcpy(data, view->blob.data.data, bytes);
	return true;
}

/* True if a decoded record is an anchor (writer/format/anchor.h); *anchor is then set. */
static inline bool fxt_view_anchor(const struct fxt_view *view, struct fxt_anchor *anchor)
{
	return fxt_view_blob(view, FXT_ANCHOR_BLOB, anchor, sizeof(*anchor));
}

/* True if a decoded record says which file of a rotated trace this is; *rotation is then
 * set. */
static inline bool fxt_view_rotation(const struct fxt_view *view, struct fxt_rotation *rotation)
{
	return fxt_view_blob(view, FXT_ROTATION_BLOB, rotation, sizeof(*rotation));
}

/* True if a decoded record reports the live bytes and blocks of a heap; *counters is then
 * the counter event that it stands for (writer/engine/heap.h). */
bool fxt_view_heap_counters(const struct fxt_view *view, struct fxt_view *counters);

/* True if a decoded record is the state that an archive of fxtrun's records about itself;
 * *state is then set. */
static inline bool fxt_view_archive_state(const struct fxt_view *view, struct fxt_archive_state *state)
{
	size_t bytes = view->blob.data.bytes;

	if (!fxt_span_is(fxt_view_blob_name(view), FXT_ARCHIVE_STATE_BLOB) || bytes > sizeof(*state) ||
	        bytes < FXT_ARCHIVE_STATE_LEAST_BYTES || bytes % 8 != 0)
		return false;
	*state = (struct fxt_archive_state){0};
	memcpy(state, view->blob.data.data, bytes);
	return true;
}

#endif
