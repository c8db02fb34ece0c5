/*
 * The descriptors that a thread waits for in poll(), ppoll(), select() or pselect(). They lie
 * in the program's memory. At most 2 KiB of it are read, whatever the call's arguments are.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_SET_H
#define FXT_LAUNCHER_SCHED_SCHED_SET_H

#include <stdbool.h>
#include <stdint.h>
#include "sched_calls.h"

enum { FXT_SET_SHOWN = 3 };

struct fxt_sched_set {
	int32_t fds[FXT_SET_SHOWN]; /* the first ones, as the call has them */
	uint32_t count;             /* of all that were read */
	bool has_more;              /* the call has some that were not read */
};

/* Reads the descriptors of such a call. `line` is that of /proc/PID/task/TID/syscall. Its
 * number is ignored: the kernel may continue the call as another one with the same arguments.
 * False: the call waits for no descriptor, or its memory cannot be read. */
bool fxt_sched_set_read(
        struct fxt_sched_set *set, uint32_t pid, enum fxt_sched_subject subject, const char *line);

#endif
