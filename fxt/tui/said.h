/*
 * The program's own events as tracks of the timeline: async spans, a few rows
 * for each name, and counters, a row each. They are read once, before the screen begins.
 */
#ifndef FXT_FXT_TUI_SAID_H
#define FXT_FXT_TUI_SAID_H

#include "fxt/async_lanes.h"
#include "picture.h"
#include "reader/stats/counters.h"
#include "screen.h"

/* Rows of a name's async spans that are shown; on a terminal more would hide the threads. */
enum { FXT_SAID_ROWS = 6 };

/* Returns false if not all of the file could be read again. */
bool fxt_said_read(const struct fxt_scan *scan);
void fxt_said_free(void);

/* The async spans: the rows of the track with this index, from 0; 0: there is none. */
int fxt_said_async_rows(size_t track);

/* Whether there is a counter with this index, and whether it has a track: the heap's have
 * none. */
bool fxt_said_has_counter(size_t counter);
bool fxt_said_shows_counter(size_t counter);

/* The lanes of async spans, by the index of their track. */
const struct fxt_lanes *fxt_said_lanes(void);

/* Draws a track: its name, and of a counter its values; and two lines that describe it. */
void fxt_said_name(const struct fxt_picture *picture, int line, struct fxt_track track, enum fxt_look look);
void fxt_said_curve(const struct fxt_picture *picture, int line, struct fxt_track track);
void fxt_said_details(const struct fxt_picture *picture, int line, struct fxt_track track);

#endif
