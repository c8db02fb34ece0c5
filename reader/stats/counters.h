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
};

struct fxt_counters {
	struct fxt_counter *items; /* by name, category, process, id and series */
	size_t count, room;
	struct fxt_index index;
};

/* Reads the counters that the scan's filter shows. Returns false if not all of the file
 * could be read again. */
bool fxt_counters_read(struct fxt_counters *counters, const struct fxt_scan *scan);

/* The value in each part of the time, from 0 to `levels` - 1 between the least and the
 * greatest; it lasts until the next one. -1: there was none yet. */
void fxt_counter_levels(const struct fxt_counter *counter, int levels, int level_of[FXT_COUNTER_BINS]);

void fxt_counters_free(struct fxt_counters *counters);

#endif
