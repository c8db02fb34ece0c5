/*
 * The rows in which viewers draw the page faults of threads (writer/thread_object.h). Each is described in
 * the archive before its first fault, and again under the name that its thread got later.
 *
 * Errors: where memory is short they do not return (reader/trace/index.h).
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_ROWS_H
#define FXT_LAUNCHER_SCHED_SCHED_ROWS_H

#include "launcher/session/archive.h"
#include "reader/trace/index.h"
#include "reader/trace/tables.h"
#include "writer/control.h"

struct fxt_sched_row {
	struct fxt_koids koids; /* of its thread */
	char name[FXT_THREAD_NAME_BYTES];
	bool is_written; /* the archive has it, under this name */
};

struct fxt_sched_rows {
	struct fxt_sched_row *items;
	struct fxt_index index; /* by the thread's koid */
	size_t count, room;
	bool has_new; /* names were not asked for since the latest one came to be */
};

void fxt_sched_rows_free(struct fxt_sched_rows *rows);

/* The koid of a thread's row, which there is from now on. */
uint64_t fxt_sched_rows_koid(struct fxt_sched_rows *rows, struct fxt_koids thread);

/* Gives the rows of a provider's threads the names that these have now. */
void fxt_sched_rows_name(struct fxt_sched_rows *rows, const struct fxt_control *control);

/* Describes all rows, or those that an earlier call did not; of a name it is the latest description that
 * counts. */
void fxt_sched_rows_write_all(const struct fxt_sched_rows *rows, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);
void fxt_sched_rows_write_new(struct fxt_sched_rows *rows, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

#endif
