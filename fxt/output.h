/*
 * Where a command writes a file: the standard output for "-", else a file, compressed by gzip if its name
 * ends in .gz (or .svgz), by Zstandard if it ends in .zst. A file that cannot be written to its end is
 * removed.
 */
#ifndef FXT_FXT_OUTPUT_H
#define FXT_FXT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct fxt_source;
struct fxt_output_stream;

struct fxt_output {
	FILE *file; /* to write to; whether it worked is told at the end */
	struct fxt_output_stream *stream;
	const char *name;
	bool is_standard;
};

/* Where the output goes if nobody says so: "run.svg" for "run.fxt" and the ending "svg", the standard output
 * for the standard input. To be freed. */
char *fxt_output_name(const char *trace, const char *ending);

/* Opens a file, which must not be the one that a trace is read from, unless that is NULL. `name` stays valid.
 * Returns 0, or -1 when why not was told. */
int fxt_output_open(struct fxt_output *output, const char *name, const struct fxt_source *from);

/* The same for a trace, which as a new file is for its owner alone. */
int fxt_output_open_trace(struct fxt_output *output, const char *name, const struct fxt_source *from);

/* Returns 0, or -1 if not all could be written, which was told. */
int fxt_output_close(struct fxt_output *output);

/* Removes what could not be written to its end, if it is a file. */
void fxt_output_remove(const char *name);

#endif
