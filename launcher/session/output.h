/*
 * Where the trace goes. A regular file holds the raw archive while the program runs, so that it is there
 * whatever happens, and is replaced by the finished one, with names, at the end. For anything else (pipe,
 * device, standard output, a file in a folder that may not be written to) the raw archive is collected in a
 * temporary file without a name, and the finished one is copied to its place at the end.
 *
 * An existing trace is left as it was until the program has been started.
 */
#ifndef FXT_LAUNCHER_SESSION_OUTPUT_H
#define FXT_LAUNCHER_SESSION_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "compressor.h"
#include "launcher/options.h"
#include "symbolizer/rewrite.h"

#define FXT_TRACE_OUTPUT_OLD ".old"

struct fxt_trace_output {
	const char *name; /* as in messages */
	const char *raw_name;
	int raw_fd;         /* the raw archive */
	int final_fd;       /* where the finished one is copied; -1 = it replaces the file at `path` */
	bool standard;      /* standard output: written to where it stands, whatever it is. The program's
	                       standard output is then fxtrun's standard error. */
	bool created;       /* the file was not there before */
	bool has_kept_old;  /* the file was there before, and is kept */
	bool is_roomy;      /* the raw archive has much that says nothing, and is to be written without it */
	bool is_compressed; /* its name says so: the finished trace is */
	struct fxt_compressor_queue *queue; /* by which the raw archive comes there compressed; or NULL */
	int plain_fd;        /* what had come there when the recorder was killed; -1 = it was not */
	char path[PATH_MAX]; /* of the file to be replaced: absolute, without symbolic links */
};

/* A file without a name, in TMPDIR or /tmp. Returns its descriptor, or -1 and errno. */
int fxt_trace_output_temporary_file(void);

/* Whether a file of that name is to be compressed: it ends in .zst. */
bool fxt_trace_output_is_compressed(const char *name);

/* Whether the name is one of the standard output: "-", /dev/stdout ... */
bool fxt_trace_output_is_standard(const char *name);

/* Opens `name`, "-" being the standard output. Waits for the reader of a named pipe. Refuses a file that the
 * program's text goes to. `defer`: nothing goes there before the end. `advice` ends what is said of choosing
 * another one. Returns 0, or -1 and one line in error[error_bytes]. */
int fxt_trace_output_open(struct fxt_trace_output *output, const char *name, bool defer, const char *advice,
        char *error, size_t error_bytes);

/* What another process has opened by that name, and handed over: the raw archive, and where the finished one
 * is copied, or -1. */
void fxt_trace_output_adopt(struct fxt_trace_output *output, const char *name, int raw_fd, int final_fd);

/* Has the raw archive compressed while it is written, if the trace is to be and comes bit by bit. Where that
 * cannot be, or without a queue, the finished one is. The queue was mapped before the recorder was forked. */
void fxt_trace_output_compress(
        struct fxt_trace_output *output, enum fxt_buffering_mode mode, struct fxt_compressor_queue *queue);

/* The recorder is dead: returns a descriptor of its archive as it is when it is not compressed, the output's;
 * or -1 and errno. */
int fxt_trace_output_recover(struct fxt_trace_output *output);

/* The program could not be started: everything is left as it was before. Closes the output. */
void fxt_trace_output_abandon(struct fxt_trace_output *output);

/* The program was started: what the file held until now is thrown away; with `keeps_old` it is kept beside
 * it, by a name that ends in FXT_TRACE_OUTPUT_OLD, where that can be. */
void fxt_trace_output_begin(struct fxt_trace_output *output, bool keeps_old);

/* How an archive becomes a trace, as the user wants it; the rate is the final one, and from those ticks on
 * the options' filter did not hold any more (0 = it did). */
struct fxt_rewrite_options fxt_trace_output_rewriting(const struct fxt_options *options, uint64_t kept_from,
        uint64_t ticks_per_second, bool symbols, bool compressed);

/*
 * All records are in the archive: finishes it as the options say, and brings the trace to its place. Without
 * `symbols` the archive has its names and rates already; it then is not rewritten, but to be compressed.
 * *bytes becomes its size. Returns 0, or -1 and one line in error[error_bytes] that says what became of the
 * trace. Closes the output.
 */
int fxt_trace_output_finish(struct fxt_trace_output *output, const struct fxt_rewrite_options *options,
        uint64_t *bytes, char *error, size_t error_bytes);

#endif
