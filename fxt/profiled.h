/*
 * Writes a trace for a command. If the trace has a heap, appends the profiles and rows that
 * viewers need to draw it, as fxtrun does (perfetto/heap_profile.h). These are computed
 * from a complete trace, so the trace first goes into an unlinked temporary file.
 */
#ifndef FXT_FXT_PROFILED_H
#define FXT_FXT_PROFILED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct fxt_source_file;

struct fxt_profiled {
	bool has_profiles;
	uint64_t ticks_per_second; /* as for fxt_rewrite_append_profiles() */
	void (*write)(void *context, FILE *trace);
	void *context;
};

/* Writes the output of `write` to a file that is opened as by fxt_output_open(). Returns
 * 0, or -1 after reporting the reason. */
int fxt_profiled_write(
        const char *name, const struct fxt_source_file *from, const struct fxt_profiled *profiled);

#endif
