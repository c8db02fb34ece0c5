/*
 * Reads the kernel's unprivileged reports about the threads of a process. These are the
 * times at which each thread ran and on which CPU (context switch records of
 * perf_event_open(2)), and the times of its page faults (a sample of each). Two events per
 * CPU are opened on a process before its exec. Each has a ring of its own, so that many
 * faults push out no switches. All threads and processes that descend from the process
 * inherit the events. The process gets no descriptor of them, and cannot notice them.
 *
 * Each fault has its own record, since a count would not show the call it occurred in: the
 * kernel puts counts only into samples, and not into records of a switch. A record costs a
 * tenth of the fault itself [0.35 of 3.3 us]. Only faults of the program's own instructions
 * are reported. Faults on its memory during a system call are reported to privileged users
 * only.
 *
 * The kernel reports the time of a wakeup, and the waking thread, to privileged users only
 * (the tracepoint sched_wakeup). The time between the wakeup and the return to a CPU is
 * part of the wait here.
 */
#ifndef FXT_LAUNCHER_SCHED_PERF_H
#define FXT_LAUNCHER_SCHED_PERF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum fxt_perf_kind {
	FXT_PERF_IN,        /* the thread is switched in */
	FXT_PERF_OUT,       /* switched out because it waits */
	FXT_PERF_PREEMPTED, /* switched out although it could go on */
	FXT_PERF_EXIT,      /* it ends */
	FXT_PERF_FAULT,     /* it touched a page that was not present */
	FXT_PERF_LOST,      /* records are missing before this one; `pid` and `tid` are
	                     * undefined */
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
	int fd; /* readable when a quarter of the ring is full; hung up when no traced
	         * process is left */
	struct perf_event_mmap_page *page; /* memory shared by the kernel; the data begins
	                                    * behind the first page */
	uint64_t bytes;                    /* of the data; a power of two */
};

struct fxt_perf {
	struct fxt_perf_ring *rings;  /* for context switches */
	struct fxt_perf_ring *faults; /* for faults, on the same CPUs; NULL: the kernel
	                               * refuses them */
	unsigned count;
	int faults_error; /* reason for that refusal; 0: not refused */
};

/* Opens the events of a process that has yet to call exec, and of all its descendants. With
 * `on_exec` they begin at the exec, else at fxt_perf_enable(). Returns 0, or an errno value
 * for the kernel's refusal; closing is then allowed and not needed. */
int fxt_perf_open(struct fxt_perf *perf, pid_t pid, bool on_exec);

/* Begins reporting, without the records left in the rings, and ends it. fxt_perf_enable()
 * returns 0, or an errno value. */
int fxt_perf_enable(struct fxt_perf *perf);
void fxt_perf_disable(struct fxt_perf *perf);

void fxt_perf_close(struct fxt_perf *perf);

/* Returns the present end of the records in the ring. */
uint64_t fxt_perf_end(const struct fxt_perf_ring *ring);

/* Takes the next record before `end` out of the ring; false if there is none. Skips records
 * of other kinds. */
bool fxt_perf_next(struct fxt_perf_ring *ring, uint64_t end, struct fxt_perf_record *record);

#endif
