/*
 * Context switches or page faults in memory, and their conversion to records of an archive.
 * A switch is a scheduling record (the format's section on context switch records) with the
 * thread that leaves a CPU and the thread that comes. The kernel reports the two
 * separately, so each gets a record of its own here, with the idle thread on the other
 * side. A fault is an instant event of category "sched" on its thread's fault track.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_LOG_H
#define FXT_LAUNCHER_SCHED_SCHED_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include "launcher/manager/archive.h"
#include "reader/time/faults.h"

/* The largest number of events kept: 16 MB of memory, 24 MB of archive. */
#define FXT_SCHED_LOG_MAX (UINT64_C(1) << 19)

/* One thread is switched in on a CPU, or out; or it had a page fault. */
struct fxt_sched_event {
	uint64_t ticks;
	uint64_t koid;    /* of the thread, or of its fault track */
	uint64_t process; /* koid of the process, for a page fault; 0: it is a switch */
	uint16_t cpu;
	bool in;
	uint8_t state; /* enum fxt_thread_state of a thread that is switched out */
};

struct fxt_sched_log {
	struct fxt_sched_event *items; /* a ring */
	uint64_t begin, end;           /* numbers of the first event in it, and of the next
	                                * one; they never wrap */
	bool keeps_last;               /* a full ring drops its oldest events; otherwise new
	                                * ones are lost */
	uint64_t dropped;              /* number of dropped events */
	/* events without a record; the reader of the rings adds those that the kernel
	 * lost */
	uint64_t lost;
	struct fxt_sched_event latest; /* the last one added */
};

/* Returns 0, or ENOMEM. */
int fxt_sched_log_open(struct fxt_sched_log *log, bool keeps_last);
void fxt_sched_log_close(struct fxt_sched_log *log);

void fxt_sched_log_put(struct fxt_sched_log *log, struct fxt_sched_event one);

/* Forgets events before that time. The numbers of the others do not decrease: by the number
 * it has noted, a CPU (sched_cpu.h) finds that its switch-in was dropped, if anything too
 * early. */
void fxt_sched_log_forget(struct fxt_sched_log *log, uint64_t ticks);

/* Writes the clock rate and the strings used by the records; before a provider's first
 * record. */
void fxt_sched_log_introduce(
        struct fxt_archive_writer *archive, struct fxt_archive_provider *provider, uint64_t ticks_per_second);

/* Writes all events of the log, which keeps them. */
void fxt_sched_log_write(const struct fxt_sched_log *log, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

/* Writes the number of faults missing from the log, at the time of the latest fault. */
void fxt_sched_log_write_missing(const struct fxt_sched_log *faults, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

/* Writes one switch that is not in the log any more. */
void fxt_sched_log_write_one(const struct fxt_sched_event *one, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

#endif
