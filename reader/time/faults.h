/*
 * The page faults of a trace: when each thread touched a page that the kernel had to bring. They are instant
 * events of category "sched", as fxtrun records them; collected on the way of the scan (scan.h), and what is
 * kept grows with their number, in memory and then in TMPDIR (spill.h).
 *
 *   struct fxt_faults faults;
 *   fxt_faults_init(&faults)
 *   in the listener's begin():   fxt_faults_clear(&faults)
 *   in the listener's record():  fxt_faults_record(&faults, tables, view)
 *   fxt_faults_finish(&faults)
 *
 * Times are nanoseconds. One thread asks at a time.
 */
#ifndef FXT_READER_FAULTS_H
#define FXT_READER_FAULTS_H

#include "reader/trace/spill.h"
#include "reader/trace/tables.h"

/* One fault; and behind all of them that so many more have no event. */
#define FXT_FAULT_CATEGORY       "sched"
#define FXT_FAULT_EVENT          "page fault"
#define FXT_FAULTS_MISSING_EVENT "page faults missing"

/* Whether a record is an event of faults. Like switches, what the kernel tells of a thread makes no trace
 * longer: some is of the time before it recorded. */
bool fxt_is_of_faults(struct fxt_tables *tables, const struct fxt_view *view);

struct fxt_faults {
	struct fxt_spill faults; /* by thread and time, once finished */
	bool has_missing;        /* a number of them is at least so many */
};

void fxt_faults_init(struct fxt_faults *f);
void fxt_faults_free(struct fxt_faults *f);

/* Forgets all. */
void fxt_faults_clear(struct fxt_faults *f);

/* Takes a record; other ones than of faults change nothing. */
void fxt_faults_record(struct fxt_faults *f, struct fxt_tables *tables, const struct fxt_view *view);

/* All records are there. */
void fxt_faults_finish(struct fxt_faults *f);

/* Whether there are any: else nothing is known of any thread's. */
static inline bool fxt_faults_are_known(const struct fxt_faults *f)
{
	return f->faults.count > 0;
}

/* The place of a thread's first one that is not before a moment, or where it would stand; the thread by its
 * id in the tables. Of two places the difference is how many are in between. */
uint64_t fxt_faults_at(const struct fxt_faults *f, uint32_t thread, uint64_t moment);

/* The same, of a moment that few of them are behind: `place` is of a later one. */
uint64_t fxt_faults_back_to(const struct fxt_faults *f, uint64_t place, uint32_t thread, uint64_t moment);

#endif
