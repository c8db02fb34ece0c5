/*
 * An input of the merge: a trace, and the facts that must be known before anything is
 * written. These are its clock, the numbers of its processes and threads, and its CPUs.
 */
#ifndef FXT_FXT_MERGE_INPUT_H
#define FXT_FXT_MERGE_INPUT_H

#include "koids.h"
#include "messages.h"
#include "streams.h"
#include "reader/trace/cut.h"
#include "timeline.h"

struct fxt_merge_input {
	const char *name;
	struct fxt_archive archive;
	struct fxt_merge_koids koids;
	struct fxt_archive_state state;
	struct fxt_rotation rotation; /* session 0: the trace is not rotated */
	struct fxt_cut cut;           /* cut.what is 0 if the trace is no cut */
	struct fxt_span cut_options;  /* points into the archive */
	struct fxt_fault fault;
	uint64_t malformed; /* malformed records, which are left out */
	uint64_t unknown;   /* records of unknown kinds, which are kept as they are */
	uint64_t earliest;  /* the time of its earliest event, in ticks; UINT64_MAX: it
	                       has none */
	bool has_profiles;  /* it has heap profiles for viewers */
	unsigned cpus;      /* the highest CPU number plus one */
	unsigned first_cpu; /* the new number of its CPU 0 */
};

/* Reads an input whose archive is open, sets the other fields of it and of `clock`, except
 * names, and adds its messages and notes of streams as those of trace `number`. Returns 0,
 * or -1 with one line in error[error_bytes] if the trace has clocks of several rates. */
int fxt_merge_read(struct fxt_merge_input *input, struct fxt_merge_clock *clock,
        struct fxt_merge_messages *messages, struct fxt_merge_streams *streams, uint32_t number, char *error,
        size_t error_bytes);

/* Gives new numbers to processes, threads and CPUs if an earlier input uses the same
 * numbers for others. `clocks` has the clock of each input. */
void fxt_merge_settle(struct fxt_merge_input *inputs, const struct fxt_merge_clock *clocks, size_t count);

/* Names on stderr the files of rotated traces that are missing among the inputs, before the
 * last one, and says whether fxtrun deleted them. Files behind the last one are not known. */
void fxt_merge_tell_gaps(const struct fxt_merge_input *inputs, size_t count);

void fxt_merge_free(struct fxt_merge_input *input);

#endif
