/*
 * A slice: a stretch of a thread's time with a name. The two passes over a trace (scan.h,
 * walk.h) hand slices on.
 */
#ifndef FXT_READER_SLICE_H
#define FXT_READER_SLICE_H

#include <stdbool.h>
#include <stdint.h>

/* Times are in units of the scan. */
struct fxt_slice {
	uint64_t start;
	uint64_t end; /* >= start */
	/* of its record; of the Duration Begin record if it has two */
	uint64_t offset;
	uint32_t thread, name, category; /* ids of the tables */
	/* is_call: the slice is a call of a function. Otherwise it is the tracer's report
	 * about itself or about a wait of the program, or it is inherited: a call of the
	 * parent that a forked child is inside of, counted in the parent. */
	bool is_call, is_inherited;
	bool is_open; /* begun and never ended */
};

#endif
