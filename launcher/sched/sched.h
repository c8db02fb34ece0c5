/*
 * launcher/sched/ puts the scheduler on the timeline: when each traced thread ran and on
 * which CPU, and when it touched a page that the kernel had to supply.
 *
 *   the kernel, two rings a CPU   perf          reads context switch records, and page faults
 *        |                        sched_cpu     one CPU: who runs there, since when
 *        |  <- sched_registry                   which processes are traced, whether anything is recorded
 *        v                        sched_log     the switches, or faults, of traced threads, in memory
 *   /proc                         sched_blocked what threads are blocked in without a recorded wait
 *        |                        sched_tracks  the tracks that viewers draw faults on
 *   the archive                   sched         the thread that does all this, and its life
 *
 * The kernel reports all threads that descend from the program. Threads that are in the
 * trace get the same koids here as there; the others are skipped.
 *
 * A thread of fxtrun takes the kernel's records when a ring fills, and as often as is needed
 * to see who waits (sched_run() in sched.c). In a
 * streaming session switches and faults go into the archive every 100 ms. Otherwise the first
 * (oneshot) or the last (circular) of them are kept in memory until the session ends, a
 * stop writes its results, or a snapshot is taken. In the archive they belong to a provider
 * of their own, named "scheduler".
 *
 * Errors: a function that can fail returns an errno value. Records that the kernel lost, or
 * that the log had no room for, are counted and reported at the end; nothing else is
 * reported from here.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_H
#define FXT_LAUNCHER_SCHED_SCHED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "launcher/manager/archive.h"
#include "perf.h"
#include "sched_blocked.h"
#include "sched_cpu.h"
#include "sched_registry.h"
#include "sched_log.h"
#include "sched_tracks.h"
#include "writer/shared/clock.h"

/* The number of its provider in the archive; no process gets such a high one. */
#define FXT_SCHED_PROVIDER UINT32_MAX

struct fxt_sched_head {
	struct fxt_perf_record record;
	unsigned cpu; /* an index of perf.rings */
};

struct fxt_sched {
	bool is_open;  /* fxt_sched_open() succeeded; otherwise the calls below do nothing */
	bool is_begun; /* the thread runs */
	bool stays;    /* it may begin again */
	/* where the archive is found; it changes with --rotate */
	struct fxt_archive_writer *const *session_archive;
	struct fxt_archive_writer *archive; /* stored with release when it changes */
	struct fxt_archive_provider identity;
	enum fxt_buffering_mode mode;
	enum fxt_clock_kind clock;
	const uint64_t *ticks_per_second; /* the session's first rate; known when there is a
	                                   * provider */
	pthread_t thread;
	int stop; /* an eventfd: ends the thread */

	struct fxt_sched_registry registry;

	pthread_mutex_t lock; /* for all fields below; held while the archive is written */
	struct fxt_perf perf;
	struct fxt_sched_cpu *cpus;      /* one per entry of perf.rings */
	uint64_t *ends;                  /* one per CPU, while all rings are read: how far
	                                  * each was read */
	struct fxt_sched_head *heads;    /* the next record of each CPU that has more; room
	                                  * for one per CPU */
	struct fxt_clock_pair last, now; /* `now`: the clock at the latest reading of the
	                                  * rings; `last`: at least 10 ms before that */
	uint64_t rate;                   /* ticks per second between those two */
	uint32_t commands_done;
	struct fxt_sched_log log;    /* of switches */
	struct fxt_sched_log faults; /* page faults, each on its thread's fault track */
	struct fxt_sched_blocked blocked;
	uint64_t flushed_ns; /* when the thread last wrote to the archive */
	uint64_t pause_ns;   /* until the thread looks again who waits */
	bool is_quiet;       /* no thread began to wait since the look before */
	struct fxt_sched_tracks rows;
	bool is_introduced; /* the archive has the provider's strings */
};

/*
 * Prepares for the program, which is our child and has yet to call exec. `stays`: there may
 * be several recordings, and the kernel reports nothing between them. `first` was read when
 * the session began. Returns 0, or an errno value for the kernel's refusal.
 */
int fxt_sched_open(struct fxt_sched *sched, pid_t program, bool stays, enum fxt_clock_kind clock,
        struct fxt_clock_pair first);

/* Why there will be no page faults (an errno value); 0: there will be, if there are
 * switches. */
int fxt_sched_faults_error(const struct fxt_sched *sched);

/* The program runs; nothing is recorded yet. Keeps both pointers. If *archive changes,
 * later records go to the new archive. Returns 0, or an errno
 * value: it is closed then. */
int fxt_sched_begin(struct fxt_sched *sched, enum fxt_buffering_mode mode,
        struct fxt_archive_writer *const *archive, const uint64_t *ticks_per_second);

/* Starts or stops recording now. `clear` drops and `write` writes the records of earlier
 * runs that are in memory. Does not wait. */
void fxt_sched_start(struct fxt_sched *sched, bool clear);
void fxt_sched_stop(struct fxt_sched *sched, bool write);

/*
 * A provider begins; `control` must stay mapped until it is removed. Does not wait. The
 * kernel reports threads by their numbers in fxtrun's PID namespace. If the process has
 * another number than `pid` for itself (another PID namespace), only its main thread can be
 * identified, and its other threads are not recorded.
 */
void fxt_sched_add(
        struct fxt_sched *sched, pid_t pid, pid_t own_pid, uint64_t koid, const struct fxt_control *control);

/* For a provider with an ended process: reads the kernel's records until now, and returns
 * when the last of its threads ended; 0: not known. May wait for the archive. */
uint64_t fxt_sched_end_of(struct fxt_sched *sched, const struct fxt_control *control);

/* The provider has ended: reads the kernel's records until now, then forgets `control`. May
 * wait for the archive. */
void fxt_sched_remove(struct fxt_sched *sched, const struct fxt_control *control);

/* For a snapshot, while the caller holds the archive's lock: reads all available records
 * and keeps other threads from changing them until released. Does not wait; false if that
 * is not possible now. Circular sessions only, since reading must not write to the
 * archive. */
bool fxt_sched_hold(struct fxt_sched *sched);
void fxt_sched_release(struct fxt_sched *sched);

/* Writes the records in memory, and whether any were lost, into an archive: the session's
 * or a copy of it. */
void fxt_sched_write(const struct fxt_sched *sched, struct fxt_archive_writer *archive);

/* Ends the thread after all providers are removed. Writes the kept records, reports losses,
 * and closes. With `stays` it returns to the state before fxt_sched_begin() instead. */
void fxt_sched_finish(struct fxt_sched *sched);

/* Frees everything, whatever has been begun of it. */
void fxt_sched_close(struct fxt_sched *sched);

#endif
