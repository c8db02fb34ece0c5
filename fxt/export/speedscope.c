/*
 * speedscope's own format (file-format-schema.json of speedscope): an evented profile for
 * each thread, and one list of functions for all of them. Times are nanoseconds since the
 * start of the trace. A profile has the events of one thread, which are spread over the
 * trace, so they are sorted first, in an unlinked temporary file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "events.h"
#include "fxt/json.h"
#include "fxt/describe.h"
#include "slices.h"

struct speedscope_event {
	uint32_t thread;
	uint32_t frame : 31, is_end : 1;
	uint64_t number, ns;
};

struct speedscope {
	struct fxt_export *e;
	const struct fxt_scan *scan;
	uint64_t start_ns;
	struct fxt_spill events;
	uint32_t *frame_of; /* by string: number of its frame plus 1; 0: it has none */
	uint32_t *names;    /* by frame */
	size_t frame_count, frame_room;
};

static void speedscope_slice(void *state, const struct fxt_slice *slice, uint64_t ns, bool is_end)
{
	struct speedscope *s = state;
	uint32_t *frame = &s->frame_of[slice->name];

	if (*frame == 0) {
		fxt_make_room(s->names, s->frame_count, s->frame_room);
		s->names[s->frame_count] = slice->name;
		*frame = (uint32_t)++s->frame_count;
	}
	fxt_spill_add(&s->events, &(struct speedscope_event){.thread = slice->thread,
	                                  .frame = *frame - 1,
	                                  .is_end = is_end,
	                                  .number = s->events.count,
	                                  .ns = ns - s->start_ns});
}

static int speedscope_compare(const void *left, const void *right)
{
	const struct speedscope_event *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void speedscope_frames(const struct speedscope *s)
{
	FILE *out = s->e->out;

	for (size_t i = 0; i < s->frame_count; i++) {
		const struct fxt_origin *origin = fxt_origins_next(&s->scan->origins, s->names[i], NULL);

		fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", out);
		fxt_json_string(out, s->scan->tables.strings[s->names[i]]);
		if (origin && origin->file != FXT_NOTHING) {
			fputs(",\"file\":", out);
			fxt_json_string(out, s->scan->tables.strings[origin->file]);
		}
		if (origin && origin->line > 0)
			fprintf(out, ",\"line\":%" PRIu32, origin->line);
		putc('}', out);
	}
}

/* All profiles get the length of the trace, so that their times line up. */
static void speedscope_begin_profile(const struct speedscope *s, uint32_t thread, bool is_first)
{
	struct fxt_describer name;

	fxt_describe_begin(&name);
	fxt_describe_thread(name.out, s->scan, thread, true);
	fputs(is_first ? "\n" : "]},\n", s->e->out);
	fputs("{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":", s->e->out);
	fxt_json_string(s->e->out, fxt_describe_end(&name));
	fprintf(s->e->out, ",\"startValue\":0,\"endValue\":%" PRIu64 ",\"events\":[",
	        fxt_scan_ns(s->scan, s->scan->end) - s->start_ns);
	fxt_describe_free(&name);
}

static void speedscope_profiles(const struct speedscope *s)
{
	struct speedscope_event events[1024];
	FILE *out = s->e->out;
	uint32_t thread = 0;

	for (uint64_t first = 0; first < s->events.count;) {
		size_t count = s->events.count - first < 1024 ? (size_t)(s->events.count - first) : 1024;

		fxt_spill_read(&s->events, first, count, events);
		for (size_t i = 0; i < count; i++) {
			bool is_next = first + i == 0 || events[i].thread != thread;

			if (is_next)
				speedscope_begin_profile(s, events[i].thread, first + i == 0);
			thread = events[i].thread;
			fputs_unlocked(is_next ? "\n" : ",\n", out);
			fputs_unlocked(events[i].is_end ? "{\"type\":\"C\",\"frame\":"
			                                : "{\"type\":\"O\",\"frame\":",
			        out);
			fxt_export_number(out, events[i].frame);
			fputs_unlocked(",\"at\":", out);
			fxt_export_number(out, events[i].ns);
			putc_unlocked('}', out);
		}
		first += count;
	}
	if (s->events.count > 0)
		fputs("]}", out);
}

void fxt_export_speedscope(struct fxt_export *e)
{
	struct fxt_filter filter;
	struct fxt_scan scan;
	struct speedscope s = {.e = e, .scan = &scan};

	if (!fxt_export_scan_chosen(e, &scan, &filter))
		return;
	s.start_ns = fxt_scan_ns(&scan, scan.start);
	s.frame_of = fxt_allocate(scan.tables.string_count * sizeof(*s.frame_of));
	fxt_spill_init(&s.events, sizeof(struct speedscope_event), FXT_SPILL_MEMORY_BYTES);
	fxt_export_slices(e, &scan, speedscope_slice, &s);
	fxt_spill_sort(&s.events, speedscope_compare);
	fputs("{\"$schema\":\"https://www.speedscope.app/"
	      "file-format-schema.json\",\"exporter\":\"fxt " FXT_VERSION "\",\"name\":",
	        e->out);
	fxt_json_string(e->out, fxt_span(e->name));
	fputs(",\"shared\":{\"frames\":[", e->out);
	speedscope_frames(&s);
	fputs("\n]},\"profiles\":[", e->out);
	speedscope_profiles(&s);
	fputs("\n]}\n", e->out);
	fxt_spill_free(&s.events);
	free(s.frame_of);
	free(s.names);
	fxt_filter_free(&filter);
	fxt_scan_free(&scan);
}
