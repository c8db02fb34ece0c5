/*
 * What threads did besides calling functions: whether they ran, by the context switches of a trace, and when
 * the tracer made them wait, for its own sake, until there was room for records. Collected while a trace is
 * scanned.
 *
 *   fxt_pastimes_init(&pastimes);
 *   fxt_scan_told(&scan, source, NULL, &pastimes.listener);
 *   fxt_pastimes_finish(&pastimes, &scan);
 */
#ifndef FXT_READER_PASTIMES_H
#define FXT_READER_PASTIMES_H

#include "intervals.h"
#include "scan.h"
#include "timeline.h"

enum fxt_cpu_state { FXT_CPU_RUNNING, FXT_CPU_RUNNABLE, FXT_CPU_BLOCKED, FXT_CPU_STATES };

struct fxt_pastimes {
	struct fxt_scan_listener listener;
	struct fxt_timeline timeline;
	/* Once they are finished: */
	struct fxt_intervals waited;
	struct fxt_intervals cpu[FXT_CPU_STATES];
	uint64_t waits, waited_time; /* how often the tracer made threads wait, and how long, of the scan */
	bool has_switches;
};

/* Must stay where it is until it is freed. */
void fxt_pastimes_init(struct fxt_pastimes *p);
void fxt_pastimes_finish(struct fxt_pastimes *p, const struct fxt_scan *scan);
void fxt_pastimes_free(struct fxt_pastimes *p);

#endif
