/*
 * Names for functions while their programs run: a thread of its own reads ahead in the durable buffers of the
 * providers, where functions and modules are registered, and looks up what their addresses are called. So
 * most names are known before the records that need them are written, and nobody waits for a symbol table.
 *
 *   durable buffer --read ahead--> resolver's thread --> names of a provider <--find-- its record writer
 *                                        ^                                              |
 *                                        +------------------- ask ----------------------+
 *
 * Files are opened when their module is announced, through the process that has it (/proc/PID/root), so that
 * the right one is read although it is unlinked, rebuilt, or seen by that process alone. Where a function
 * stands in the source takes longer: that record is written by the resolver's thread once it is known.
 *
 * With a filter the resolver also decides which functions are left out, as soon as it has their names, and
 * tells the agent (writer/decisions.h).
 *
 * Errors: memory that is short leaves functions without a name; fxt_names_wait() then says so.
 */
#ifndef FXT_LAUNCHER_SESSION_NAMER_H
#define FXT_LAUNCHER_SESSION_NAMER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "archive.h"
#include "symbolizer/selection.h"
#include "symbolizer/image.h"
#include "symbolizer/markup.h"
#include "writer/shared.h"

struct fxt_names; /* of one provider; the resolver's own memory */

struct fxt_resolver {
	pthread_mutex_t lock;    /* of all below but `images`, and of what fxt_names hold; held for moments */
	pthread_cond_t work;     /* somebody asks, or it is to end; awaited by the resolver's thread */
	pthread_cond_t answered; /* some names are known that were not */
	struct fxt_names *providers;
	bool has_work; /* since the thread last looked */
	/* All providers of a session have one filter. NULL: nothing is left out. */
	const struct fxt_selection *filter;
	uint32_t filter_changes; /* so often it was changed */
	bool is_awaited;         /* some provider's functions wait for their decisions */
	bool is_ending;
	bool has_thread; /* the main thread's, as is `thread` */
	pthread_t thread;
	struct fxt_images images; /* the thread's alone */
};

/* What names belong to. */
struct fxt_names_owner {
	pid_t pid;
	uint64_t process_koid;
	const void *buffer; /* the provider's trace buffer */
	struct fxt_control *control;
	enum fxt_buffering_mode mode; /* oneshot: there is no durable buffer, but chunks of that kind */
	struct fxt_buffer_layout layout;
	const struct fxt_selection *filter; /* NULL: nothing is left out */
	uint64_t ticks_per_second;
	/* Where source positions are written; the archive outlives fxt_resolver_close(), unless
	 * fxt_names_end() waits for these. */
	struct fxt_archive_writer *archive;
	struct fxt_archive_provider *identity;
};

/* Prepares the resolver. Its thread begins with the first provider: after the program was started, which
 * would not get back the disposition of a signal that the C library takes for a process with threads. */
void fxt_resolver_open(struct fxt_resolver *resolver);

/* Waits until all that is known to the resolver has its names and its source positions in the archive; ends
 * the thread and gives everything back. All providers' names must have been ended. Nothing if that was done.
 */
void fxt_resolver_close(struct fxt_resolver *resolver);

/* Begins to read ahead for a provider; in the main thread. NULL: memory is short, or there is no thread. */
struct fxt_names *fxt_names_begin(struct fxt_resolver *resolver, const struct fxt_names_owner *owner);

/* The durable buffer begins anew (a start that clears it). */
void fxt_names_restart(struct fxt_resolver *resolver, struct fxt_names *names);

/* Has functions decided on by another filter from now on, those known too, and their agents carry that out as
 * the change of that number (writer/decisions.h). `filter` is kept until fxt_resolver_close(). Does not wait.
 */
void fxt_resolver_change_filter(
        struct fxt_resolver *resolver, const struct fxt_selection *filter, uint32_t change);

/* Has source positions written to another archive from now on. Waits until those are written that are due. */
void fxt_names_move(
        struct fxt_resolver *resolver, struct fxt_names *names, struct fxt_archive_writer *archive);

/* The last call for `names`: neither buffer nor identity are touched any more once it returns. Waits for
 * nothing, but the archive; `positions`: for the source positions that are due. */
void fxt_names_end(struct fxt_resolver *resolver, struct fxt_names *names, bool positions);

/*
 * The text of a placeholder or an announcement that is not in the durable buffer, or not yet. Those of one
 * provider are answered in the order in which they came, after what its durable buffer holds now.
 */
void fxt_names_ask(struct fxt_resolver *resolver, struct fxt_names *names, struct fxt_span text);

/* Whether names will never be known, for want of memory: nobody is to wait for one then. */
bool fxt_names_have_failed(struct fxt_resolver *resolver, struct fxt_names *names);

/*
 * Waits at most `ns` nanoseconds of CLOCK_MONOTONIC for the name of a placeholder that was asked for or
 * registered; 0 = only looks. Returns whether it is in `function`; its texts hold until fxt_names_end().
 */
bool fxt_names_wait(struct fxt_resolver *resolver, struct fxt_names *names, const struct fxt_markup *pc,
        uint64_t ns, struct fxt_location *function);

/* The name stands in the archive now: once for each function its source position is to follow. */
void fxt_names_are_written(
        struct fxt_resolver *resolver, struct fxt_names *names, const struct fxt_markup *pc);

#endif
