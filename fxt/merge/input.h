/*
 * A trace to be merged, and what must be known of it before anything is written: its clock,
 * its numbers of processes and threads, its CPUs.
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
	struct fxt_cut cut;          /* what == 0: the trace is whole */
	struct fxt_span cut_options; /* points into the archive */
	struct fxt_fault fault;
	uint64_t malformed; /* malformed records, which are left out */
	uint64_t earliest;  /* the time of its earliest event, in ticks; UINT64_MAX: it
	                       has none */
	bool has_profiles;  /* it has heap profiles for viewers */
	unsigned cpus;      /* the highest CPU number plus one */
	unsigned first_cpu; /* the new number of its CPU 0 */
};

/* Reads an open trace; `clock` has its name. Returns 0, or -1 with one line in
 * error[error_bytes] if it has more than one clock. */
int fxt_merge_read(
        struct fxt_merge_input *input, struct fxt_merge_clock *clock, char *error, size_t error_bytes);

/* Resolves the conflicts of numbers between the traces; `clocks` are theirs. */
void fxt_merge_settle(struct fxt_merge_input *inputs, const struct fxt_merge_clock *clocks, size_t count);

void fxt_merge_free(struct fxt_merge_input *input);

#endif
