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
#ifndef FXT_LAUNCHER_PROVIDER_H
#define FXT_LAUNCHER_PROVIDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "archive.h"
#include "memory.h"
#include "options.h"
#include "watch.h"
#include "writer/collect.h"

struct fxt_provider {
	/* Set before the thread begins. */
	struct fxt_archive_writer *archive;
	struct fxt_archive_provider identity; /* for the archive; its thread's from then on */
	pid_t pid;
	uint64_t process_koid;
	bool heap_is_recorded;    /* its live sums then go into the archive as counters */
	struct fxt_watch process; /* a pidfd, readable once the process is gone; -1 once that was seen */
	struct fxt_memory memory; /* zeroed once freed */
	pthread_t thread;

	/* The main thread's. */
	bool ended; /* fxt_provider_end() was called */

	/* Written by the main thread before `over`, which it stores with release and the thread loads with
	 * acquire. */
	enum fxt_ending ending; /* from then on the thread's: a process may yet end while it falls quiet */
	uint64_t end_ticks;
	uint32_t over;

	/* The thread's; others read it after `done`, which the thread stores with release. */
	struct fxt_collector collector;
	uint32_t packets; /* taken so far */
	bool started;
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
};

/* Fills in the control memory and starts the thread. Returns 0, or an errno value: no thread was started. */
int fxt_provider_start(struct fxt_provider *provider, const struct fxt_provider_terms *terms);

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

/* Waits for the thread, then gives back the memory; the results stay. */
void fxt_provider_join(struct fxt_provider *provider);

#endif
