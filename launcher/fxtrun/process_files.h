/*
 * --file-per-process: the finished trace becomes a file for each process. Each is a whole
 * trace, and has what the one trace has of that process: calls, losses, modules, switches,
 * page faults. fxt merge of all of them makes one trace again, because they name their
 * session (writer/format/rotation.h).
 *
 * The trace is divided once it is finished, so that recording, snapshots and recovery know
 * nothing of it. Until then there is one file, which is removed afterwards. If it cannot be
 * divided, it stays.
 */
#ifndef FXT_LAUNCHER_FXTRUN_PROCESS_FILES_H
#define FXT_LAUNCHER_FXTRUN_PROCESS_FILES_H

#include "launcher/manager/output.h"
#include "launcher/manager/session.h"

/*
 * Divides the trace of a finished output if the options ask for it. Sets output->name to the
 * file of the program, valid until the next call; sets *bytes to the size of all files, and
 * their number in the totals. If the trace cannot be divided, prints why and changes nothing.
 */
void fxt_process_files_make(const struct fxt_options *options, struct fxt_trace_output *output,
        struct fxt_totals *totals, uint64_t *bytes);

#endif
