/*
 * Finds the names of functions while their programs run. A thread reads ahead in the
 * durable buffers of the providers, where functions and modules are registered, and looks
 * up the names of their addresses. Most names are therefore known before the records that
 * need them are written, and no writer waits for a symbol table.
 *
 *   durable buffer --read ahead--> resolver's thread --> names of a provider <--find-- its record writer
 *                                        ^                                              |
 *                                        +------------------- ask ----------------------+
 *
 * A file is opened when its module is announced, through the process that has it
 * (/proc/PID/root). This reads the right file even if it is unlinked, rebuilt, or visible
 * to that process alone. The source position of a function takes longer to find: the
 * resolver's thread writes that record when it is known.
 *
 * With a filter, the resolver also decides which functions are excluded as soon as it has
 * their names, and passes the decisions to the agent (writer/engine/decisions.h).
 *
 * Errors: if memory is short, some functions have no name; fxt_names_wait() then reports
 * it.
 */
#ifndef FXT_LAUNCHER_MANAGER_RESOLVER_H
#define FXT_LAUNCHER_MANAGER_RESOLVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "archive.h"
#include "symbolizer/record_filter.h"
#include "symbolizer/image.h"
#include "symbolizer/markup.h"
#include "writer/shared/shared.h"

struct fxt_names; /* the names of one provider; private to the resolver */

struct fxt_resolver {
	pthread_mutex_t lock;    /* for all fields below except `images`, and for the
	                          * contents of fxt_names; held only briefly */
	pthread_cond_t work;     /* a thread asks, or the resolver is to end; the resolver's
	                          * thread waits for it */
	pthread_cond_t answered; /* new names are known */
	struct fxt_names *providers;
	bool has_work; /* new work has come since the thread last looked */
	/* All providers of a session have the same filter. NULL: nothing is excluded. */
	const struct fxt_record_filter *filter;
	uint32_t filter_changes; /* number of changes */
	bool is_awaited;         /* some provider's functions wait for their decisions */
	bool is_ending;
	bool has_thread; /* belongs to the main thread, like `thread` */
	pthread_t thread;
	struct fxt_images images; /* belongs to the resolver's thread */
};

/* The provider that names belong to. */
struct fxt_names_owner {
	pid_t pid;
	uint64_t process_koid;
	const void *buffer; /* the provider's trace buffer */
	struct fxt_control *control;
	enum fxt_buffering_mode mode; /* in oneshot mode there is no durable buffer, but
	                               * durable chunks */
	struct fxt_buffer_layout layout;
	const struct fxt_record_filter *filter; /* NULL: nothing is excluded */
	uint64_t ticks_per_second;
	/* The archive for source positions. It must outlive fxt_resolver_close(), unless
	 * fxt_names_end() waits for the positions. */
	struct fxt_archive_writer *archive;
	struct fxt_archive_provider *identity;
};

/* Prepares the resolver. Its thread begins with the first provider, after the program was
 * started: in a process with threads the C library reserves a signal, and the program would
 * not get back its disposition. */
void fxt_resolver_open(struct fxt_resolver *resolver);

/* Waits until everything known to the resolver has its name, and its source position in the
 * archive. Then ends the thread and frees everything. The names of all providers must have
 * been ended before. Does nothing on a second call. */
void fxt_resolver_close(struct fxt_resolver *resolver);

/* Begins to read ahead for a provider; on the main thread. NULL: memory is short, or there
 * is no thread. */
struct fxt_names *fxt_names_begin(struct fxt_resolver *resolver, const struct fxt_names_owner *owner);

/* The durable buffer begins anew (a start that clears it). */
void fxt_names_restart(struct fxt_resolver *resolver, struct fxt_names *names);

/* Uses another filter for all functions from now on, also for known ones. Their agents
 * carry the decisions out as the change of that number (writer/engine/decisions.h).
 * `filter` is kept until fxt_resolver_close(). Does not wait. */
void fxt_resolver_change_filter(
        struct fxt_resolver *resolver, const struct fxt_record_filter *filter, uint32_t change);

/* Writes source positions to another archive from now on. Waits until the positions that
 * are due are written. */
void fxt_names_move(
        struct fxt_resolver *resolver, struct fxt_names *names, struct fxt_archive_writer *archive);

/* The same for an archive that has nothing of the provider yet, without waiting: positions
 * of functions that are not written go to the new archive only, and those of other
 * functions are written again. Returns true if some were left out of the old archive. */
bool fxt_names_turn(
        struct fxt_resolver *resolver, struct fxt_names *names, struct fxt_archive_writer *archive);

/* The last call for `names`: after it returns, the resolver touches neither buffer nor
 * identity. Waits for the archive only; with `positions` also for the source positions that
 * are due. */
void fxt_names_end(struct fxt_resolver *resolver, struct fxt_names *names, bool positions);

/*
 * Asks for the text of a placeholder or an announcement that is not in the durable buffer,
 * or not yet. The questions of one provider are answered in order, after the present
 * contents of its durable buffer.
 */
void fxt_names_ask(struct fxt_resolver *resolver, struct fxt_names *names, struct fxt_span text);

/* True if some names will never be known because memory was short: do not wait for any
 * then. */
bool fxt_names_have_failed(struct fxt_resolver *resolver, struct fxt_names *names);

/*
 * Waits for the name of a placeholder that was asked for or registered, at most `ns`
 * nanoseconds of CLOCK_MONOTONIC; 0 = only looks. Returns true if the name is in
 * `function`; its texts are valid until fxt_names_end().
 */
bool fxt_names_wait(struct fxt_resolver *resolver, struct fxt_names *names, const struct fxt_markup *pc,
        uint64_t ns, struct fxt_location *function);

/* The name is in the archive now. Call it once for each function that needs its source
 * position written. */
void fxt_names_are_written(
        struct fxt_resolver *resolver, struct fxt_names *names, const struct fxt_markup *pc);

#endif
