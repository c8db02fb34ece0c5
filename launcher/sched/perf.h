/*
 * Reads what the kernel reports without privilege of when each thread of a process ran, and on which CPU: the
 * context switch records of perf_event_open(2); and of when it touched a page that the kernel had to bring: a
 * sample of each page fault. Two events a CPU are opened on a process before its exec, each with a ring of
 * its own, so that many faults push out no switches; all threads and processes that come from it inherit
 * them. The process gets no descriptor of them, and cannot notice them.
 *
 * Every fault has a record, since a count tells nothing of the call it was in: the kernel puts counts into
 * samples only, and into no record of a switch. It costs a tenth of what the fault does [0.35 of 3.3 us].
 * The faults are those of the program's own instructions. Where the kernel touches its memory for a system
 * call, only the privileged are told.
 *
 * Who woke a thread, and when, the kernel reports to privileged users only (the tracepoint sched_wakeup): the
 * time between the wakeup and the return to a CPU is part of the wait here.
 */
#ifndef FXT_LAUNCHER_SCHED_PERF_H
#define FXT_LAUNCHER_SCHED_PERF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum fxt_perf_kind {
	FXT_PERF_IN,        /* the thread is switched in */
	FXT_PERF_OUT,       /* it is switched out, since it waits for something */
	FXT_PERF_PREEMPTED, /* it is switched out and could go on */
	FXT_PERF_EXIT,      /* it ends */
	FXT_PERF_FAULT,     /* it touched a page that was not there */
	FXT_PERF_LOST,      /* records are missing before this one: `pid` and `tid` mean nothing */
};

struct fxt_perf_record {
	enum fxt_perf_kind kind;
	uint32_t pid, tid;
	uint64_t ns; /* of CLOCK_MONOTONIC */
	uint64_t lost;
};

/* The records of one event on one CPU, in the order in which they happened there. */
struct fxt_perf_ring {
	uint32_t cpu;
	int fd; /* readable once a quarter of the ring is full; hung up when no traced process is left */
	struct perf_event_mmap_page *page; /* what the kernel shares; the data stands behind its first page */
	uint64_t bytes;                    /* of the data; a power of two */
};

struct fxt_perf {
	struct fxt_perf_ring *rings;  /* of context switches */
	struct fxt_perf_ring *faults; /* on the same CPUs; NULL: the kernel refuses these */
	unsigned count;
	int faults_error; /* why it does; 0: it does not */
};

/* Opens the events of a process that has yet to call exec, and of all that comes of it: they begin there,
 * with `on_exec`, or by fxt_perf_enable(). Returns 0, or why the kernel refuses (an errno value); closing is
 * then allowed and needless. */
int fxt_perf_open(struct fxt_perf *perf, pid_t pid, bool on_exec);

/* Begins, without what is still in the rings from before, and ends. Returns 0, or an errno value. */
int fxt_perf_enable(struct fxt_perf *perf);
void fxt_perf_disable(struct fxt_perf *perf);

void fxt_perf_close(struct fxt_perf *perf);

/* Returns where the records end that are in the ring now. */
uint64_t fxt_perf_end(const struct fxt_perf_ring *ring);

/* Takes the next record before `end` out of the ring; false if there is none. Records of other kinds are
 * skipped. */
bool fxt_perf_next(struct fxt_perf_ring *ring, uint64_t end, struct fxt_perf_record *record);

#endif
