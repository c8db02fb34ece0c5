/*
 * Context switches in memory, and how they become scheduling records of an archive (the format's section on
 * context switch records). A record of the format says which thread leaves a CPU and which one comes; the
 * kernel reports the two apart, so that each gets a record of its own here, whose other side is the idle
 * thread.
 */
#ifndef FXT_LAUNCHER_SCHED_SWITCH_LOG_H
#define FXT_LAUNCHER_SCHED_SWITCH_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include "launcher/session/archive.h"

/* How many are kept at most: 12 MB of memory, 24 MB of archive. */
#define FXT_SWITCH_LOG_MAX (UINT64_C(1) << 19)

/* One thread is switched in on a CPU, or out. */
struct fxt_switch {
	uint64_t ticks;
	uint64_t koid;
	uint16_t cpu;
	bool in;
	uint8_t state; /* enum fxt_thread_state of one that is switched out */
};

struct fxt_switch_log {
	struct fxt_switch *items; /* a ring */
	uint64_t begin, end;      /* numbers of the first switch in it, and of the next; they never wrap */
	bool keeps_last;          /* when it is full the oldest make room; else new ones are lost */
	uint64_t lost; /* switches that are in no record; sched_cpu adds those that the kernel lost */
};

/* Returns 0, or ENOMEM. */
int fxt_switch_log_open(struct fxt_switch_log *log, bool keeps_last);
void fxt_switch_log_close(struct fxt_switch_log *log);

void fxt_switch_log_put(struct fxt_switch_log *log, struct fxt_switch one);

/* Forgets those from before that time. The numbers of the others do not shrink: a CPU that has noted one
 * (sched_cpu.h) finds out by it that its switch-in was dropped, if anything too early. */
void fxt_switch_log_forget(struct fxt_switch_log *log, uint64_t ticks);

/* Writes the clock rate and the strings that the records of switches refer to: before a provider's first. */
void fxt_switch_log_introduce(
        struct fxt_archive_writer *archive, struct fxt_archive_provider *provider, uint64_t ticks_per_second);

/* Writes all switches of the log, which keeps them. */
void fxt_switch_log_write(const struct fxt_switch_log *log, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

/* Writes one switch that is not in the log any more. */
void fxt_switch_write(const struct fxt_switch *one, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

#endif
