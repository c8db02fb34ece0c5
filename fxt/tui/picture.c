/*
 * Draws the tracks of the timeline: items over columns, the ruler, names, and the details
 * of an item. Runs on the main thread, and draws from lanes that are in memory. It must not
 * read the trace.
 */
#include "picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include "fxt/terminal.h"
#include "fxt/describe.h"
#include "reader/trace/text.h"
#include "said.h"
#include "tui.h"
#include "writer/engine/loss.h"

enum {
	NAME_COLUMNS = 14,  /* least width at which a name is cut in its middle rather
	                       than at its end */
	COUNT_COLUMNS = 8,  /* least width at which an item shows the number of its
	                       slices */
	LABEL_COLUMNS = 14, /* width of a time */
};

/* ---- columns ---- */

struct pick {
	const struct fxt_lane_item *item;
	double cover;   /* the part of the column that it covers */
	unsigned begun; /* number of items that begin in the column */
};

static double picture_column(const struct fxt_picture *p, uint64_t ns)
{
	return ((double)ns - (double)p->from) * p->width / (double)(p->to - p->from);
}

static void picture_pick(const struct fxt_picture *p, struct pick *picks, const struct fxt_lane_item *item)
{
	double start = picture_column(p, item->start), end = picture_column(p, item->end);
	int first = start > 0 ? (int)start : 0;

	for (int i = first; i < p->width && (i < end || i == first); i++) {
		double cover = (end < i + 1 ? end : i + 1) - (start > i ? start : i);

		picks[i].begun += i == first;
		if (!picks[i].item || cover > picks[i].cover)
			picks[i] = (struct pick){item, cover, picks[i].begun};
	}
}

/* Picks for each column the item of a lane that is shown there. */
static void picture_pick_lane(const struct fxt_picture *p, struct pick *picks, const struct fxt_lane *lane)
{
	for (size_t i = lane ? fxt_track_after(lane, p->from) : 0; lane && i < lane->count; i++) {
		const struct fxt_lane_item *item = fxt_track_item(lane, i);

		if (item->start >= p->to)
			break;
		picture_pick(p, picks, item);
	}
}

/* ---- calls ---- */

static bool picture_is_loss(uint32_t name)
{
	return name == fxt_tui.scan->lost_name || name == fxt_tui.scan->overwritten_name;
}

static enum fxt_look picture_look(const struct fxt_picture *p, const struct fxt_lane_item *item)
{
	struct fxt_span name = fxt_tui.scan->tables.strings[item->name];

	if (item == p->selected)
		return FXT_LOOK_CURSOR;
	if (*p->found && fxt_prompt_matches(p->found, name))
		return FXT_LOOK_FOUND;
	if (picture_is_loss(item->name))
		return FXT_LOOK_LOST;
	return item->is_call ? fxt_screen_slice_look(item->name) : FXT_LOOK_WAIT;
}

/* Draws a picked item over its columns: where it begins, and its name; for several
 * slices, their number. */
static void picture_item(
        const struct fxt_picture *p, int line, int column, int width, const struct pick *pick)
{
	const struct fxt_lane_item *item = pick->item;
	bool is_several = item->count > 1 || (width == 1 && pick->begun > 1);
	struct fxt_span name = fxt_tui.scan->tables.strings[item->name];
	enum fxt_look look = picture_look(p, item);
	struct fxt_describer words;

	fxt_describe_begin(&words);
	if (item->start >= p->from)
		fputs(is_several ? "░" : "▏", words.out);
	if (picture_is_loss(item->name))
		for (int i = 0; i < width; i++)
			fputs("╳", words.out);
	else if (item->count > 1 && width >= COUNT_COLUMNS)
		fprintf(words.out, "%" PRIu64 "× ", item->count);
	if (item->count == 1 || width >= COUNT_COLUMNS)
		fwrite(name.data, 1, name.bytes, words.out);
	struct fxt_span text = fxt_describe_end(&words);

	/* In a narrow box a name cut in its middle could not be read. */
	unsigned columns = (unsigned)width;

	if (width < NAME_COLUMNS || picture_is_loss(item->name))
		text.bytes = fxt_text_beginning(text, &columns);
	fxt_screen_text(line, p->left + column, width, look, text);
	fxt_describe_free(&words);
}

static void picture_calls(const struct fxt_picture *p, int line, struct fxt_track track)
{
	struct pick *picks = fxt_allocate((size_t)p->width * sizeof(*picks));

	picture_pick_lane(p, picks,
	        track.kind == FXT_TRACK_ASYNC
	                ? fxt_track_lane(fxt_said_lanes(), track.thread - 1, (uint32_t)track.row)
	                : fxt_track_lane(&p->lanes->slices, track.thread, (uint32_t)track.row));
	for (int column = 0, end; column < p->width; column = end) {
		for (end = column + 1; end < p->width && picks[end].item == picks[column].item; end++)
			;
		if (picks[column].item)
			picture_item(p, line, column, end - column, &picks[column]);
	}
	free(picks);
}

/* ---- what became of a thread's time ---- */

static void picture_activity(const struct fxt_picture *p, int line, uint32_t thread)
{
	static const struct {
		const char *text;
		enum fxt_look look;
	} signs[] = {[FXT_ACTIVITY_UNKNOWN] = {" ", FXT_LOOK_PLAIN},
	        [FXT_RUNNING] = {"━", FXT_LOOK_RUNNING},
	        [FXT_RUNNABLE] = {"╍", FXT_LOOK_RUNNABLE},
	        [FXT_BLOCKED] = {"·", FXT_LOOK_BLOCKED}};
	struct pick *picks = fxt_allocate((size_t)p->width * sizeof(*picks));
	struct pick *lost = fxt_allocate((size_t)p->width * sizeof(*lost));

	picture_pick_lane(p, picks, fxt_track_lane(&p->lanes->activity, thread, 0));
	picture_pick_lane(p, lost, fxt_track_lane(fxt_tui.losses, thread, 0));
	for (int i = 0; i < p->width; i++) {
		if (lost[i].item)
			fxt_screen_text(line, p->left + i, 1, FXT_LOOK_LOST, fxt_span("╳"));
		else if (picks[i].item)
			fxt_screen_text(line, p->left + i, 1, signs[picks[i].item->name].look,
			        fxt_span(signs[picks[i].item->name].text));
	}
	free(picks);
	free(lost);
}

/* Draws a thread's name before its first track, if it has one, and its number before the
 * second. */
static void picture_thread(const struct fxt_picture *p, int line, struct fxt_track track, enum fxt_look look)
{
	const struct fxt_tables *t = &fxt_tui.scan->tables;
	uint64_t koid = t->threads[track.thread].thread;
	uint32_t name = fxt_tables_object_name(t, FXT_OBJECT_THREAD, koid);

	if (track.row == FXT_TRACK_ACTIVITY && name != FXT_NOTHING)
		fxt_screen_text(line, 0, p->left - 2, look, t->strings[name]);
	else if (track.row == (name != FXT_NOTHING ? 0 : FXT_TRACK_ACTIVITY))
		fxt_screen_print(line, 0, p->left - 2, track.row == 0 ? FXT_LOOK_FAINT : look,
		        "thread %" PRIu64, koid);
}

void fxt_picture_track(const struct fxt_picture *p, int line, struct fxt_track track, bool is_cursor)
{
	if (track.kind == FXT_TRACK_THREAD)
		picture_thread(p, line, track, FXT_LOOK_TITLE);
	else
		fxt_said_name(p, line, track, FXT_LOOK_TITLE);
	if (is_cursor)
		fxt_screen_print(line, p->left - 2, 1, FXT_LOOK_SORTED, ">");
	if (track.kind == FXT_TRACK_COUNTER)
		fxt_said_curve(p, line, track);
	else if (track.row == FXT_TRACK_ACTIVITY)
		picture_activity(p, line, track.thread);
	else
		picture_calls(p, line, track);
}

/* ---- times ---- */

void fxt_picture_ruler(const struct fxt_picture *p, int line)
{
	double step = 1, length = (double)(p->to - p->from);
	uint64_t since = p->from - p->origin;

	/* Steps are 1, 2, 5, 10, 20, 50, ... ns; the first is used with which labels
	 * fit. */
	for (unsigned i = 0; step * p->width < LABEL_COLUMNS * length; i++)
		step = i % 3 == 1 ? step / 2 * 5 : step * 2;
	fxt_screen_print(line, 0, p->left - 1, FXT_LOOK_TITLE, "%" PRIu64 ".%09" PRIu64 " s",
	        since / FXT_NS_PER_SECOND, since % FXT_NS_PER_SECOND);
	for (double at = 0; at * p->width <= (p->width - LABEL_COLUMNS) * length; at += step)
		fxt_screen_print(line, p->left + (int)(at * p->width / length), LABEL_COLUMNS, FXT_LOOK_FAINT,
		        "╷+%s", fxt_time_text(at).text);
}

static void picture_place(FILE *out, uint32_t name)
{
	const struct fxt_scan *scan = fxt_tui.scan;
	const struct fxt_origin *origin = fxt_origins_next(&scan->origins, name, NULL);

	fwrite(scan->tables.strings[name].data, 1, scan->tables.strings[name].bytes, out);
	if (!origin || origin->file == FXT_NOTHING)
		return;
	fputs("  ", out);
	fwrite(scan->tables.strings[origin->file].data, 1, scan->tables.strings[origin->file].bytes, out);
	if (origin->line > 0)
		fprintf(out, ":%" PRIu32, origin->line);
}

/* Prints the length and the start; for several slices, their sum and the longest. */
static void picture_times(FILE *out, const struct fxt_picture *p, const struct fxt_lane_item *item)
{
	if (item->count > 1)
		fprintf(out, "%" PRIu64 " slices, together %s, the longest %s", item->count,
		        fxt_time_text((double)item->sum).text, fxt_time_text((double)item->longest).text);
	else
		fputs(fxt_time_text((double)(item->end - item->start)).text, out);
	fprintf(out, "%s, %s after the start", item->is_open ? " (not ended)" : "",
	        fxt_time_text((double)(item->start - p->origin)).text);
}

static void picture_activity_words(FILE *out, const struct fxt_picture *p, const struct fxt_lane_item *item)
{
	static const char *const activities[] = {"unknown", "running", "runnable, but preempted", "blocked"};

	fprintf(out, "%s ", activities[item->name]);
	if (item->count > 1)
		fprintf(out, "most of %s, of which it ran %s",
		        fxt_time_text((double)(item->end - item->start)).text,
		        fxt_time_text((double)item->sum).text);
	else
		fputs(fxt_time_text((double)(item->end - item->start)).text, out);
	fprintf(out, ", %s after the start", fxt_time_text((double)(item->start - p->origin)).text);
}

/* The loss that a slice stands for; NULL: it is no loss, or several. */
static const struct fxt_lane_item *picture_lost(uint32_t thread, const struct fxt_lane_item *item)
{
	const struct fxt_lane *lane = fxt_track_lane(fxt_tui.losses, thread, 0);
	size_t place = lane ? fxt_track_after(lane, item->start) : 0;

	if (!picture_is_loss(item->name) || item->count > 1 || !lane || place == lane->count)
		return NULL;
	return fxt_track_item(lane, place);
}

static void picture_loss(FILE *out, const struct fxt_picture *p, const struct fxt_lane_item *item)
{
	struct fxt_span name = fxt_tui.scan->tables.strings[item->name];

	fprintf(out, "%" PRIu64 " record%s %s in %s, %s after the start", item->sum, fxt_plural(item->sum),
	        fxt_ends_with(name, FXT_LOSS_LOST) ? "lost" : "overwritten",
	        fxt_time_text((double)(item->end - item->start)).text,
	        fxt_time_text((double)(item->start - p->origin)).text);
}

void fxt_picture_details(const struct fxt_picture *p, int line, struct fxt_track track,
        const struct fxt_lane_item *item, bool is_loss)
{
	struct fxt_describer name, times;

	if (track.kind == FXT_TRACK_COUNTER)
		fxt_said_details(p, line, track);
	if (!item)
		return;
	fxt_describe_begin(&name);
	fxt_describe_begin(&times);
	if (track.row == FXT_TRACK_ACTIVITY) {
		fxt_describe_thread(name.out, fxt_tui.scan, track.thread, true);
		if (is_loss)
			picture_loss(times.out, p, item);
		else
			picture_activity_words(times.out, p, item);
	} else {
		const struct fxt_lane_item *lost =
		        track.kind == FXT_TRACK_THREAD ? picture_lost(track.thread, item) : NULL;

		picture_place(name.out, item->name);
		if (lost)
			picture_loss(times.out, p, lost);
		else
			picture_times(times.out, p, item);
		if (track.kind == FXT_TRACK_THREAD)
			fputs(", in ", times.out);
		else
			fputs(", async", times.out);
		if (track.kind == FXT_TRACK_THREAD)
			fxt_describe_thread(times.out, fxt_tui.scan, track.thread, false);
	}
	fxt_screen_text(line, 0, COLS, FXT_LOOK_TITLE, fxt_describe_end(&name));
	fxt_screen_text(line + 1, 0, COLS, FXT_LOOK_PLAIN, fxt_describe_end(&times));
	fxt_describe_free(&name);
	fxt_describe_free(&times);
}
