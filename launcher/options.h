/*
 * The options of a session, from the command line of fxtrun (fxtrun/command_line.h) or from
 * a controller (control/trace_config.h).
 */
#ifndef FXT_LAUNCHER_OPTIONS_H
#define FXT_LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "launcher/triggers.h"
#include "symbolizer/record_filter.h"
#include "writer/shared/shared.h"

#define FXT_PROVIDER_SPECS 100 /* Fuchsia's limit */

/* The buffer size for processes of that name. */
struct fxt_provider_spec {
	const char *name; /* not zero-terminated */
	size_t name_bytes;
	uint64_t buffer_bytes;
};

/* The descendants of the program that are recorded. */
enum fxt_follow {
	FXT_FOLLOW_NONE = 0,
	FXT_FOLLOW_FORK = 1, /* forked children, until they execute another program */
	FXT_FOLLOW_EXEC = 2, /* programs that are executed */
};

/* Elides calls of functions without limits of their own in the filter. */
struct fxt_call_limits {
	uint64_t min_duration_ns; /* calls that take less are elided; 0 = none */
	uint64_t first_counted;   /* as in struct fxt_limit (writer/engine/elided.h) */
};

#define FXT_CATEGORIES_BYTES FXT_CATEGORY_NAMES_BYTES

/* Zero-terminated names; no bytes = all categories. */
struct fxt_categories {
	char names[FXT_CATEGORIES_BYTES];
	uint32_t bytes;
};

/* Patterns of imported functions, as in the control memory. */
struct fxt_library_calls {
	char patterns[FXT_LIBRARY_CALLS_BYTES];
	uint32_t bytes;
};

/* When recording begins: with the program; when a controller says so; when a controller has
 * sent a configuration, which the program's start also waits for; or the program starts at
 * once, and controllers make recordings of it, one after the other. */
enum fxt_start { FXT_START_NOW, FXT_START_PAUSED, FXT_START_CONTROLLER, FXT_START_IDLE };

/* A value of --args or --returns. */
struct fxt_argument_list {
	const char *text;
	bool is_of_results;
};

/* When the trace goes on in another file; all 0: never. */
struct fxt_rotate {
	uint64_t bytes; /* once the file has this size; 0 = any */
	uint64_t ns;    /* after this time; 0 = any */
	uint32_t keep;  /* the number of files that stay, the latest ones */
};

#define FXT_ARGUMENT_LISTS 32
#define FXT_USDT_VALUES    16

struct fxt_options {
	const char *output_file; /* "-" = standard output */
	bool keeps_old;          /* an existing trace is kept as FILE.old, because the user
	                          * did not name the file */
	const char *session;     /* the session's name; NULL = not given */
	uint64_t buffer_bytes;   /* buffer size of the program itself; valid as a trace
	                          * buffer's size */
	uint64_t descendant_buffer_bytes;
	uint64_t total_bytes; /* circular: size limit of the trace; 0 = the value of
	                       * fxt_options_total_bytes() */
	uint64_t max_bytes;   /* streaming, oneshot: the recording ends when the trace has
	                       * this size; 0 = never */
	struct fxt_rotate rotate;
	bool file_per_process;
	const char *process_files; /* the pattern of their names (fxtrun/output_name.h) */
	/* if two have the same name, the later one counts */
	struct fxt_provider_spec provider_specs[FXT_PROVIDER_SPECS];
	unsigned provider_spec_count;
	unsigned follow;      /* bits of enum fxt_follow; both bits = all */
	uint64_t duration_ns; /* duration of the session; 0 = as long as the program runs */
	const char *attach;   /* the process to record instead of a program, or a unit; NULL = none */
	pid_t attach_pid;     /* of that process, or of the unit's first one */
	bool detach;          /* the program continues when the session ends */
	bool decouple;        /* the session continues when the program ends */
	enum fxt_buffering_mode buffering_mode;
	enum fxt_on_full on_full;
	enum fxt_heap_mode heap_mode;
	enum fxt_heap_stacks heap_stacks;
	uint64_t heap_sample_bytes;
	bool populate;     /* allocate all pages of the buffers before the programs
	                        * begin */
	const char *patch; /* patterns of modules with commas between them, "" = the programs
	                     * themselves; NULL = none */
	bool verbose;      /* write a line for each function that `patch` leaves out */
	/* the values of --usdt */
	const char *usdt[FXT_USDT_VALUES];
	unsigned usdt_count;
	unsigned logs;      /* logs of the program that are recorded: a sum of enum fxt_log */
	bool connections;   /* note the positions of TCP connections */
	bool no_patch;      /* do not patch hook calls in the programs' code */
	bool library_calls; /* record the calls of imported functions, those that the
	                        * patterns choose */
	struct fxt_library_calls library_patterns;
	struct fxt_argument_list argument_lists[FXT_ARGUMENT_LISTS];
	unsigned argument_list_count;
	bool no_sched;         /* no context switches in the trace */
	bool calibrate;        /* measure the cost of recording first */
	bool raw;              /* functions keep their placeholders, for fxt symbolize */
	bool no_perfetto_heap; /* no heap profiles for the Perfetto UI in the finished trace */
	struct fxt_categories categories;
	struct fxt_record_filter filter; /* chooses functions */
	uint32_t depth_limit;            /* deepest level of calls recorded; 0 = any */
	struct fxt_call_limits limits;
	bool has_min_duration;   /* min_duration_ns was given, even as 0 */
	unsigned muting_percent; /* percentage of the time that recording may take before
	                          * functions are muted; 0 = any */
	enum fxt_start start;
	uint64_t start_timeout_ns;                 /* time limit for all processes to begin to
	                                            * record */
	bool defer_transfer;                       /* streaming: write nothing to the output
	                                            * before the end */
	struct fxt_trigger triggers[FXT_TRIGGERS]; /* index = number - 1 */
	uint32_t trigger_count;
	bool uses_project_file; /* some options come from the project's file */
	char **program;         /* its argv, ended by NULL; points into fxtrun's */
};

/* Sets the defaults. `program` is NULL then, and must be set. */
void fxt_options_default(struct fxt_options *options);

/* Reads a minimum duration of calls, with its unit, up to 10^18 ns. Returns NULL, or a
 * description of the error. */
const char *fxt_options_read_min_duration(const char *text, uint64_t *nanoseconds);

/* True if the trace is several files, one after the other. */
static inline bool fxt_options_rotate(const struct fxt_options *options)
{
	return options->rotate.bytes || options->rotate.ns;
}

/* True if calls are elided by properties known only at their end
 * (writer/engine/elided.h). */
bool fxt_options_elide_calls(const struct fxt_options *options);

/*
 * Returns how the heap is recorded. FXT_HEAP_AUTO records the heap only if calls are
 * recorded in full. It does not record the heap if a buffer of limited size, or a slow
 * disk, keeps only a part of the calls, because this part would become smaller; nor if
 * calls are elided for their duration or number, or files of the trace are deleted.
 */
enum fxt_heap_mode fxt_options_heap_mode(const struct fxt_options *options);

/* True if the heap of programs without instrumentation is recorded too. */
bool fxt_options_want_heap(const struct fxt_options *options);

/* The size limit for the trace of a circular session. The trace may exceed it if the
 * processes left at the end have more data. */
uint64_t fxt_options_total_bytes(const struct fxt_options *options);

/* The buffer size, in bytes, for a provider of that name. `is_program`: it is the program
 * itself, not a descendant. The name need not be zero-terminated. */
uint64_t fxt_options_buffer_bytes(
        const struct fxt_options *options, const char *name, size_t name_bytes, bool is_program);

#endif
