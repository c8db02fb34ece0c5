/*
 * --rotate: the trace goes on in another file while the program runs, and only the latest
 * files stay.
 *
 *     time or size --> the next archive begins, and is the session's --> each provider's
 *     thread turns to it when it comes by --> the last one has left the old archive -->
 *     a thread finishes its file --> the oldest file is deleted
 *
 * No program waits for that. A file is finished before the next one ends: until then, the
 * next one grows. Everything here runs on the main thread, except for the finishing.
 */
#ifndef FXT_LAUNCHER_FXTRUN_ROTATION_H
#define FXT_LAUNCHER_FXTRUN_ROTATION_H

#include <limits.h>
#include <pthread.h>
#include "launcher/manager/output.h"
#include "launcher/manager/session.h"
#include "trace_file.h"

/* A file that is finished. */
struct fxt_rotated_file {
	uint64_t events, bytes;
	bool is_deleted;
};

struct fxt_rotations {
	struct fxt_session *session;
	struct fxt_trace_output *output; /* of the file that is being written */
	uint64_t id;                     /* struct fxt_rotation has it */
	uint32_t first, number;          /* of the first file, and of the one being written */
	char names[2][PATH_MAX];         /* of that one and the one before it, by number */
	uint64_t began_ns, began_ticks;  /* when that one began */
	bool has_failed;                 /* the next file could not be opened; this was said */

	/* The file before, until it is finished. */
	struct fxt_archive_writer *old; /* NULL: it is finished, or there is none */
	struct fxt_trace_output old_output;
	uint64_t old_began_ticks, kept_from;
	bool is_finishing, has_finisher; /* `finisher` runs */
	pthread_t finisher;
	uint32_t is_finished; /* stored by that thread: `end` is final */
	struct fxt_trace_file_end end;

	struct fxt_rotated_file *files; /* those that are finished, from `first` on */
	uint64_t bytes_unwritten;       /* that they could not take */
	bool is_incomplete;             /* something went wrong with one of them */
};

/* Chooses the first number: the one behind those of existing files. Returns the first
 * file's name; NULL: it is too long. */
const char *fxt_rotations_prepare(struct fxt_rotations *rotations, const char *output);

/* The first file is about to begin, in `output`. Keeps both pointers. Returns the file's
 * place among the files. */
struct fxt_rotation fxt_rotations_begin(
        struct fxt_rotations *rotations, struct fxt_session *session, struct fxt_trace_output *output);

/* Goes on with what is due; at each turn of the main thread. */
void fxt_rotations_look(void *rotations);

/* No thread writes to the old archive any more, because the session is finished: finishes
 * its file. */
void fxt_rotations_end(struct fxt_rotations *rotations);

/* The last file is finished, and has that size: subtracts the deleted events from the sums,
 * and describes the files. Returns the size of those that stay. */
uint64_t fxt_rotations_sum_up(
        struct fxt_rotations *rotations, struct fxt_totals *totals, uint64_t last_bytes);

#endif
