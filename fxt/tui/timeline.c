/*
 * The timeline view of the threads: what is shown, what is selected, and keys. Runs on the
 * main thread. Drawing is done by picture.c, reading by window.c.
 */
#include "timeline.h"

#include <stdlib.h>
#include "find.h"
#include "picture.h"
#include "said.h"
#include "tui.h"

enum { SHORTEST = 16 }; /* least length of the visible range, in units of the scan */

static uint64_t from, to;             /* the visible range, in units of the scan; from <
                                         to */
static uint64_t drawn_from, drawn_to; /* the last visible range that could be drawn;
                                         equal: none was */
static struct fxt_track cursor;       /* the track with the cursor */
static uint64_t at;                   /* ns: selects the item of the track at this time,
                                         or the one next to it */
static struct fxt_slice shown;        /* the slice that was found last, to be selected
                                         once its lanes are read */
static bool is_to_be_selected;
static struct fxt_lane_item selected_for; /* the item that was selected for it: the
                                             slice, or the item that contains it */

static struct fxt_tracks tracks;
static struct fxt_picture picture;
static bool is_loss; /* the selection is a loss */
static size_t top, page = 1;

static uint64_t timeline_ns(uint64_t time)
{
	return fxt_scan_ns(fxt_tui.scan, time);
}

/* ---- what is looked at ---- */

/* Shows a range of this length from a moment on, or as much of it as there is. */
static void timeline_look(uint64_t begin, uint64_t length)
{
	uint64_t first, last;

	fxt_window_boundaries(&first, &last);
	if (length < SHORTEST)
		length = SHORTEST;
	if (length > last - first)
		length = last - first;
	from = begin < first ? first : begin > last - length ? last - length : begin;
	to = from + length;
}

static void timeline_pan(bool is_forward)
{
	uint64_t step = (to - from) / 4;

	timeline_look(is_forward ? from + step : from > step ? from - step : 0, to - from);
}

/* The middle of the visible part of the selected item, in ns; without a selection, of
 * the visible range. */
static uint64_t timeline_middle(void)
{
	const struct fxt_lane_item *item = picture.selected;
	uint64_t start = item && item->start > picture.from ? item->start : picture.from;
	uint64_t end = item && item->end < picture.to ? item->end : picture.to;

	return start < end ? start + (end - start) / 2 : start;
}

/* Zooms. The selected item keeps its place on the screen. */
static void timeline_zoom(bool is_closer)
{
	uint64_t half = (to - from) / 2;
	uint64_t length = is_closer ? half : half > UINT64_MAX / 4 ? UINT64_MAX : 4 * half;
	double share = (double)(timeline_middle() - picture.from) / (double)(picture.to - picture.from);

	share = share < 0.999 ? share : 0.999;
	uint64_t middle = from + (uint64_t)(share * (double)(to - from));
	uint64_t before = (uint64_t)(share * (double)length);

	timeline_look(middle > before ? middle - before : 0, length);
}

static uint64_t timeline_units(uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * fxt_tui.scan->rate.ticks_per_second / FXT_NS_PER_SECOND);
}

/* Shows a range of time with a tenth of its length on both sides. */
static void timeline_look_around(uint64_t start, uint64_t end)
{
	uint64_t length = end - start, around = length / 10 + 1;

	if (length > UINT64_MAX / 2)
		timeline_look(0, UINT64_MAX);
	else
		timeline_look(start > around ? start - around : 0, length + 2 * around);
}

/* ---- what is selected ---- */

static const struct fxt_lane *timeline_lane(void)
{
	is_loss = false;
	if (cursor.kind != FXT_TRACK_THREAD)
		return cursor.kind == FXT_TRACK_ASYNC
		               ? fxt_track_lane(fxt_said_lanes(), cursor.thread - 1, (uint32_t)cursor.row)
		               : NULL;
	if (cursor.row != FXT_TRACK_ACTIVITY)
		return fxt_track_lane(&picture.lanes->slices, cursor.thread, (uint32_t)cursor.row);
	const struct fxt_lane *lost = fxt_track_lane(fxt_tui.losses, cursor.thread, 0);
	size_t place = lost ? fxt_track_after(lost, at) : 0;

	is_loss = lost && place < lost->count && fxt_track_item(lost, place)->start <= at;
	return is_loss ? lost : fxt_track_lane(&picture.lanes->activity, cursor.thread, 0);
}

/* Returns the item of the cursor's track at the time of the last selection, or else the
 * first one after it, or before it. */
static const struct fxt_lane_item *timeline_select(void)
{
	const struct fxt_lane *lane = timeline_lane();

	if (!lane || lane->count == 0)
		return NULL;
	size_t place = fxt_track_after(lane, at);
	const struct fxt_lane_item *item = fxt_track_item(lane, place < lane->count ? place : place - 1);

	return item->start < picture.to && item->end >= picture.from ? item : NULL;
}

/* Returns the time that identifies an item. Its first moment is not used, because an
 * item without length may be there too. */
static uint64_t timeline_moment(uint64_t start, uint64_t end)
{
	return start + (end - start > 1);
}

/* Selects the row of the slice that was found. */
static void timeline_select_shown(void)
{
	uint64_t start = timeline_ns(shown.start), end = start + timeline_ns(shown.end - shown.start);

	cursor = (struct fxt_track){shown.thread, 0, FXT_TRACK_THREAD};
	at = timeline_moment(start, end);
	for (uint32_t row = 0; row < FXT_LANE_ROWS; row++) {
		const struct fxt_lane *lane = fxt_track_lane(&picture.lanes->slices, shown.thread, row);
		size_t place = lane ? fxt_track_after(lane, at) : 0;

		if (!lane || place == lane->count)
			continue;
		const struct fxt_lane_item *item = fxt_track_item(lane, place);

		if (item->start <= start && item->end >= end)
			cursor.row = (int)row;
		if (item->start == start && item->end == end && item->name == shown.name)
			return;
	}
}

/* Returns the item next to the selected one in its track that is found by its moment;
 * NULL: there is none. */
static const struct fxt_lane_item *timeline_beside(bool is_forward)
{
	const struct fxt_lane *lane = timeline_lane();
	size_t place = lane && picture.selected ? fxt_track_after(lane, at) : 0;

	while (picture.selected && (is_forward ? place + 1 < lane->count : place > 0)) {
		place = is_forward ? place + 1 : place - 1;
		const struct fxt_lane_item *item = fxt_track_item(lane, place);

		if (fxt_track_after(lane, timeline_moment(item->start, item->end)) == place)
			return item;
	}
	return NULL;
}

/* Selects the item next to the selected one; the visible range follows. */
static void timeline_step(bool is_forward)
{
	const struct fxt_lane_item *item = timeline_beside(is_forward);

	if (!item) {
		timeline_pan(is_forward);
		at = timeline_ns(from + (to - from) / 2);
		return;
	}
	at = timeline_moment(item->start, item->end);
	if (item->start < timeline_ns(from) || item->start >= timeline_ns(to)) {
		uint64_t middle = timeline_units(item->start), half = (to - from) / 2;

		timeline_look(middle > half ? middle - half : 0, to - from);
	}
}

void fxt_timeline_show(const struct fxt_slice *slice)
{
	timeline_look_around(slice->start, slice->end);
	shown = *slice;
	is_to_be_selected = true;
	fxt_tui.view = FXT_TUI_TIMELINE;
}

/* ---- the view ---- */

/* The first track of a thread; if there is none, the first track. */
static struct fxt_track timeline_first(void)
{
	for (size_t i = 0; i < tracks.count; i++)
		if (tracks.items[i].kind == FXT_TRACK_THREAD)
			return (struct fxt_track){tracks.items[i].thread, 0, FXT_TRACK_THREAD};
	return tracks.items[0];
}

/* Returns true if there is something to draw. There may be none, because reading can be
 * stopped. */
static bool timeline_prepare(void)
{
	const struct fxt_scan *scan = fxt_tui.scan;
	int left = COLS / 6 < 16 ? 16 : COLS / 6 > 26 ? 26 : COLS / 6;

	if (from == to)
		timeline_look(0, UINT64_MAX);
	picture = (struct fxt_picture){.left = left,
	        .width = COLS - left,
	        .from = timeline_ns(from),
	        .to = timeline_ns(to),
	        .origin = timeline_ns(scan->start),
	        .found = fxt_tui.prompt.search};
	if (picture.to <= picture.from)
		picture.to = picture.from + 1;
	picture.lanes = fxt_window_read(from, to, (unsigned)picture.width);
	if (!picture.lanes)
		return false;
	drawn_from = from;
	drawn_to = to;
	fxt_tracks_update(&tracks, picture.lanes);
	if (is_to_be_selected)
		timeline_select_shown();
	if (tracks.count > 0 && cursor.thread == FXT_NOTHING)
		cursor = timeline_first();
	if (tracks.count > 0)
		cursor = tracks.items[fxt_tracks_find(&tracks, cursor)];
	if (at < picture.from || at > picture.to)
		at = picture.from + (picture.to - picture.from) / 2;
	picture.selected = timeline_select();
	if (is_to_be_selected && picture.selected)
		selected_for = *picture.selected;
	return true;
}

/* Goes back to the last range that was drawn, or to a view that does not need the range. */
static void timeline_go_back(void)
{
	if (drawn_from == drawn_to || (from == drawn_from && to == drawn_to))
		fxt_tui.view = FXT_TUI_FUNCTIONS;
	from = drawn_from;
	to = drawn_to;
	is_to_be_selected = false;
	picture.selected = NULL;
	fxt_tui_note("reading the timeline was stopped");
}

static bool timeline_draw(int line, int lines)
{
	if (!timeline_prepare()) {
		timeline_go_back();
		return false;
	}
	size_t place = fxt_tracks_find(&tracks, cursor);

	page = lines > 4 ? (size_t)lines - 3 : 1;
	if (is_to_be_selected)
		top = place > page / 2 ? place - page / 2 : 0;
	is_to_be_selected = false;
	if (top + page > tracks.count)
		top = tracks.count > page ? tracks.count - page : 0;
	top = place < top ? place : place >= top + page ? place - page + 1 : top;
	fxt_picture_ruler(&picture, line);
	for (size_t i = top; i < tracks.count && i < top + page; i++)
		fxt_picture_track(&picture, line + 1 + (int)(i - top), tracks.items[i], i == place);
	fxt_picture_details(&picture, line + lines - 2, cursor, picture.selected, is_loss);
	return true;
}

/* Moves the cursor down by this many tracks, or up. */
static void timeline_move(ptrdiff_t lines)
{
	if (picture.selected)
		at = timeline_middle();
	ptrdiff_t place = (ptrdiff_t)fxt_tracks_find(&tracks, cursor) + lines;
	ptrdiff_t last = (ptrdiff_t)tracks.count - 1;

	if (tracks.count > 0)
		cursor = tracks.items[place < 0 ? 0 : place > last ? last : place];
}

static bool timeline_key_line(struct fxt_key key)
{
	if (key.other == KEY_UP || key.character == 'k')
		timeline_move(-1);
	else if (key.other == KEY_DOWN || key.character == 'j')
		timeline_move(1);
	else if (key.other == KEY_PPAGE)
		timeline_move(-(ptrdiff_t)page);
	else if (key.other == KEY_NPAGE)
		timeline_move((ptrdiff_t)page);
	else if (key.other == KEY_HOME || key.character == 'g')
		timeline_move(-(ptrdiff_t)tracks.count);
	else if (key.other == KEY_END || key.character == 'G')
		timeline_move((ptrdiff_t)tracks.count);
	else
		return false;
	return true;
}

static void timeline_key(struct fxt_key key)
{
	wint_t c = key.character;

	if (timeline_key_line(key))
		return;
	if (c == 'w' || c == '+' || c == 's' || c == '-')
		timeline_zoom(c == 'w' || c == '+');
	else if (c == 'a' || c == 'd')
		timeline_pan(c == 'd');
	else if (key.other == KEY_LEFT || key.other == KEY_RIGHT)
		timeline_step(key.other == KEY_RIGHT);
	else if ((c == 'f' || c == '\n' || c == '\r') && picture.selected)
		timeline_look_around(
		        timeline_units(picture.selected->start), timeline_units(picture.selected->end));
	else if (c == '0')
		timeline_look(0, UINT64_MAX);
}

/* Searches from the slice that was found last, as long as the item selected for it is
 * still selected; otherwise from the beginning of the visible range. */
static void timeline_search(bool is_forward)
{
	const struct fxt_scan *scan = fxt_tui.scan;
	bool *is_wanted = fxt_allocate(scan->tables.string_count * sizeof(*is_wanted));
	const struct fxt_lane_item *item = picture.selected;
	bool is_shown = item && item->name == selected_for.name && item->start == selected_for.start &&
	                item->end == selected_for.end;
	struct fxt_slice found;

	for (size_t i = 0; i < scan->tables.string_count; i++)
		is_wanted[i] = fxt_prompt_matches(fxt_tui.prompt.search, scan->tables.strings[i]);
	fxt_tui_busy("searching");
	bool has_found = fxt_find_slice(&found, scan, is_wanted, is_shown ? shown.start : from,
	        is_shown ? shown.offset : 0, is_forward);

	if (!has_found && !fxt_tui_was_stopped()) {
		uint64_t beyond = is_forward ? 0 : UINT64_MAX;

		has_found = fxt_find_slice(&found, scan, is_wanted, beyond, beyond, is_forward);
		fxt_tui_note(is_forward ? "from the beginning again" : "from the end again");
	}
	if (fxt_tui_was_stopped())
		fxt_tui_note("searching was stopped");
	else if (has_found)
		fxt_timeline_show(&found);
	else
		fxt_tui_note("nothing has '%s' in its name", fxt_tui.prompt.search);
	free(is_wanted);
}

static void timeline_free(void)
{
	fxt_tracks_free(&tracks);
	fxt_window_free();
}

const struct fxt_tui_page fxt_tui_timeline = {.title = "Timeline",
        .keys = "w s zoom  a d pan  ←→↑↓ select  f zoom to it  0 all  / search  ? help  q quit",
        .draw = timeline_draw,
        .key = timeline_key,
        .search = timeline_search,
        .free = timeline_free};
