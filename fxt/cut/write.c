/*
 * Writes the kept records in the order of the archive, with a mark on slices that reach
 * over a border of the range, and the note about the cut. Runs on the main thread. It must
 * not change a kept record except for that mark.
 */
#include "write.h"

#include <stdlib.h>
#include "fxt/cut/needs.h"
#include "reader/trace/index.h"
#include "perfetto/open_calls.h"
#include "writer/format/encode.h"

struct cut {
	struct fxt_needs needs;
	struct fxt_keep *keep;
	const struct fxt_cut *note;
	const char *options;
	struct fxt_span older_options; /* of the earlier cut that made the trace */
	struct fxt_open_calls_search open;
	bool has_note;
	size_t object_words;
	uint64_t object[FXT_RECORD_MAX_WORDS]; /* the object that was read last, kept
	                                          until the next record */
};

/* Writes a record of the provider that is being read. */
static void cut_put_words(struct cut *c, const uint64_t *words, size_t count)
{
	fxt_sections_put(&c->needs.sections, c->needs.sections.tables.provider, words, count);
}

/* The object of an allocated block must stand directly before the event. Therefore
 * everything that the event needs is written before both. */
static void cut_put_object(struct cut *c)
{
	if (c->object_words > 0)
		cut_put_words(c, c->object, c->object_words);
	c->object_words = 0;
}

/* ---- what the trace says of itself ---- */

static void cut_write_note(struct cut *c)
{
	uint64_t record[FXT_RECORD_MAX_WORDS];
	struct fxt_span older = c->older_options;
	size_t bytes = sizeof(*c->note), room = FXT_BLOB_MAX_BYTES - 64 - bytes, options = strlen(c->options);
	char *data = fxt_allocate(FXT_BLOB_MAX_BYTES);

	memcpy(data, c->note, bytes);
	/* Options of older cuts go first, and are left out if there is not enough room. */
	if (older.bytes > 0 && older.bytes + 2 + options <= room) {
		memcpy(data + bytes, older.data, older.bytes);
		bytes += older.bytes;
		data[bytes++] = ' ';
	}
	options = options < room ? options : room;
	memcpy(data + bytes, c->options, options);
	fxt_sections_put_unowned(&c->needs.sections, record,
	        fxt_put_blob(record, FXT_RECORD_MAX_WORDS, fxt_string_text(FXT_CUT_BLOB), FXT_BLOB_DATA, data,
	                bytes + options));
	free(data);
	c->has_note = true;
}

/* Returns true if a record is one of those at the beginning, which have no provider. The
 * note is written after them. */
static bool cut_take_head(struct cut *c, const struct fxt_record *r, const struct fxt_view *view)
{
	struct fxt_archive_state state;
	struct fxt_anchor anchor;
	struct fxt_cut older;

	if (fxt_view_cut(view, &older, &c->older_options))
		return true;
	if (c->has_note ||
	        !(r->offset == 0 || fxt_view_archive_state(view, &state) || fxt_view_anchor(view, &anchor)))
		return false;
	fxt_sections_put_unowned(&c->needs.sections, r->words, r->size);
	return true;
}

/* ---- borders ---- */

/* The mark for a slice that is only partly inside the range; NULL: it is inside. */
static const char *cut_mark(const struct cut *c, uint64_t start, uint64_t end)
{
	const struct fxt_filter *filter = c->keep->filter;
	bool begun = start < filter->from;
	bool ended = end > filter->to;

	return begun && ended ? "begun earlier, ended later"
	       : begun        ? "begun earlier"
	       : ended        ? "ended later"
	                      : NULL;
}

/* Writes an event with one more argument. The argument goes after the event's arguments,
 * before its last word if it has an extra one. */
static bool cut_put_marked(
        struct cut *c, const struct fxt_record *r, const struct fxt_view *view, const char *mark)
{
	uint64_t record[FXT_RECORD_MAX_WORDS], *at = record;
	struct fxt_argument argument =
	        fxt_argument_string(fxt_string_inline("cut", 3), fxt_string_text(mark));
	size_t extra = fxt_event_has_extra(view->event.type), more = fxt_argument_words(&argument);
	size_t words = (size_t)(view->end - r->words), before = words - extra;

	if (words + more > FXT_RECORD_MAX_WORDS || fxt_field(r->words[0], 20, 4) == FXT_ARGUMENTS_MAX)
		return false;
	memcpy(at, r->words, before * sizeof(*at));
	at = fxt_write_argument(at + before, &argument);
	memcpy(at, r->words + before, extra * sizeof(*at));
	record[0] &= ~(UINT64_C(0xfff) << 4);
	record[0] += (uint64_t)(words + more) << 4 | UINT64_C(1) << 20;
	cut_put_words(c, record, words + more);
	return true;
}

/* For a slice of two records, each record is marked for its own side. */
static const char *cut_mark_of(const struct cut *c, const struct fxt_view *view)
{
	const struct fxt_tables *t = &c->needs.sections.tables;
	uint64_t time = fxt_keep_time(c->keep, t, view->event.ticks);

	switch (view->event.type) {
	case FXT_EVENT_DURATION_BEGIN:
		return cut_mark(c, time, 0);
	case FXT_EVENT_DURATION_END:
		return cut_mark(c, UINT64_MAX, time);
	case FXT_EVENT_DURATION_COMPLETE:
		return cut_mark(c, time, fxt_keep_time(c->keep, t, view->event.extra));
	default:
		return NULL;
	}
}

/* ---- records ---- */

static void cut_put(struct cut *c, const struct fxt_record *r, const struct fxt_view *view)
{
	const char *mark = view->type == FXT_RECORD_EVENT ? cut_mark_of(c, view) : NULL;

	fxt_needs_of(&c->needs, r, view);
	fxt_open_calls_take(&c->open, &c->needs.sections.tables, view);
	cut_put_object(c);
	if (view->type == FXT_RECORD_USERSPACE_OBJECT) {
		if (!fxt_needs_claim_object(&c->needs, view))
			return;
		memcpy(c->object, r->words, r->size * sizeof(*r->words));
		c->object_words = r->size;
	} else if (!mark || !cut_put_marked(c, r, view, mark)) {
		cut_put_words(c, r->words, r->size);
	}
}

/* It is valid in the section of any provider. */
static void cut_put_provider_event(struct cut *c, const struct fxt_record *r, uint32_t id)
{
	struct fxt_sections *s = &c->needs.sections;
	const struct fxt_provider_tables *p = fxt_tables_provider(&s->tables, id);

	fxt_sections_put(s, p ? p : s->tables.provider, r->words, r->size);
}

static void cut_plain_call(struct cut *c, const struct fxt_record *r)
{
	const struct fxt_tables *t = &c->needs.sections.tables;
	struct fxt_view view;

	cut_put_object(c);
	if (cut_mark(c, fxt_keep_time(c->keep, t, r->words[1]), fxt_keep_time(c->keep, t, r->words[2])) &&
	        fxt_decode(r, &view) == NULL) {
		cut_put(c, r, &view);
		return;
	}
	fxt_needs_of_plain_call(&c->needs, r->words[0]);
	cut_put_words(c, r->words, r->size);
}

static void cut_record(struct cut *c, const struct fxt_record *r, bool is_kept)
{
	struct fxt_view view;

	if (fxt_decode(r, &view) != NULL || cut_take_head(c, r, &view))
		return;
	if (!c->has_note)
		cut_write_note(c);
	if (view.type != FXT_RECORD_EVENT)
		cut_put_object(c);
	fxt_needs_add(&c->needs, r, &view);
	if (!is_kept)
		return;
	if (view.type == FXT_RECORD_METADATA)
		cut_put_provider_event(c, r, view.metadata.provider);
	else
		cut_put(c, r, &view);
}

static void cut_put_open_calls(void *cut, const void *data, size_t bytes)
{
	struct cut *c = cut;
	uint64_t record[FXT_RECORD_MAX_WORDS];

	fxt_sections_put_unowned(&c->needs.sections, record,
	        fxt_put_blob(record, FXT_RECORD_MAX_WORDS, fxt_string_text(FXT_OPEN_CALLS_BLOB),
	                FXT_BLOB_PERFETTO, data, bytes));
}

void fxt_cut_write(FILE *out, const struct fxt_archive *archive, struct fxt_keep *keep,
        const struct fxt_cut *note, const char *options)
{
	struct cut c = {.keep = keep, .note = note, .options = options};
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_record r;

	fxt_needs_begin(&c.needs, out);
	while (fxt_next(&cursor, &r)) {
		bool is_kept = fxt_keep_has(keep, r.offset / 8);

		if (!fxt_is_plain_call(r.words[0]) || !c.has_note)
			cut_record(&c, &r, is_kept);
		else if (is_kept)
			cut_plain_call(&c, &r);
	}
	if (!c.has_note)
		cut_write_note(&c);
	cut_put_object(&c);
	fxt_open_calls_end_search(&c.open);
	fxt_open_calls_describe(&c.open.found, 0, cut_put_open_calls, &c);
	fxt_open_calls_free(&c.open.found);
	fxt_needs_end(&c.needs);
}
