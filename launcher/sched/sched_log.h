/*
 * Context switches or page faults in memory, and how they become records of an archive. A switch is a
 * scheduling record (the format's section on context switch records), which says what thread leaves a CPU and
 * which one comes; the kernel reports the two apart, so that each gets a record of its own here, whose other
 * side is the idle thread. A fault is an instant event on its thread's row, of category "sched".
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_LOG_H
#define FXT_LAUNCHER_SCHED_SCHED_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include "launcher/session/archive.h"
#include "reader/time/faults.h"

/* How many are kept at most: 16 MB of memory, 24 MB of archive. */
#define FXT_SCHED_LOG_MAX (UINT64_C(1) << 19)

/* One thread is switched in on a CPU, or out; or it had a page fault. */
struct fxt_sched_event {
	uint64_t ticks;
	uint64_t koid;    /* of the thread, or of its row */
	uint64_t process; /* koid, of a page fault; 0: it is a switch */
	uint16_t cpu;
	bool in;
	uint8_t state; /* enum fxt_thread_state of one that is switched out */
};

struct fxt_sched_log {
	struct fxt_sched_event *items; /* a ring */
	uint64_t begin, end;           /* numbers of the first one in it, and of the next; they never wrap */
	bool keeps_last;               /* when it is full the oldest make room; else new ones are lost */
	uint64_t dropped;              /* that made room */
	uint64_t lost; /* that are in no record; who reads the rings adds those that the kernel lost */
	struct fxt_sched_event latest; /* that was put in */
};

/* Returns 0, or ENOMEM. */
int fxt_sched_log_open(struct fxt_sched_log *log, bool keeps_last);
void fxt_sched_log_close(struct fxt_sched_log *log);

void fxt_sched_log_put(struct fxt_sched_log *log, struct fxt_sched_event one);

/* Forgets those from before that time. The numbers of the others do not shrink: a CPU that has noted one
 * (sched_cpu.h) finds out by it that its switch-in was dropped, if anything too early. */
void fxt_sched_log_forget(struct fxt_sched_log *log, uint64_t ticks);

/* Writes the clock rate and the strings that the records refer to: before a provider's first. */
void fxt_sched_log_introduce(
        struct fxt_archive_writer *archive, struct fxt_archive_provider *provider, uint64_t ticks_per_second);

/* Writes all events of the log, which keeps them. */
void fxt_sched_log_write(const struct fxt_sched_log *log, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

/* Writes, at the latest fault there was, how many the log of faults does not have. */
void fxt_sched_log_write_missing(const struct fxt_sched_log *faults, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

/* Writes one switch that is not in the log any more. */
void fxt_sched_log_write_one(const struct fxt_sched_event *one, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

#endif
