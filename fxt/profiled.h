/*
 * A trace that a command writes, with what viewers draw its heap by if it has one: the profiles and rows that
 * fxtrun appends (symbolizer/heap_profile.h). They are made of a whole trace, so that it goes into a file
 * without a name first.
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

/* Writes what `write` writes to a file, opened as by fxt_output_open(). Returns 0, or -1 when why not
 * was told. */
int fxt_profiled_write(
        const char *name, const struct fxt_source_file *from, const struct fxt_profiled *profiled);

#endif
