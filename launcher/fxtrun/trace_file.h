/*
 * A file of a session's trace: its beginning, before the first record, and its end, once
 * all records are in the archive.
 */
#ifndef FXT_LAUNCHER_FXTRUN_TRACE_FILE_H
#define FXT_LAUNCHER_FXTRUN_TRACE_FILE_H

#include "launcher/manager/output.h"
#include "launcher/manager/session.h"
#include "writer/format/rotation.h"

/* Begins an archive in `output`, which is open and empty. `compressor` may be NULL. */
void fxt_trace_file_begin(const struct fxt_session *session, struct fxt_archive_writer *archive,
        const struct fxt_trace_output *output, struct fxt_compressor *compressor,
        struct fxt_rotation rotation);

struct fxt_trace_file_end {
	uint64_t bytes;   /* of the file */
	bool is_complete; /* nothing went wrong; else a line was printed */
	bool is_lost;     /* nothing readable is left of the file */
};

/* Finishes the archive and moves the trace to its place. Viewers open it at `start_ticks`
 * (0: anywhere). `kept_from` is the session's config.filter_changed_ticks. Closes the
 * output. From any thread. */
struct fxt_trace_file_end fxt_trace_file_finish(const struct fxt_session *session,
        struct fxt_archive_writer *archive, struct fxt_trace_output *output, uint64_t start_ticks,
        uint64_t kept_from, bool lacks_names);

#endif
