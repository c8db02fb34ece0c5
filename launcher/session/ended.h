/*
 * What processes left that have ended while a circular session goes on. A circular buffer keeps the end of a
 * process; this keeps the end of a tree of processes, in which they come and go.
 *
 *     a process ends ------> segment, segment, segment, ...     files without a name; the oldest are dropped
 *     the session ends ----> archive                            behind which the segments come that still fit
 *
 * The rest of a process goes into one segment as a whole, so it is dropped as a whole. A segment is small
 * beside the limit, and all together take no more than that. Whoever would exceed it waits until those who
 * write to the oldest segment are done, then drops it. The archive says how much was dropped.
 *
 * The job has the segments' files too (ledger.h). A provider's entry there says which generation its segment
 * is of; the ledger says which generations are dropped.
 */
#ifndef FXT_LAUNCHER_SESSION_ENDED_H
#define FXT_LAUNCHER_SESSION_ENDED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "archive.h"
#include "ledger.h"

#define FXT_ENDED_SEGMENTS 16

/* What processes recorded. */
struct fxt_ended_sum {
	uint64_t processes;
	uint64_t events; /* that are in the segment */
	struct fxt_losses losses;
};

struct fxt_ended_segment {
	struct fxt_archive_writer archive;
	bool is_open;        /* it has a file */
	uint64_t generation; /* 0: it is empty */
	uint64_t bytes;      /* that it may take, once all have written who do */
	unsigned writers;
	struct fxt_ended_sum sum;
};

struct fxt_ended {
	pthread_mutex_t lock;
	pthread_cond_t written; /* somebody is done */
	const struct fxt_ledger *ledger;
	uint64_t limit_bytes; /* 0: nothing is kept here, or not any more */
	uint64_t generations; /* so many were begun; the latest is the segment that is written to */
	struct fxt_ended_segment segments[FXT_ENDED_SEGMENTS];
	struct fxt_ended_sum dropped;
};

/* Begins with nothing. `ledger` may be NULL, and is kept. */
void fxt_ended_open(struct fxt_ended *ended, uint64_t limit_bytes, const struct fxt_ledger *ledger);

/* Where a provider is to write its rest, at most so many bytes, as far as is known. Waits for other providers
 * where they have to make room; drops what is oldest. NULL: there is no file for it. From any thread.
 */
struct fxt_archive_writer *fxt_ended_begin(
        struct fxt_ended *ended, struct fxt_ledger_entry *entry, uint64_t promised_bytes);

/* It is written. */
void fxt_ended_finish(
        struct fxt_ended *ended, struct fxt_archive_writer *archive, const struct fxt_ended_sum *sum);

/* Appends what was kept to an archive, in which it says what was not. While nobody writes; the segments stay
 * as they are. */
void fxt_ended_join(const struct fxt_ended *ended, struct fxt_archive_writer *archive);

/* The same at the end of the session, whose archive takes so many bytes more: drops what would make it larger
 * than the limit, and closes. Nothing if that was done. */
void fxt_ended_join_at_end(
        struct fxt_ended *ended, struct fxt_archive_writer *archive, uint64_t promised_bytes);

/* Gives back the files. What was dropped is known still. */
void fxt_ended_close(struct fxt_ended *ended);

#endif
