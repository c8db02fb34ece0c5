/*
 * The file that a command writes: the standard output for "-", else a file, compressed by
 * gzip if its name ends in .gz (or .svgz), by Zstandard if it ends in .zst. Files are
 * opened as in reader/trace/draft.h: the old contents stay until the new file is complete.
 */
#ifndef FXT_FXT_OUTPUT_H
#define FXT_FXT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include "reader/trace/draft.h"

struct fxt_output_stream;

struct fxt_output {
	FILE *file; /* to write to; errors are reported by fxt_output_close() */
	struct fxt_output_stream *stream;
	const char *name;
	bool is_standard;
	struct fxt_draft draft; /* unless it is the standard output */
};

/* The default output name: "run.svg" for "run.fxt" and the ending "svg"; the standard
 * output if the trace comes from the standard input. The caller frees it. */
char *fxt_output_name(const char *trace, const char *ending);

/* Opens an output. It must not be the file that its trace is read from; a new file gets
 * that file's mode. `name` must stay valid. Returns 0, or -1 after reporting the reason. */
int fxt_output_open(struct fxt_output *output, const char *name, const struct fxt_source_file *from);

/* As above, for a file in a directory; `name` is for messages. */
int fxt_output_open_in(struct fxt_output *output, int directory, const char *file, const char *name,
        const struct fxt_source_file *from);

/* Returns 0, or -1, after reporting it, if not all could be written. */
int fxt_output_close(struct fxt_output *output);

/* Discards the written contents, if the output is a file; use it instead of
 * fxt_output_close(). */
void fxt_output_abandon(struct fxt_output *output);

#endif
