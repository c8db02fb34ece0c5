/*
 * Keeps the records of processes that ended while a circular session goes on. A circular
 * buffer keeps the end of a process; this keeps the end of a tree of processes that come
 * and go.
 *
 *     a process ends ------> segment, segment, segment, ...     files without a name; the oldest are dropped
 *     the session ends ----> archive                            behind it the segments that still fit
 *
 * The rest of a process goes into one segment as a whole, so it is dropped as a whole. A
 * segment is small compared with the limit, and all segments together never exceed it. A
 * writer announces how much it writes at most. If that would exceed the limit, it waits
 * until other writers are done, as they mostly write much less. If that is not enough, it
 * drops the oldest segment. The archive records how much was dropped.
 *
 * The supervisor has the segments' files too (ledger.h). A provider's entry in the ledger
 * has the generation of its segment, and the ledger has the generations that are dropped.
 */
#ifndef FXT_LAUNCHER_MANAGER_ENDED_H
#define FXT_LAUNCHER_MANAGER_ENDED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "archive.h"
#include "ledger.h"

#define FXT_ENDED_SEGMENTS 16

/* Sums over processes. */
struct fxt_ended_sum {
	uint64_t processes;
	uint64_t events; /* in the segment */
	struct fxt_losses losses;
};

/* A segment is never larger than the sum of both. */
struct fxt_ended_size {
	uint64_t written;  /* its bytes when a writer was last done */
	uint64_t promised; /* by the current writers, at most */
};

struct fxt_ended_segment {
	struct fxt_archive_writer archive;
	bool is_open;        /* it has a file */
	uint64_t generation; /* 0: the segment is empty */
	unsigned writers;
	struct fxt_ended_size size;
	struct fxt_ended_sum sum;
};

struct fxt_ended {
	pthread_mutex_t lock;
	pthread_cond_t written; /* signals that a writer is done */
	const struct fxt_ledger *ledger;
	uint64_t limit_bytes; /* 0: no segments are kept, or no longer */
	uint64_t generations; /* number of generations so far; the newest segment is written
	                       * to */
	struct fxt_ended_segment segments[FXT_ENDED_SEGMENTS];
	struct fxt_ended_sum dropped;
};

/* Begins with no segments. `ledger` may be NULL, and is kept. */
void fxt_ended_open(struct fxt_ended *ended, uint64_t limit_bytes, const struct fxt_ledger *ledger);

/* Returns the archive for a provider's rest; `promised_bytes` is its estimated maximum.
 * Waits for other providers if they must make room, and drops the oldest segments. NULL:
 * there is no file for it. From any thread. */
struct fxt_archive_writer *fxt_ended_begin(
        struct fxt_ended *ended, struct fxt_ledger_entry *entry, uint64_t promised_bytes);

/* The rest is written, so its promise no longer counts. */
void fxt_ended_finish(struct fxt_ended *ended, struct fxt_archive_writer *archive, uint64_t promised_bytes,
        const struct fxt_ended_sum *sum);

/* Appends the kept segments to an archive, and records there how much was dropped. Call it
 * while no thread writes; the segments stay as they are. */
void fxt_ended_join(const struct fxt_ended *ended, struct fxt_archive_writer *archive);

/* The same at the end of the session, followed by closing. The archive will take
 * `promised_bytes` more; drops the segments that would make it exceed the limit. Does
 * nothing if it was called before. */
void fxt_ended_join_at_end(
        struct fxt_ended *ended, struct fxt_archive_writer *archive, uint64_t promised_bytes);

/* Closes the files. The sums of dropped records stay available. */
void fxt_ended_close(struct fxt_ended *ended);

#endif
