/*
 * Counters: the values of each series in time. A series is one argument of the counters of
 * one name, category, id and process. The heap's live bytes and blocks are counters too.
 */
#ifndef FXT_READER_COUNTERS_H
#define FXT_READER_COUNTERS_H

#include "reader/slices/scan.h"

enum { FXT_COUNTER_BINS = 32 };

struct fxt_counter_sample {
	uint64_t time; /* in units of the scan */
	long double value;
};

/* The samples of a stretch of time, at the time of the last one. */
struct fxt_counter_point {
	uint64_t time; /* in units of the scan */
	double value, min, max;
	uint64_t offset; /* of the last one's record */
};

struct fxt_counter {
	uint64_t process, id;
	uint32_t name, category; /* ids of strings */
	struct fxt_span series;  /* owned */
	uint64_t samples;
	struct fxt_counter_sample first, last;
	long double min, max, sum;
	/* The last sample in each part of the trace's time; NULL if there is one sample,
	 * because a trace may have a series a record. */
	struct fxt_counter_sample *bins;
	uint32_t has_bin; /* a bit for each part that has a sample */
	/* For a picture, in the order of time: each sample, as long as there are few; then
	 * one point for each stretch of fxt_counters.width that has samples. */
	struct fxt_counter_point *points;
	size_t point_count, point_room;
};

struct fxt_counters {
	struct fxt_counter *items; /* by name, category, process, id and series */
	size_t count, room;
	struct fxt_index index;
	size_t point_limit; /* the most points of all counters together; 0: none are kept */
	size_t point_count;
	uint64_t width; /* in units of the scan; 0: each point is a sample */
};

/* Counters that have points: the first ones of the file's end. */
enum { FXT_COUNTERS_DRAWN = 100 };

/* Reads the counters that the scan's filter shows, with at most point_limit points. Returns
 * false if not all of the file could be read again. */
bool fxt_counters_read(struct fxt_counters *counters, const struct fxt_scan *scan, size_t point_limit);

/* The value in each part of the time, from 0 to `levels` - 1 between the least and the
 * greatest; it lasts until the next one. -1: there was none yet. */
void fxt_counter_levels(const struct fxt_counter *counter, int levels, int level_of[FXT_COUNTER_BINS]);

void fxt_counters_free(struct fxt_counters *counters);

#endif
