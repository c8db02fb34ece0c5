/*
 * What viewers show beside the timeline: the system, how the session recorded, the command lines of its
 * processes and who began whom, and where the view opens. Readers of the format do not need it: each is a
 * Perfetto packet in a blob record of type 3 (the section on blob records), which the Perfetto UI reads.
 */
#ifndef FXT_LAUNCHER_SESSION_DESCRIPTION_H
#define FXT_LAUNCHER_SESSION_DESCRIPTION_H

#include <sys/types.h>
#include "archive.h"
#include "launcher/options.h"
#include "symbolizer/protobuf.h"
#include "writer/archive_state.h"

/* The system, and how the session records: once, at the archive's beginning. */
void fxt_describe_session(struct fxt_archive_writer *archive, const struct fxt_options *options);

/* A process that lives: its arguments, behind the name that it has in the trace, which viewers take over as
 * that of the process. parent_koid is 0 if who began it is not in the trace. Returns the data of an
 * FXT_DESCRIPTION_BLOB, the caller's. */
struct fxt_message fxt_describe_process(
        const struct fxt_archive_provider *identity, pid_t pid, uint64_t koid, uint64_t parent_koid);

/* Who began a process that lives; 0: that is not known. */
pid_t fxt_description_parent(pid_t pid);

/* Whether a process is stopped, by a signal or by who traces it. */
bool fxt_description_is_stopped(pid_t pid);

/* When the program's first thread began: viewers open there, and not where it was loaded. ticks_per_second is
 * that of the archive, and not 0. */
void fxt_describe_start(struct fxt_archive_writer *archive, uint64_t ticks, uint64_t ticks_per_second);

/* Where the archive's functions stand in the source, at that time; forgets them. */
void fxt_describe_functions(struct fxt_archive_writer *archive, uint64_t ticks, uint64_t ticks_per_second);

/* Where the calls end that were open in processes that were killed. */
void fxt_describe_open_calls(struct fxt_archive_writer *archive, uint64_t ticks_per_second);

/* Finds what the archive knows of open calls, by reading it: who writes it did not write all of it. Nothing
 * if it cannot be read. */
void fxt_description_find_open_calls(struct fxt_archive_writer *archive);

#endif
