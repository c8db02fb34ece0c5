/*
 * Draws async spans and counters in the terminal's timeline (said.h). Runs on the main
 * thread, from data in memory.
 */
#include "said.h"

#include <inttypes.h>
#include <math.h>
#include "fxt/describe.h"
#include "reader/trace/text.h"
#include "tui.h"
#include "writer/shared/search.h"

enum { ITEMS_MAX = 100000, POINTS_MAX = 100000 };

static struct fxt_async_lanes async;
static struct fxt_counters counters;

bool fxt_said_read(const struct fxt_scan *scan)
{
	bool is_whole = fxt_async_lanes_read(&async, scan, ITEMS_MAX);

	if (scan->event_types & 1u << FXT_EVENT_COUNTER)
		is_whole &= fxt_counters_read(&counters, scan, POINTS_MAX);
	return is_whole;
}

void fxt_said_free(void)
{
	fxt_async_lanes_free(&async);
	fxt_counters_free(&counters);
}

int fxt_said_async_rows(size_t track)
{
	if (track >= async.count)
		return 0;
	return async.tracks[track].rows < FXT_SAID_ROWS ? (int)async.tracks[track].rows : FXT_SAID_ROWS;
}

bool fxt_said_has_counter(size_t counter)
{
	return counter < counters.count;
}

bool fxt_said_shows_counter(size_t counter)
{
	const struct fxt_counter *c = &counters.items[counter];

	return c->point_count > 0 && !fxt_span_is(fxt_tui.scan->tables.strings[c->category], "heap");
}

const struct fxt_lanes *fxt_said_lanes(void)
{
	return &async.lanes;
}

/* ---- names ---- */

static void said_write(FILE *out, uint32_t string)
{
	struct fxt_span text = fxt_tui.scan->tables.strings[string];

	fwrite(text.data, 1, text.bytes, out);
}

static void said_write_counter(FILE *out, const struct fxt_counter *c)
{
	said_write(out, c->name);
	fprintf(out, " %" PRIu64 " ", c->id);
	fwrite(c->series.data, 1, c->series.bytes, out);
}

/* Writes the label of a row of async spans. */
static void said_write_async(FILE *out, const struct fxt_async_track *track, int row)
{
	if (row == 0)
		said_write(out, track->name);
	if (row == 0 && track->is_shared) {
		fputs(" [", out);
		said_write(out, track->category);
		fputs("]", out);
	}
	if (row == 1)
		fprintf(out, "%" PRIu64 " async span%s", track->spans, fxt_plural(track->spans));
	if (row == FXT_SAID_ROWS - 1 && track->rows > FXT_SAID_ROWS)
		fprintf(out, "%zu more rows", track->rows - FXT_SAID_ROWS);
}

void fxt_said_name(const struct fxt_picture *p, int line, struct fxt_track track, enum fxt_look look)
{
	struct fxt_describer text;

	fxt_describe_begin(&text);
	if (track.kind == FXT_TRACK_COUNTER)
		said_write_counter(text.out, &counters.items[track.thread - 1]);
	else
		said_write_async(text.out, &async.tracks[track.thread - 1], track.row);
	fxt_screen_text(line, 0, p->left - 2, track.row > 0 ? FXT_LOOK_FAINT : look, fxt_describe_end(&text));
	fxt_describe_free(&text);
}

/* ---- counters ---- */

static uint64_t said_ns(const struct fxt_counter *c, size_t point)
{
	return fxt_scan_ns(fxt_tui.scan, c->points[point].time);
}

/* The first point behind a moment. */
static size_t said_after(const struct fxt_counter *c, uint64_t ns)
{
	return partition_point(i, c->point_count, said_ns(c, i) <= ns);
}

/* The greatest value in a column, which a value before it lasts into; not a number: none. */
static double said_value(const struct fxt_counter *c, uint64_t from, uint64_t to)
{
	size_t first = said_after(c, from), behind = said_after(c, to);
	double value = first > 0 ? c->points[first - 1].value : NAN;

	for (size_t i = first; i < behind; i++)
		value = fmax(value, c->points[i].max);
	return value;
}

void fxt_said_curve(const struct fxt_picture *p, int line, struct fxt_track track)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	const struct fxt_counter *c = &counters.items[track.thread - 1];
	double low = fmin((double)c->min, 0), high = fmax((double)c->max, low);
	uint64_t length = p->to - p->from, columns = (uint64_t)p->width;

	for (int i = 0; i < p->width; i++) {
		uint64_t from = p->from + (uint64_t)((unsigned __int128)length * (unsigned)i / columns);
		uint64_t to = p->from + (uint64_t)((unsigned __int128)length * ((unsigned)i + 1) / columns);
		double value = said_value(c, from, to), share = (value - low) / (high - low);

		if (!isnan(value))
			fxt_screen_text(line, p->left + i, 1, FXT_LOOK_RUNNING,
			        fxt_span(bars[share > 0 ? (int)(fmin(share, 1) * 7 + 0.5) : 0]));
	}
}

/* ---- details ---- */

void fxt_said_details(const struct fxt_picture *p, int line, struct fxt_track track)
{
	const struct fxt_counter *c = &counters.items[track.thread - 1];
	struct fxt_describer name, values;
	double shown = said_value(c, p->to, p->to);

	fxt_describe_begin(&name);
	fxt_describe_begin(&values);
	said_write_counter(name.out, c);
	fputs(" [", name.out);
	said_write(name.out, c->category);
	fprintf(name.out, "] of process %" PRIu64, c->process);
	fprintf(values.out, "%" PRIu64 " sample%s, from %.6Lg to %.6Lg", c->samples, fxt_plural(c->samples),
	        c->min, c->max);
	if (!isnan(shown))
		fprintf(values.out, ", %.6g at the right edge", shown);
	fxt_screen_text(line, 0, COLS, FXT_LOOK_TITLE, fxt_describe_end(&name));
	fxt_screen_text(line + 1, 0, COLS, FXT_LOOK_PLAIN, fxt_describe_end(&values));
	fxt_describe_free(&name);
	fxt_describe_free(&values);
}
