/*
 * launcher/sched/ puts the scheduler on the timeline: when each traced thread ran, and on which CPU; and when
 * it touched a page that the kernel had to bring.
 *
 *   the kernel, two rings a CPU   perf          reads context switch records, and page faults
 *        |                        sched_cpu     one CPU: who runs there, since when
 *        |  <- sched_registry                   which processes are traced, whether anything is recorded
 *        v                        sched_log     the switches, or faults, of traced threads, in memory
 *        |                        sched_rows    the rows that viewers draw faults in
 *   the archive                   sched         the thread that does all this, and its life
 *
 * The kernel reports all threads that come from the program. Those that are in the trace get the koids here
 * that they have there; others are left out.
 *
 * A thread of fxtrun reads the kernel's records every 100 ms, or when a ring fills. In a streaming session
 * switches and faults go into the archive at once; otherwise the first (oneshot) or the last (circular) of
 * them are kept in memory until the session ends, a stop writes its results, or a snapshot is taken. In the
 * archive they are of a provider of their own, which is called "scheduler".
 *
 * Errors: a function that can fail returns an errno value. Records that the kernel lost, or that the log had
 * no room for, are counted and said at the end; nothing else is reported from here.
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
#include "sched_log.h"
#include "sched_rows.h"
#include "writer/clock.h"

struct fxt_sched_head {
	struct fxt_perf_record record;
	unsigned cpu; /* an index of perf.rings */
};

struct fxt_sched {
	bool is_open;  /* fxt_sched_open() succeeded; else all calls below do nothing */
	bool is_begun; /* the thread runs */
	bool stays;    /* it may begin again */
	struct fxt_archive_writer *archive;
	struct fxt_archive_provider identity;
	enum fxt_buffering_mode mode;
	enum fxt_clock_kind clock;
	const uint64_t *ticks_per_second; /* the session's first rate; known once there is a provider */
	pthread_t thread;
	int stop; /* an eventfd: the thread is to end */

	struct fxt_sched_registry registry;

	pthread_mutex_t lock; /* of all below; held while the archive is written */
	struct fxt_perf perf;
	struct fxt_sched_cpu *cpus;      /* one for each of perf.rings */
	uint64_t *ends;                  /* the same, while all are read: how far they have come */
	struct fxt_sched_head *heads;    /* what comes next on each that has more; room for as many */
	struct fxt_clock_pair last, now; /* at least 10 ms ago, and when the rings were read last */
	uint64_t rate;                   /* ticks a second between those two */
	uint32_t commands_done;
	struct fxt_sched_log log;    /* of switches */
	struct fxt_sched_log faults; /* of page faults, each of its thread's row */
	struct fxt_sched_rows rows;
	bool is_introduced; /* the archive has the provider's strings */
};

/*
 * Prepares for the program, which is our child and has yet to call exec. `stays`: there may be several
 * recordings, and between them the kernel reports nothing. Returns 0, or why the kernel refuses (an errno
 * value). `first` was read when the session began.
 */
int fxt_sched_open(struct fxt_sched *sched, pid_t program, bool stays, enum fxt_clock_kind clock,
        struct fxt_clock_pair first);

/* Why there will be no page faults beside the switches (an errno value); 0: there will be, if there are
 * switches. */
int fxt_sched_faults_error(const struct fxt_sched *sched);

/* The program runs. Nothing is recorded yet. Both pointers are kept. Returns 0, or an errno value: it is
 * closed then. */
int fxt_sched_begin(struct fxt_sched *sched, enum fxt_buffering_mode mode, struct fxt_archive_writer *archive,
        const uint64_t *ticks_per_second);

/* Recording starts, or stops, now; `clear` drops and `write` writes what is in memory from earlier runs. Does
 * not wait. */
void fxt_sched_start(struct fxt_sched *sched, bool clear);
void fxt_sched_stop(struct fxt_sched *sched, bool write);

/*
 * A provider begins; `control` stays until it is removed. Does not wait. The kernel reports threads by the
 * numbers they have here. Where the process calls itself by another one than `pid` (a PID namespace), only
 * its main thread can be told, and of its other threads nothing is recorded.
 */
void fxt_sched_add(
        struct fxt_sched *sched, pid_t pid, pid_t own_pid, uint64_t koid, const struct fxt_control *control);

/* Of a provider whose process has ended: reads what the kernel has reported until now, and returns when the
 * last of its threads did; 0: that is not known. May wait for the archive. */
uint64_t fxt_sched_end_of(struct fxt_sched *sched, const struct fxt_control *control);

/* The provider has ended: reads what the kernel has reported of it until now, then forgets `control`. May
 * wait for the archive. */
void fxt_sched_remove(struct fxt_sched *sched, const struct fxt_control *control);

/* For a snapshot, while the caller holds the archive's lock: reads all that there is and keeps other threads
 * from changing it until released. Does not wait; false if that is not possible now. Circular sessions only,
 * as reading must not write to the archive. */
bool fxt_sched_hold(struct fxt_sched *sched);
void fxt_sched_release(struct fxt_sched *sched);

/* Writes what is in memory, and whether something was lost, into an archive: the session's or a copy of it.
 */
void fxt_sched_write(const struct fxt_sched *sched, struct fxt_archive_writer *archive);

/* Ends the thread, once all providers are removed; writes what is kept, says what was lost, and closes, or if
 * it stays is as before fxt_sched_begin(). */
void fxt_sched_finish(struct fxt_sched *sched);

/* Gives back everything, whatever has been begun of it. */
void fxt_sched_close(struct fxt_sched *sched);

#endif
