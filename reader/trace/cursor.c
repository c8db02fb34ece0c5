/*
 * Walks over the records of a mapped archive, and decodes single records. Runs on any
 * thread; a cursor belongs to one. Must never read outside the archive, whatever its bytes
 * say.
 */
#include "cursor.h"

#include <sys/mman.h>
#include <unistd.h>
#include "progress.h"
#include "writer/engine/heap.h"

struct fxt_cursor fxt_cursor(const struct fxt_archive *archive)
{
	struct fxt_cursor cursor = {
	        .first = archive->words,
	        .next = archive->words,
	        .end = archive->words + archive->bytes / 8,
	        .kept = archive->mapped ? archive->words : NULL,
	        .tail = archive->bytes % 8 != 0,
	};

	if (archive->parts) {
		cursor.part = archive->parts;
		cursor.last_part = archive->parts + archive->part_count;
		cursor.end = cursor.next;
	}
	cursor.tell = cursor.end;
	if ((fxt_progress || archive->mapped) && archive->bytes > FXT_PROGRESS_BYTES)
		cursor.tell = cursor.first + FXT_PROGRESS_BYTES / 8;
	return cursor;
}

/* Drops the pages behind the cursor. Pages of a mapping count as the reader's memory,
 * although they can be read from the file again. The last piece stays, and is dropped once
 * more later: code that copies records follows a little behind, and a fault maps the pages
 * around it too. */
static void cursor_let_go(struct fxt_cursor *c)
{
	const size_t piece = FXT_PROGRESS_BYTES, page = (size_t)sysconf(_SC_PAGESIZE);
	size_t next = (size_t)(c->next - c->first) * 8, kept = (size_t)(c->kept - c->first) * 8;
	size_t to = next > piece ? (next - piece) & -page : 0, from = kept > piece ? kept - piece : 0;

	if (to <= kept)
		return;
	madvise((char *)c->first + from, to - from, MADV_DONTNEED);
	c->kept = c->first + to / 8;
}

void fxt_cursor_where(struct fxt_cursor *c)
{
	uint64_t all = c->last_part ? c->last_part[-1].to : (uint64_t)(c->end - c->first) * 8;

	if (c->kept)
		cursor_let_go(c);
	fxt_progress_report("reading", (uint64_t)(c->next - c->first) * 8, all);
	c->tell = (uint64_t)(c->end - c->next) * 8 > FXT_PROGRESS_BYTES ? c->next + FXT_PROGRESS_BYTES / 8
	                                                                : c->end;
}

bool fxt_cursor_stop(struct fxt_cursor *c, struct fxt_record *r)
{
	if (c->next == c->end && c->part < c->last_part) {
		c->next = c->first + c->part->from / 8;
		c->end = c->first + c->part->to / 8;
		c->part++;
		fxt_cursor_where(c);
		return fxt_next(c, r);
	}
	if (c->end - c->first > (ptrdiff_t)(FXT_PROGRESS_BYTES / 8))
		fxt_progress_end();
	c->fault.offset = r->offset;
	if (c->next < c->end && r->size == 0) {
		c->fault.reason = "record of size 0, so nothing behind it can be found";
	} else if (c->next < c->end || c->tail) {
		c->fault.reason = "truncated inside a record";
		c->fault.truncated = true;
	}
	return false;
}

/* The rest of a record while it is decoded, and the first reason for a failure. */
struct rest {
	const uint64_t *next;
	const uint64_t *end;
	const char *reason;
};

static void fall_short(struct rest *rest)
{
	if (!rest->reason)
		rest->reason = "record is shorter than its contents";
}

static uint64_t take_word(struct rest *rest)
{
	if (rest->next == rest->end) {
		fall_short(rest);
		return 0;
	}
	return *rest->next++;
}

static struct fxt_span take_stream(struct rest *rest, uint64_t bytes)
{
	struct fxt_span stream = {(const char *)rest->next, bytes};

	if (bytes > (uint64_t)(rest->end - rest->next) * 8) {
		fall_short(rest);
		return (struct fxt_span){0};
	}
	rest->next += fxt_words(bytes);
	return stream;
}

static struct fxt_string take_string(struct rest *rest, uint64_t ref)
{
	struct fxt_string string = {.ref = (uint16_t)ref};

	if (ref & FXT_STRING_INLINE_BIT)
		string.text = take_stream(rest, ref & ~FXT_STRING_INLINE_BIT).data;
	return string;
}

static struct fxt_thread take_thread(struct rest *rest, uint64_t ref)
{
	struct fxt_thread thread = {.ref = (uint16_t)ref};

	if (ref == 0) {
		thread.process = take_word(rest);
		thread.thread = take_word(rest);
	}
	return thread;
}

/* ---- arguments ---- */

static const char *read_argument(struct fxt_arguments *arguments, struct fxt_argument *argument)
{
	if (arguments->next == arguments->end)
		return "record is shorter than its arguments";
	uint64_t header = *arguments->next;
	size_t size = fxt_field(header, 4, 12);

	if (size == 0)
		return "argument of size 0";
	if (size > (size_t)(arguments->end - arguments->next))
		return "argument is longer than its record";
	struct rest rest = {arguments->next + 1, arguments->next + size, NULL};

	arguments->next += size;
	arguments->left--;
	*argument = (struct fxt_argument){.type = (uint8_t)fxt_field(header, 0, 4)};
	argument->name = take_string(&rest, fxt_field(header, 16, 16));
	switch (argument->type) {
	case FXT_ARGUMENT_INT32:
	case FXT_ARGUMENT_UINT32:
		argument->value.word = fxt_field(header, 32, 32);
		break;
	case FXT_ARGUMENT_BOOL:
		argument->value.word = fxt_field(header, 32, 1);
		break;
	case FXT_ARGUMENT_INT64:
	case FXT_ARGUMENT_UINT64:
	case FXT_ARGUMENT_DOUBLE:
	case FXT_ARGUMENT_POINTER:
	case FXT_ARGUMENT_KOID:
		argument->value.word = take_word(&rest);
		break;
	case FXT_ARGUMENT_STRING:
		argument->value.string = take_string(&rest, fxt_field(header, 32, 16));
		break;
	case FXT_ARGUMENT_BLOB: {
		struct fxt_span blob = take_stream(&rest, fxt_field(header, 32, 32));

		argument->value.blob.data = blob.data;
		argument->value.blob.bytes = blob.bytes;
		break;
	}
	}
	return rest.reason ? "argument is shorter than its contents" : NULL;
}

bool fxt_next_argument(struct fxt_arguments *arguments, struct fxt_argument *argument)
{
	return arguments->left > 0 && read_argument(arguments, argument) == NULL;
}

/* Steps over the arguments and leaves `rest` behind them. */
static struct fxt_arguments take_arguments(struct rest *rest, uint64_t count)
{
	struct fxt_arguments arguments = {rest->next, rest->end, (unsigned)count};
	struct fxt_arguments walk = arguments;
	struct fxt_argument argument;

	while (!rest->reason && walk.left > 0)
		rest->reason = read_argument(&walk, &argument);
	rest->next = walk.next;
	return arguments;
}

/* ---- records ---- */

static void decode_metadata(uint64_t header, struct rest *rest, struct fxt_view *view)
{
	view->metadata.type = fxt_field(header, 16, 4);
	view->metadata.provider = (uint32_t)fxt_field(header, 20, 32);
	switch (view->metadata.type) {
	case FXT_METADATA_PROVIDER_INFO:
		view->metadata.name = take_stream(rest, fxt_field(header, 52, 8));
		return;
	case FXT_METADATA_PROVIDER_SECTION:
		return;
	case FXT_METADATA_PROVIDER_EVENT:
		view->metadata.event = (uint8_t)fxt_field(header, 52, 4);
		return;
	case FXT_METADATA_TRACE_INFO:
		view->metadata.provider = 0;
		if (fxt_field(header, 20, 4) != 0)
			rest->reason = "unknown kind of trace info";
		else if (header != FXT_MAGIC_RECORD)
			rest->reason = "magic record with another number than the format's";
		return;
	}
	rest->reason = "unknown kind of metadata";
}

static void decode_event(uint64_t header, struct rest *rest, struct fxt_view *view)
{
	view->event.type = fxt_field(header, 16, 4);
	view->event.ticks = take_word(rest);
	view->event.thread = take_thread(rest, fxt_field(header, 24, 8));
	view->event.category = take_string(rest, fxt_field(header, 32, 16));
	view->event.name = take_string(rest, fxt_field(header, 48, 16));
	view->arguments = take_arguments(rest, fxt_field(header, 20, 4));
	if (fxt_event_has_extra(view->event.type))
		view->event.extra = take_word(rest);
}

static void decode_scheduling(uint64_t header, struct rest *rest, struct fxt_view *view)
{
	view->scheduling.type = fxt_field(header, 60, 4);
	view->scheduling.ticks = take_word(rest);
	switch (view->scheduling.type) {
	case FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH:
		view->scheduling.cpu = (uint16_t)fxt_field(header, 16, 8);
		view->scheduling.outgoing_state = (uint8_t)fxt_field(header, 24, 4);
		view->scheduling.outgoing = take_thread(rest, fxt_field(header, 28, 8));
		view->scheduling.incoming = take_thread(rest, fxt_field(header, 36, 8));
		view->scheduling.outgoing_priority = (uint8_t)fxt_field(header, 44, 8);
		view->scheduling.incoming_priority = (uint8_t)fxt_field(header, 52, 8);
		return;
	case FXT_SCHEDULING_CONTEXT_SWITCH:
		view->scheduling.cpu = (uint16_t)fxt_field(header, 20, 16);
		view->scheduling.outgoing_state = (uint8_t)fxt_field(header, 36, 4);
		view->scheduling.outgoing.thread = take_word(rest);
		view->scheduling.incoming.thread = take_word(rest);
		view->arguments = take_arguments(rest, fxt_field(header, 16, 4));
		return;
	case FXT_SCHEDULING_THREAD_WAKEUP:
		view->scheduling.cpu = (uint16_t)fxt_field(header, 20, 16);
		view->scheduling.incoming.thread = take_word(rest);
		view->arguments = take_arguments(rest, fxt_field(header, 16, 4));
		return;
	}
	rest->reason = "unknown kind of scheduling record";
}

static void decode_large(uint64_t header, struct rest *rest, struct fxt_view *view)
{
	uint64_t format = take_word(rest);

	view->large_blob.format = fxt_field(header, 40, 4);
	if (fxt_field(header, 36, 4) != FXT_LARGE_RECORD_BLOB)
		rest->reason = "unknown kind of large record";
	else if (view->large_blob.format > FXT_LARGE_BLOB_WITHOUT_METADATA)
		rest->reason = "unknown format of a large blob";
	if (rest->reason)
		return;
	view->large_blob.category = take_string(rest, fxt_field(format, 0, 16));
	view->large_blob.name = take_string(rest, fxt_field(format, 16, 16));
	if (view->large_blob.format == FXT_LARGE_BLOB_WITH_METADATA) {
		view->large_blob.ticks = take_word(rest);
		view->large_blob.thread = take_thread(rest, fxt_field(format, 36, 8));
		view->arguments = take_arguments(rest, fxt_field(format, 32, 4));
	}
	view->large_blob.data = take_stream(rest, take_word(rest));
}

const char *fxt_decode(const struct fxt_record *r, struct fxt_view *view)
{
	uint64_t header = r->words[0];
	struct rest rest = {r->words + 1, r->words + r->size, NULL};

	*view = (struct fxt_view){.type = fxt_record_type(header)};
	switch (view->type) {
	case FXT_RECORD_METADATA:
		decode_metadata(header, &rest, view);
		break;
	case FXT_RECORD_INITIALIZATION:
		view->initialization.ticks_per_second = take_word(&rest);
		break;
	case FXT_RECORD_STRING:
		view->string.index = (uint16_t)fxt_field(header, 16, 15);
		view->string.text = take_stream(&rest, fxt_field(header, 32, 15));
		break;
	case FXT_RECORD_THREAD:
		view->thread.index = (uint8_t)fxt_field(header, 16, 8);
		view->thread.process = take_word(&rest);
		view->thread.thread = take_word(&rest);
		break;
	case FXT_RECORD_EVENT:
		decode_event(header, &rest, view);
		break;
	case FXT_RECORD_BLOB:
		view->blob.type = (uint8_t)fxt_field(header, 48, 8);
		view->blob.name = take_string(&rest, fxt_field(header, 16, 16));
		view->blob.data = take_stream(&rest, fxt_field(header, 32, 15));
		break;
	case FXT_RECORD_USERSPACE_OBJECT:
		view->userspace_object.pointer = take_word(&rest);
		view->userspace_object.process.ref = (uint16_t)fxt_field(header, 16, 8);
		if (view->userspace_object.process.ref == 0)
			view->userspace_object.process.process = take_word(&rest);
		view->userspace_object.name = take_string(&rest, fxt_field(header, 24, 16));
		view->arguments = take_arguments(&rest, fxt_field(header, 40, 4));
		break;
	case FXT_RECORD_KERNEL_OBJECT:
		view->kernel_object.type = (uint8_t)fxt_field(header, 16, 8);
		view->kernel_object.koid = take_word(&rest);
		view->kernel_object.name = take_string(&rest, fxt_field(header, 24, 16));
		view->arguments = take_arguments(&rest, fxt_field(header, 40, 4));
		break;
	case FXT_RECORD_SCHEDULING:
		decode_scheduling(header, &rest, view);
		break;
	case FXT_RECORD_LOG:
		view->log.ticks = take_word(&rest);
		view->log.thread = take_thread(&rest, fxt_field(header, 32, 8));
		view->log.text = take_stream(&rest, fxt_field(header, 16, 15));
		break;
	case FXT_RECORD_LARGE:
		decode_large(header, &rest, view);
		break;
	default:
		rest.next = rest.end;
		break;
	}
	view->end = rest.next;
	return rest.reason;
}

bool fxt_view_heap_counters(const struct fxt_view *view, struct fxt_view *counters)
{
	if (view->type != FXT_RECORD_LARGE || view->large_blob.format != FXT_LARGE_BLOB_WITH_METADATA ||
	        !fxt_span_is(fxt_inline_text(view->large_blob.category), FXT_HEAP_COUNTERS_NAME) ||
	        !fxt_span_is(fxt_inline_text(view->large_blob.name), FXT_HEAP_COUNTERS_NAME))
		return false;
	*counters = (struct fxt_view){.type = FXT_RECORD_EVENT,
	        .event = {.type = FXT_EVENT_COUNTER,
	                .thread = view->large_blob.thread,
	                .category = view->large_blob.category,
	                .name = view->large_blob.name,
	                .ticks = view->large_blob.ticks},
	        .arguments = view->arguments,
	        .end = view->end};
	return true;
}
