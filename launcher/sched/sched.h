/*
 * The scheduler on the timeline: when each traced thread ran, and on which CPU. The kernel tells of one CPU
 * after the other (perf.h), and of all threads that come from the program. Here they get the koids that they
 * have in the trace, and those that are not in it are left out.
 *
 * A thread of fxtrun's takes the kernel's records. In a streaming session what comes of them goes into the
 * archive at once; otherwise the first or the last of it are kept in memory until the end, or a snapshot. The
 * archive has it from a provider of its own, which is called "scheduler".
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_H
#define FXT_LAUNCHER_SCHED_SCHED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "launcher/session/archive.h"
#include "perf.h"
#include "sched_cpu.h"
#include "sched_registry.h"
#include "switch_log.h"
#include "writer/clock.h"

struct fxt_sched {
	bool is_open;  /* else all calls below do nothing */
	bool is_begun; /* it has a thread */
	struct fxt_archive_writer *archive;
	struct fxt_archive_provider identity;
	enum fxt_buffering_mode mode;
	enum fxt_clock_kind clock;
	const uint64_t *ticks_per_second; /* the session's first rate; known once there is a process */
	pthread_t thread;
	int stop; /* an eventfd */

	struct fxt_sched_news news;

	pthread_mutex_t lock; /* of the rest; held while the archive is written */
	struct fxt_perf perf;
	struct fxt_sched_cpu *cpus;      /* as perf.rings */
	struct fxt_clock_pair last, now; /* CLOCK_MONOTONIC and ticks, some time ago and at this reading */
	uint64_t rate;                   /* between those two */
	uint32_t orders_done;
	struct fxt_switch_log log;
	bool is_introduced; /* the archive knows the provider */
};

/*
 * Prepares for the program, which is our child and has yet to call exec. Returns 0, or why the kernel refuses
 * (an errno value). `first` was read when the session began.
 */
int fxt_sched_open(struct fxt_sched *sched, pid_t program, enum fxt_buffering_mode mode,
        enum fxt_clock_kind clock, struct fxt_clock_pair first);

/* The program runs. Nothing is recorded yet. Both pointers are kept. Returns 0, or an errno value: it is
 * closed then. */
int fxt_sched_begin(
        struct fxt_sched *sched, struct fxt_archive_writer *archive, const uint64_t *ticks_per_second);

/* Recording starts, or stops; clears, or writes, what is in memory from earlier runs. Does not wait. */
void fxt_sched_start(struct fxt_sched *sched, bool clear);
void fxt_sched_stop(struct fxt_sched *sched, bool write);

/*
 * A provider begins; `control` stays until it is removed. Does not wait. The kernel tells of the numbers that
 * threads have here: where a process calls itself by another one than `pid`, they are known of its main
 * thread only, and of its others nothing is recorded.
 */
void fxt_sched_add(struct fxt_sched *sched, pid_t pid, pid_t own_pid, const struct fxt_control *control);

/* It has ended: takes what the kernel has told of it. May wait for the archive. */
void fxt_sched_remove(struct fxt_sched *sched, const struct fxt_control *control);

/* For a snapshot, while nobody else writes to the archive: has all in memory and keeps others from changing
 * it, until released. Does not wait; false if that is not possible now. Circular sessions only. */
bool fxt_sched_hold(struct fxt_sched *sched);
void fxt_sched_release(struct fxt_sched *sched);

/* Writes what is in memory, and whether something was lost, into an archive: the session's or a copy of it.
 */
void fxt_sched_write(const struct fxt_sched *sched, struct fxt_archive_writer *archive);

/* All providers are removed. Writes what is kept, and says what was lost. */
void fxt_sched_finish(struct fxt_sched *sched);

/* Gives back everything. */
void fxt_sched_close(struct fxt_sched *sched);

#endif
