/*
 * The page faults of a trace: when each thread touched a page that the kernel had to
 * provide. They are instant events of category "sched", as fxtrun records them, and are
 * collected during the scan (scan.h). The collection grows with their number, in memory and
 * then in TMPDIR (spill.h).
 *
 *   struct fxt_faults faults;
 *   fxt_faults_init(&faults)
 *   in the listener's begin():   fxt_faults_clear(&faults)
 *   in the listener's record():  fxt_faults_record(&faults, tables, view)
 *   fxt_faults_finish(&faults)
 *
 * Times are nanoseconds. Only one thread may query them at a time.
 */
#ifndef FXT_READER_FAULTS_H
#define FXT_READER_FAULTS_H

#include "reader/trace/spill.h"
#include "reader/trace/tables.h"

/* Two events: one fault; and, behind all of them, the number of faults without an event. */
#define FXT_FAULT_CATEGORY       "sched"
#define FXT_FAULT_EVENT          "page fault"
#define FXT_FAULTS_MISSING_EVENT "page faults missing"

/* True if a record is an event of faults. Like switches, such events of a thread do not
 * extend the trace: some belong to a time before the thread recorded anything. */
bool fxt_is_of_faults(struct fxt_tables *tables, const struct fxt_view *view);

struct fxt_faults {
	struct fxt_spill faults; /* by thread and time, once finished */
	bool has_missing;        /* some count of faults is only a lower bound */
};

void fxt_faults_init(struct fxt_faults *f);
void fxt_faults_free(struct fxt_faults *f);

/* Forgets all faults. */
void fxt_faults_clear(struct fxt_faults *f);

/* Takes a record; records of other kinds change nothing. */
void fxt_faults_record(struct fxt_faults *f, struct fxt_tables *tables, const struct fxt_view *view);

/* Call it once all records are there. */
void fxt_faults_finish(struct fxt_faults *f);

/* True if there are any faults; if not, nothing is known about faults of any thread. */
static inline bool fxt_faults_are_known(const struct fxt_faults *f)
{
	return f->faults.count > 0;
}

/* The place of a thread's first fault that is not before a moment, or where it would stand.
 * `thread` is an id in the tables. The difference of two places is the number of faults
 * between them. */
uint64_t fxt_faults_at(const struct fxt_faults *f, uint32_t thread, uint64_t moment);

/* The same for a moment with few faults between it and `place`, which is the place of a
 * later moment. */
uint64_t fxt_faults_back_to(const struct fxt_faults *f, uint64_t place, uint32_t thread, uint64_t moment);

#endif
