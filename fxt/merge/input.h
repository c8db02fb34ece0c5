/*
 * A trace that is to be merged, and what has to be known of it before any is written: its clock, its numbers
 * of processes and threads, its CPUs.
 */
#ifndef FXT_FXT_MERGE_INPUT_H
#define FXT_FXT_MERGE_INPUT_H

#include "koids.h"
#include "reader/trace/cut.h"
#include "timeline.h"

struct fxt_merge_input {
	const char *name;
	struct fxt_archive archive;
	struct fxt_merge_koids koids;
	struct fxt_archive_state state;
	struct fxt_cut cut;          /* what == 0: it is whole */
	struct fxt_span cut_options; /* in the archive */
	struct fxt_fault fault;
	uint64_t malformed; /* records, which are left out */
	uint64_t earliest;  /* of its events, in ticks; UINT64_MAX: it has none */
	bool has_profiles;  /* of its heap, for viewers */
	unsigned cpus;      /* the highest number, and one */
	unsigned first_cpu; /* the number that its CPU 0 becomes */
};

/* Reads a trace that is open; `clock` has its name. Returns 0, or -1 with one line in error[error_bytes]: its
 * clocks are several. */
int fxt_merge_read(
        struct fxt_merge_input *input, struct fxt_merge_clock *clock, char *error, size_t error_bytes);

/* Settles what several traces have both: `clocks` are theirs. */
void fxt_merge_settle(struct fxt_merge_input *inputs, const struct fxt_merge_clock *clocks, size_t count);

void fxt_merge_free(struct fxt_merge_input *input);

#endif
