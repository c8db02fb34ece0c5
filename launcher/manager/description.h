/*
 * Writes the data that viewers show beside the timeline: the system, how the session
 * recorded, the command lines and parents of its processes, and where the view opens.
 * Readers of the format do not need it. Each piece is a Perfetto packet in a blob record of
 * type 3 (the section on blob records), which the Perfetto UI reads.
 */
#ifndef FXT_LAUNCHER_MANAGER_DESCRIPTION_H
#define FXT_LAUNCHER_MANAGER_DESCRIPTION_H

#include <sys/types.h>
#include "archive.h"
#include "launcher/options.h"
#include "perfetto/protobuf.h"
#include "writer/format/archive_state.h"

/* Describes the system and how the session records. Call once, at the beginning of the
 * archive. */
void fxt_describe_session(struct fxt_archive_writer *archive, const struct fxt_options *options);

/* Describes a live process: the name that it has in the trace (viewers use it as the
 * process name), then its arguments. parent_koid is 0 if its parent is not in the trace.
 * Returns the data of an FXT_DESCRIPTION_BLOB; the caller owns it. */
struct fxt_message fxt_describe_process(
        const struct fxt_archive_provider *identity, pid_t pid, uint64_t koid, uint64_t parent_koid);

/* The parent of a live process; 0: not known. */
pid_t fxt_description_parent(pid_t pid);

/* True if a process is stopped, by a signal or by its tracer. */
bool fxt_description_is_stopped(pid_t pid);

/* Writes when the program's first thread began: viewers open the trace there, not at the
 * time when the program was loaded. ticks_per_second is the archive's, and not 0. */
void fxt_describe_start(struct fxt_archive_writer *archive, uint64_t ticks, uint64_t ticks_per_second);

/* Writes the source positions of the archive's functions, at that time, and forgets
 * them. */
void fxt_describe_functions(struct fxt_archive_writer *archive, uint64_t ticks, uint64_t ticks_per_second);

/* Ends the calls that were open in killed processes. */
void fxt_describe_open_calls(struct fxt_archive_writer *archive, uint64_t ticks_per_second);

/* Finds the open calls by reading the archive, for a caller that did not write all of it.
 * Does nothing if the archive cannot be read. */
void fxt_description_find_open_calls(struct fxt_archive_writer *archive);

#endif
