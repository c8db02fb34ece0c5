/*
 * One provider: the image of a process that the agent was loaded into, from its welcome to the last record
 * that is taken out of its memory. A thread of its own waits for its packets, saves its buffers into the
 * archive, and takes what is left once it has ended; nothing another provider does can hold it up but the
 * archive's lock.
 *
 * A provider that breaks a rule is aborted: it is told to quit, the reason is said, and nothing more is taken
 * from it. A valid packet at the wrong time is said and ignored (fuchsia-facts: FIFO packets, the trace
 * manager).
 */
#ifndef FXT_LAUNCHER_SESSION_PROVIDER_H
#define FXT_LAUNCHER_SESSION_PROVIDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "archive.h"
#include "wakeup.h"
#include "memory.h"
#include "launcher/options.h"
#include "launcher/sched/sched.h"
#include "launcher/watch.h"
#include "writer/call_cost.h"
#include "writer/collect/collect.h"

struct fxt_provider {
	/* Set before the thread begins. */
	struct fxt_archive_writer *archive;
	struct fxt_wakeup *wakeup;            /* wakes the main thread when what it reads below has changed */
	struct fxt_sched *sched;              /* is told of the provider and of its end */
	struct fxt_archive_provider identity; /* for the archive; its thread's from then on */
	pid_t pid;
	pid_t own_pid; /* what it calls itself: in a PID namespace another number */
	uint64_t process_koid;
	struct fxt_call_cost call_cost; /* goes into the archive; 0: not measured */
	enum fxt_clock_kind clock;
	bool heap_is_recorded;    /* its live sums then go into the archive as counters */
	struct fxt_watch process; /* a pidfd, readable once the process is gone; -1 once that was seen */
	struct fxt_memory memory; /* zeroed once freed */
	pthread_t thread;

	/* The main thread's. */
	bool end_is_due; /* it has ended: `ending` and `end_ticks` hold */
	bool ended;      /* fxt_provider_end() was called */

	/* Written by the main thread before `over`, which it stores with release and the thread loads with
	 * acquire. */
	enum fxt_ending ending; /* from then on the thread's: a process may yet end while it falls quiet */
	int signal;             /* that ended the process, 0 = none or not known */
	uint64_t end_ticks;
	uint32_t over;
	uint32_t results_wanted; /* the latest order was to stop, and to write what the buffers hold */

	/* The thread's; others read it after `done`, which the thread stores with release. */
	struct fxt_collector collector;
	uint32_t packets;   /* taken so far */
	bool started;       /* once, at least */
	uint32_t recording; /* it is; stored with release, others load it with acquire */
	uint64_t stopped_ticks;
	uint32_t taking;    /* results: becomes 1 under the archive's lock, 0 with release */
	bool results_taken; /* what its buffers hold is in the archive, and it records nothing more */
	bool aborted;
	bool incomplete; /* some of its data was no good, and that was said */
	bool scolded;    /* a packet was ignored, and that was said */
	uint32_t done;
};

/* What all providers of a session are told. */
struct fxt_provider_terms {
	const struct fxt_options *options;
	enum fxt_clock_kind clock;
	uint64_t ticks_per_second;
	struct fxt_categories categories;
	struct fxt_call_cost call_cost; /* 0: not measured */
	bool begin;                     /* at once */
};

/* Fills in the control memory and starts the thread. Returns 0, or an errno value: no thread was started. */
int fxt_provider_start(struct fxt_provider *provider, const struct fxt_provider_terms *terms);

/* It has memory, has not ended, and was not aborted. */
bool fxt_provider_is_live(const struct fxt_provider *provider);

/* Of a live one: whether it has said that it records, and not that it stopped, if that is what is asked; one
 * that cannot hear orders any more is as one likes. */
bool fxt_provider_follows(const struct fxt_provider *provider, bool recording);

/* Orders a live provider to begin; it follows when it can. One that has not heard of an earlier order to stop
 * goes on. */
void fxt_provider_begin(
        struct fxt_provider *provider, const struct fxt_categories *categories, enum fxt_start_mode mode);

/* Orders it to stop. With `write_results` what its buffers hold then is in the archive once it does not
 * record any more; the next run must begin with FXT_START_CLEAR_ENTIRE. */
void fxt_provider_stop(struct fxt_provider *provider, bool write_results);

/* Shows the provider that the manager lives. At least every 250 ms. */
void fxt_provider_beat(struct fxt_provider *provider);

/*
 * The provider has ended at `ticks`, in that way: its thread takes the rest and is done. With
 * FXT_STILL_RUNNING it tells the process to fall quiet first. Once only; does not wait.
 */
void fxt_provider_end(struct fxt_provider *provider, enum fxt_ending ending, uint64_t ticks);

/* Whether the process is gone. */
bool fxt_provider_is_dead(const struct fxt_provider *provider);

/* How a process ended that is gone and not our child: whether it was in exit() or _exit(). */
enum fxt_ending fxt_provider_own_account(const struct fxt_provider *provider);

/* Writes what recording a call costs into an archive that has records of the provider; nothing, if that was
 * not measured. */
void fxt_provider_write_call_cost(const struct fxt_provider *provider, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity, uint64_t ticks);

/* Waits for the thread, then gives back the memory; the results stay. */
void fxt_provider_join(struct fxt_provider *provider);

/* ---- in the provider's thread ---- */

/* Takes what the buffers hold, at the end of a run. */
void fxt_provider_take_results(struct fxt_provider *provider, enum fxt_ending ending, uint64_t ticks);

/* Something it left is no good. Said once. */
void fxt_provider_left_out(struct fxt_provider *provider, const char *reason);

/* Says something of the provider: its name and process stand before it. */
void fxt_provider_say(const struct fxt_provider *provider, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

#endif
