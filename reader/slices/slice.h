/*
 * A slice: a stretch of a thread's time with a name, as two passes over a trace hand it on (scan.h, walk.h).
 */
#ifndef FXT_READER_SLICE_H
#define FXT_READER_SLICE_H

#include <stdbool.h>
#include <stdint.h>

/* Times are in units of the scan. */
struct fxt_slice {
	uint64_t start;
	uint64_t end;                    /* >= start */
	uint64_t offset;                 /* of its record; of the Duration Begin record if it has two */
	uint32_t thread, name, category; /* ids of the tables */
	/* Of a function. Else the tracer tells of itself or of what the program waited for, or it is
	 * inherited: a call of the parent, where it is counted, that a forked child is inside of. */
	bool is_call, is_inherited;
	bool is_open; /* begun and never ended */
};

#endif
