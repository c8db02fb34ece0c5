/*
 * Where a command writes a file: the standard output for "-", else a file, compressed by gzip if its name
 * ends in .gz (or .svgz), by Zstandard if it ends in .zst. Files are opened as reader/trace/draft.h says:
 * what was there before stays until all of the new file is written.
 */
#ifndef FXT_FXT_OUTPUT_H
#define FXT_FXT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include "reader/trace/draft.h"

struct fxt_output_stream;

struct fxt_output {
	FILE *file; /* to write to; whether it worked is told at the end */
	struct fxt_output_stream *stream;
	const char *name;
	bool is_standard;
	struct fxt_draft draft; /* unless it is standard */
};

/* Where the output goes if nobody says so: "run.svg" for "run.fxt" and the ending "svg", the standard output
 * for the standard input. To be freed. */
char *fxt_output_name(const char *trace, const char *ending);

/* Opens an output, which must not be the file that its trace is read from, and has the mode of that where it
 * is new. `name` stays valid. Returns 0, or -1 when why not was told. */
int fxt_output_open(struct fxt_output *output, const char *name, const struct fxt_source_file *from);

/* The same for a file in a directory; `name` is for messages. */
int fxt_output_open_in(struct fxt_output *output, int directory, const char *file, const char *name,
        const struct fxt_source_file *from);

/* Returns 0, or -1 if not all could be written, which was told. */
int fxt_output_close(struct fxt_output *output);

/* Instead of closing it: forgets what was written, where that is a file. */
void fxt_output_abandon(struct fxt_output *output);

#endif
