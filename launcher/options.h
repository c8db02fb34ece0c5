/*
 * The command line of fxtrun: options, then the program and its arguments, which are not looked at.
 */
#ifndef FXT_LAUNCHER_OPTIONS_H
#define FXT_LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include "writer/shared.h"

struct fxt_options {
	const char *output_file; /* "-" = standard output */
	const char *session;     /* its name; NULL = none was given */
	uint64_t buffer_bytes;   /* of the program itself; valid as a trace buffer's size */
	uint64_t descendant_buffer_bytes;
	enum fxt_buffering_mode buffering_mode;
	enum fxt_on_full on_full;
	enum fxt_heap_mode heap_mode;
	enum fxt_heap_stacks heap_stacks;
	uint64_t heap_sample_bytes;
	bool no_perfetto_heap; /* no heap profiles for the Perfetto UI in the finished trace */
	char categories[FXT_CATEGORIES_BYTES]; /* as in fxt_control */
	uint32_t categories_bytes;             /* 0 = all */
	char **program;                        /* its argv, ended by NULL; points into the one given */
};

enum fxt_options_result {
	FXT_OPTIONS_RUN,
	FXT_OPTIONS_HELP,
	FXT_OPTIONS_VERSION,
	FXT_OPTIONS_WRONG, /* `error` holds one line: what is wrong and what to do */
};

/* Fills in *options, defaults where nothing is given. Reorders nothing; strings point into argv. */
enum fxt_options_result fxt_options_parse(
        struct fxt_options *options, int argc, char **argv, char *error, size_t error_bytes);

/* Prints what --help prints. */
void fxt_options_help(void);

#endif
