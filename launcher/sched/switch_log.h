/*
 * Context switches in memory, and how they become scheduling records of an archive (the format's section on
 * context switch records). In a record one thread leaves a CPU and another one comes; the kernel tells us of
 * each by itself, and the other side is the idle thread here, whatever it was.
 */
#ifndef FXT_LAUNCHER_SCHED_SWITCH_LOG_H
#define FXT_LAUNCHER_SCHED_SWITCH_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include "launcher/session/archive.h"

/* That are kept at most: 12 MB, and 20 in the archive. */
#define FXT_SWITCH_LOG_MAX (UINT64_C(1) << 19)

/* A thread comes to a CPU or leaves it. */
struct fxt_switch {
	uint64_t ticks;
	uint64_t koid;
	uint16_t cpu;
	bool in;
	uint8_t state; /* enum fxt_thread_state of one that leaves */
};

struct fxt_switch_log {
	struct fxt_switch *items; /* a ring */
	uint64_t begin, end;      /* of what is in it; they count without end */
	bool keeps_last;          /* when it is full; else the first */
	uint64_t lost; /* those that should have been there and are not, to be counted by others too */
};

/* Returns 0, or ENOMEM. */
int fxt_switch_log_open(struct fxt_switch_log *log, bool keeps_last);
void fxt_switch_log_close(struct fxt_switch_log *log);

void fxt_switch_log_put(struct fxt_switch_log *log, struct fxt_switch one);

/* Forgets those from before that time. The others' numbers do not shrink: whoever remembers one does not take
 * it for lasting longer than it does. */
void fxt_switch_log_forget(struct fxt_switch_log *log, uint64_t ticks);

/* Writes what a provider needs to have said before its first switches. */
void fxt_switch_log_introduce(
        struct fxt_archive_writer *archive, struct fxt_archive_provider *provider, uint64_t ticks_per_second);

/* Writes all there are; they stay. */
void fxt_switch_log_write(const struct fxt_switch_log *log, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

/* Writes one that is not in a log. */
void fxt_switch_write(const struct fxt_switch *one, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

#endif
