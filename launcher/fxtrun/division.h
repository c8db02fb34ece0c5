/*
 * Finds out for each record of a finished trace which process it belongs to
 * (process_files.h).
 *
 *     a provider's records           its process
 *     the scheduler's records        the process of the thread that they are about
 *     descriptions of processes      that process
 *     clocks, the machine, strings   all processes, because each file needs them
 *     of the scheduler
 *
 * Rows that viewers draw of the whole trace belong to no process and are left out. The first
 * process gets the records of threads and processes that nothing describes. So the files
 * together have all other records.
 *
 * The trace is read twice, because a record may come before the one that says whose it is.
 * Memory holds the processes and threads, and spills hold the rest.
 */
#ifndef FXT_LAUNCHER_FXTRUN_DIVISION_H
#define FXT_LAUNCHER_FXTRUN_DIVISION_H

#include "perfetto/open_calls.h"
#include "reader/trace/spill.h"
#include "reader/trace/tables.h"

/* Stands for all processes; their own numbers begin with 1. */
#define FXT_DIVISION_ALL 0u

/* Consecutive records of one process. */
struct fxt_division_run {
	uint64_t offset, bytes; /* in the archive */
	uint32_t process;
	uint32_t provider; /* 0: they are outside of providers' sections */
};

/* A number, and the process that it belongs to. */
struct fxt_division_owners {
	struct fxt_division_owner {
		uint64_t key;
		uint32_t process;
	} * items;
	size_t count, room;
	struct fxt_index index;
};

struct fxt_division {
	struct fxt_tables tables; /* at the end of the archive */
	uint64_t *koids;          /* of the processes, by number; the first is not used */
	size_t count, room;       /* the first one is counted too */
	uint32_t first;           /* the process of the earliest provider; 0: there is no process */
	struct fxt_spill runs;    /* in order: by process, and by offset */
	struct fxt_open_calls open_calls;
	bool has_open_calls; /* the trace has the row that ends them for viewers */
	bool has_profiles;   /* the trace has profiles of a heap for viewers */
	/* while it is made */
	struct fxt_division_owners processes, threads, providers; /* by koid, koid, id */
	uint32_t first_provider;
	struct fxt_division_run run;
};

/* Reads the archive, which must stay open for the tables' sake. */
void fxt_divide(struct fxt_division *division, const struct fxt_archive *archive);
void fxt_division_free(struct fxt_division *division);

#endif
