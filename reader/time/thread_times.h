/*
 * The states of threads, besides their calls: whether they ran, by the trace's context
 * switches, and when the tracer made them wait for room for records. Collected during a
 * scan.
 *
 *   fxt_thread_times_init(&times);
 *   fxt_scan_listened(&scan, source, NULL, &times.listener);
 *   fxt_thread_times_finish(&times, &scan);
 */
#ifndef FXT_READER_THREAD_TIMES_H
#define FXT_READER_THREAD_TIMES_H

#include "intervals.h"
#include "reader/slices/scan.h"
#include "timeline.h"

enum fxt_cpu_state { FXT_CPU_RUNNING, FXT_CPU_RUNNABLE, FXT_CPU_BLOCKED, FXT_CPU_STATES };

struct fxt_thread_times {
	struct fxt_scan_listener listener;
	struct fxt_timeline timeline;
	/* Valid once finished: */
	struct fxt_intervals waited;
	struct fxt_intervals cpu[FXT_CPU_STATES];
	uint64_t waits, waited_time; /* how often and how long the tracer made threads wait,
	                                in units of the scan */
	bool has_switches;
};

/* The time of a slice as every sum has it: a call's without the waits for the tracer inside
 * it, which are no time of the program's. `waited` reads them; NULL: there are none. */
static inline uint64_t fxt_own_time(struct fxt_interval_reader *waited, const struct fxt_slice *slice)
{
	uint64_t time = slice->end - slice->start;

	return waited && slice->is_call ? time - fxt_intervals_between(waited, slice->start, slice->end)
	                                : time;
}

/* Reads the waits for the tracer that the scan's filter chooses. A scan is enough for that,
 * and no listener is needed. Returns their number, and in *time their sum. The caller frees
 * them with fxt_intervals_free(). */
uint64_t fxt_waited_read(struct fxt_intervals *waited, const struct fxt_scan *scan, uint64_t *time);

/* The struct must not move until it is freed. */
void fxt_thread_times_init(struct fxt_thread_times *p);
void fxt_thread_times_finish(struct fxt_thread_times *p, const struct fxt_scan *scan);
void fxt_thread_times_free(struct fxt_thread_times *p);

#endif
