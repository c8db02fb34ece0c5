/*
 * Names the files of descriptors that threads waited for. An instant "descriptor" of
 * category "sched" says which file a descriptor of a process was at that time
 * (launcher/sched/sched_blocked.h).
 *
 *   read of fd 7   descriptor 7: /srv/a   read of fd 7   descriptor 7: /srv/a   read of fd 7
 *   unknown                               /srv/a                                unknown
 *
 * A wait has the file of the instant in it. A wait without an instant has the file that the
 * instants before and after it agree on, if it lasted long enough to get one itself.
 *
 * If a wait is for several descriptors, an instant on its thread's track names them and their
 * files, as in "fd 3 (pipe:[123]) and fd 5 (/srv/a)". It applies to the wait around it only:
 * the thread's next wait may be for other descriptors.
 */
#ifndef FXT_READER_WAIT_FILES_H
#define FXT_READER_WAIT_FILES_H

#include "reader/trace/spill.h"
#include "reader/trace/tables.h"

struct fxt_wait_file {
	uint64_t owner;  /* koid of the process; of several descriptors: id of the thread */
	uint64_t object; /* the descriptor plus 1; 0: there are several */
	uint64_t ns;
	uint32_t file;
};

/* Notes the file of an instant of category "sched", if it tells of one. */
void fxt_wait_files_record(struct fxt_spill *files, struct fxt_tables *t, const struct fxt_view *view);

/* Gives waits (struct fxt_wait) without a file the one that is known, and sorts the files. */
void fxt_wait_files_join(struct fxt_spill *files, struct fxt_spill *waits);

#endif
