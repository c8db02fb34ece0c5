/*
 * The place that the trace is written to. A regular file holds the raw archive while the
 * program runs, so that it exists whatever happens; at the end the finished trace, with
 * names, replaces it. In all other cases (pipe, device, standard output, a file in a folder
 * without write permission) the raw archive is collected in an unnamed temporary file, and
 * the finished trace is copied to its place at the end.
 *
 * An existing trace is left unchanged until the program has been started.
 */
#ifndef FXT_LAUNCHER_MANAGER_OUTPUT_H
#define FXT_LAUNCHER_MANAGER_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "compressor.h"
#include "launcher/options.h"
#include "symbolizer/rewrite.h"

#define FXT_TRACE_OUTPUT_OLD ".old"

struct fxt_trace_output {
	const char *name; /* for messages */
	const char *raw_name;
	int raw_fd; /* of the raw archive */
	/* receives a copy of the finished trace; -1 = it replaces the file at `path` */
	int final_fd;
	/* standard output, written from its current offset whatever it is. The program's
	 * standard output is then fxtrun's standard error. */
	bool standard;
	bool created;      /* the file did not exist before */
	bool has_kept_old; /* the file existed before, and is kept */
	/* much of the raw archive has no content; the finished trace is written without
	 * that */
	bool is_roomy;
	/* the finished trace is compressed, as its name asks for */
	bool is_compressed;
	struct fxt_compressor_queue *queue; /* the raw archive goes there compressed through
	                                     * it; or NULL */
	/* the decompressed archive of a killed manager; -1 = none */
	int plain_fd;
	/* of the file to replace: absolute, without symbolic links */
	char path[PATH_MAX];
};

/* Makes an unnamed file in TMPDIR or /tmp. Returns its descriptor, or -1 and errno. */
int fxt_trace_output_temporary_file(void);

/* True if a file of that name must be compressed: it ends in .zst. */
bool fxt_trace_output_is_compressed(const char *name);

/* Returns the place of the extension in a name, .fxt.zst included; its end if it has none.
 * A number goes before it. */
const char *fxt_trace_output_extension(const char *name);

/* True for a name of the standard output: "-", /dev/stdout ... */
bool fxt_trace_output_is_standard(const char *name);

/* Opens `name`; "-" is the standard output. Waits for the reader of a named pipe. Refuses a
 * file that the program also writes its text to. With `defer` nothing is written there
 * before the end. `advice` ends the message about choosing another output. Returns 0, or -1
 * and one line in error[error_bytes]. */
int fxt_trace_output_open(struct fxt_trace_output *output, const char *name, bool defer, const char *advice,
        char *error, size_t error_bytes);

/* Takes over an output that another process opened by that name and handed over: the raw
 * archive, and the descriptor for the finished copy, or -1. */
void fxt_trace_output_adopt(struct fxt_trace_output *output, const char *name, int raw_fd, int final_fd);

/* Compresses the raw archive while it is written, if the trace must be compressed and
 * arrives bit by bit. Otherwise, or without a queue, the finished trace is compressed at
 * the end. The queue must be mapped before the manager is forked. */
void fxt_trace_output_compress(
        struct fxt_trace_output *output, enum fxt_buffering_mode mode, struct fxt_compressor_queue *queue);

/* For the supervisor after the manager was killed: returns a descriptor of its archive,
 * uncompressed, which the output owns; or -1 and errno. */
int fxt_trace_output_recover(struct fxt_trace_output *output);

/* The program could not be started: restores the earlier state and closes the output. */
void fxt_trace_output_abandon(struct fxt_trace_output *output);

/* The program was started: discards the earlier contents of the file. With `keeps_old` they
 * are kept beside it, if possible, under a name that ends in FXT_TRACE_OUTPUT_OLD. */
void fxt_trace_output_begin(struct fxt_trace_output *output, bool keeps_old);

/* Returns the options for rewriting an archive to a trace as the user wants it. The rate is
 * the final one. From the given ticks on the options' filter no longer held (0 = it held to
 * the end). */
struct fxt_rewrite_options fxt_trace_output_rewriting(const struct fxt_options *options, uint64_t kept_from,
        uint64_t ticks_per_second, bool symbols, bool compressed);

/*
 * All records are in the archive: finishes it according to the options, and moves the trace
 * to its place. Without `symbols` the archive has its names and rates already; it is then
 * rewritten only to compress it. Stores the trace's size in *bytes. Returns 0, or -1 and
 * one line in error[error_bytes] about the state of the trace. Closes the output.
 */
int fxt_trace_output_finish(struct fxt_trace_output *output, const struct fxt_rewrite_options *options,
        uint64_t *bytes, char *error, size_t error_bytes);

#endif
