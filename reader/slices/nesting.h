/*
 * The slices of each thread as a tree. Slices are put in as the archive has them and come
 * out finished: children before the slice that contains them.
 *
 * An archive has them nearly in that order, because a call is written when it returns. A
 * thread must therefore remember only two things. One is the finished subtrees that no
 * parent has claimed yet (in memory, then in TMPDIR). The other is the slices behind the
 * last one that certainly comes next: calls open at exit end at the same instant, the outer
 * ones first in the file, and a wait stands before the call that had to wait to be written.
 * Threads that prove to be out of order otherwise need one more run over the archive. That
 * run collects and sorts their slices, and only theirs. Results of a run that is to be
 * repeated do not count.
 *
 *   do {
 *           forget the results; walk over the archive and put in every slice;
 *   } while (!fxt_nesting_finish(&nesting));
 *
 * Times are nanoseconds. Threads are ids of tables.h; they must be the same in every run.
 */
#ifndef FXT_READER_NESTING_H
#define FXT_READER_NESTING_H

#include "reader/trace/spill.h"
#include "reader/trace/tables.h"

/* A slice as it is put into the tree. */
struct fxt_nested_slice {
	uint64_t start;
	uint64_t end;    /* >= start */
	uint64_t offset; /* of its record; of the Duration Begin record if it has two */
};

/* A slice that breaks the tree is of one of two kinds. Viewers lose a slice in both. */
enum fxt_nesting_fault {
	FXT_NESTS = 0,
	FXT_SAME_START, /* as another slice of the thread */
	FXT_OVERLAP,    /* begins inside another slice, ends behind it */
};

typedef void fxt_slice_finished(
        void *context, uint32_t thread, const struct fxt_nested_slice *slice, enum fxt_nesting_fault fault);

struct fxt_nesting {
	fxt_slice_finished *finished;
	void *context;
	struct fxt_nesting_thread *threads; /* by id */
	size_t thread_count;
};

/* Puts in a whole slice. */
void fxt_nesting_slice(struct fxt_nesting *n, uint32_t thread, const struct fxt_nested_slice *slice);

/* Returns false if the run is to be repeated. */
bool fxt_nesting_finish(struct fxt_nesting *n);

void fxt_nesting_free(struct fxt_nesting *n);

#endif
