/*
 * What a session was asked for: by the command line of fxtrun (fxtrun/command_line.h), or by a controller
 * (control/trace_config.h).
 */
#ifndef FXT_LAUNCHER_OPTIONS_H
#define FXT_LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include "launcher/triggers.h"
#include "symbolizer/selection.h"
#include "writer/shared.h"

#define FXT_PROVIDER_SPECS 100 /* Fuchsia's limit */

/* The size of the buffers of the processes of one name. */
struct fxt_provider_spec {
	const char *name; /* not ended by a zero byte */
	size_t name_bytes;
	uint64_t buffer_bytes;
};

/* Which processes that come of the program are recorded. */
enum fxt_follow {
	FXT_FOLLOW_NONE = 0,
	FXT_FOLLOW_FORK = 1, /* forked children, until they execute another program */
	FXT_FOLLOW_EXEC = 2, /* programs that are executed */
};

/* What leaves calls out, of functions for which the filter has no limits of their own. */
struct fxt_call_limits {
	uint64_t min_duration_ns; /* a call that takes less is; 0 = none */
	uint64_t first_counted;   /* as in struct fxt_limit (writer/elided.h) */
};

#define FXT_CATEGORIES_BYTES 2048

/* Each name ended by a zero byte; no bytes = all categories. */
struct fxt_categories {
	char names[FXT_CATEGORIES_BYTES];
	uint32_t bytes;
};

/* When recording begins: with the program; when a controller says so; the same, and the program begins once a
 * controller has said how to record; or the program begins at once, and controllers make recordings of it,
 * one after the other. */
enum fxt_start { FXT_START_NOW, FXT_START_PAUSED, FXT_START_CONTROLLER, FXT_START_IDLE };

struct fxt_options {
	const char *output_file; /* "-" = standard output */
	bool keeps_old;        /* a trace that is there already is kept as FILE.old: nobody named the file */
	const char *session;   /* its name; NULL = none was given */
	uint64_t buffer_bytes; /* of the program itself; valid as a trace buffer's size */
	uint64_t descendant_buffer_bytes;
	uint64_t total_bytes; /* circular: of the trace; 0 = what fxt_options_total_bytes() says */
	struct fxt_provider_spec provider_specs[FXT_PROVIDER_SPECS]; /* of two for a name the later counts */
	unsigned provider_spec_count;
	unsigned follow;      /* enum fxt_follow, both bits = all */
	uint64_t duration_ns; /* of the session; 0 = as long as the program runs */
	bool detach;          /* the program goes on when the session ends */
	bool decouple;        /* the session goes on when the program ends */
	enum fxt_buffering_mode buffering_mode;
	enum fxt_on_full on_full;
	enum fxt_heap_mode heap_mode;
	enum fxt_heap_stacks heap_stacks;
	uint64_t heap_sample_bytes;
	bool populate;         /* the buffers' pages are there before the programs begin */
	bool no_patch;         /* calls of hooks stay in the programs' code */
	bool no_sched;         /* no context switches in the trace */
	bool calibrate;        /* measure what recording costs, first */
	bool raw;              /* functions stay without names, for fxt symbolize */
	bool no_perfetto_heap; /* no heap profiles for the Perfetto UI in the finished trace */
	struct fxt_categories categories;
	struct fxt_selection filter; /* of functions */
	uint32_t depth_limit;        /* so many calls deep is recorded; 0 = any */
	struct fxt_call_limits limits;
	bool has_min_duration; /* one was given, if it be 0 */
	unsigned
	        muting_percent; /* of the time may be spent on recording, else functions are muted; 0 = any */
	enum fxt_start start;
	uint64_t start_timeout_ns;                 /* all processes have so long to begin to record */
	bool defer_transfer;                       /* streaming: nothing goes to the output before the end */
	struct fxt_trigger triggers[FXT_TRIGGERS]; /* by number less one */
	uint32_t trigger_count;
	bool uses_project_file; /* some options are from there */
	char **program;         /* its argv, ended by NULL; points into the one given */
};

/* Fills in what holds where nothing is asked for. `program` is NULL then, and has to be set. */
void fxt_options_default(struct fxt_options *options);

/* Reads a time that calls are to take, with its unit, up to 10^18 ns. Returns NULL, or what is wrong with it.
 */
const char *fxt_options_read_min_duration(const char *text, uint64_t *nanoseconds);

/* Whether calls are left out by what is known of them only at their end (writer/elided.h). */
bool fxt_options_elide_calls(const struct fxt_options *options);

/*
 * What is recorded of the heap. By FXT_HEAP_AUTO it is recorded where calls are recorded in full: not where a
 * buffer of limited size, or a disk that is too slow, keeps a part of them, which would be a smaller one
 * then; nor where calls are left out for how short or how many they are.
 */
enum fxt_heap_mode fxt_options_heap_mode(const struct fxt_options *options);

/* How large the trace of a circular session may become, unless the processes that are left at its end have
 * more. */
uint64_t fxt_options_total_bytes(const struct fxt_options *options);

/* How large the buffer of a provider of that name is to be, in bytes; `is_program`: it is the program itself,
 * and not a process that came of it. The name need not be ended by a zero byte. */
uint64_t fxt_options_buffer_bytes(
        const struct fxt_options *options, const char *name, size_t name_bytes, bool is_program);

#endif
