/*
 * The ends of processes and of their recordings that leave calls or waits open. Such an end
 * is an instant "killed" of category "process", or an instant of
 * writer/format/process_end.h. A slice that never ends lasts until its process's next end. A
 * process that exits leaves nothing open.
 */
#ifndef FXT_READER_PROCESS_ENDS_H
#define FXT_READER_PROCESS_ENDS_H

#include <stddef.h>
#include <stdint.h>

/* All zeros is empty. */
struct fxt_process_ends {
	struct fxt_end_of_process {
		uint64_t process; /* koid */
		uint64_t time;
	} * items;
	size_t count, room;
};

void fxt_process_ends_add(struct fxt_process_ends *ends, uint64_t process, uint64_t time);

/* Call this once all are there. */
void fxt_process_ends_sort(struct fxt_process_ends *ends);

/* Returns the first end of a process at `moment` or later. UINT64_MAX: there is none. */
uint64_t fxt_process_ends_from(const struct fxt_process_ends *ends, uint64_t process, uint64_t moment);

void fxt_process_ends_free(struct fxt_process_ends *ends);

#endif
