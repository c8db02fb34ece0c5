/*
 * Whether a thread may be interrupted for a call of ours: the frames of its stack decide.
 *
 * A thread in malloc() or dlopen() holds locks, or is between two steps of a change. A call
 * from there that allocates or loads a library would wait forever, or find lists torn. It
 * is not enough to look where the thread is: it may be in a handler that interrupted
 * malloc().
 */
#ifndef FXT_LAUNCHER_ATTACH_STACK_H
#define FXT_LAUNCHER_ATTACH_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads the modules of a process and its threads' stacks. */
struct fxt_stacks;

struct fxt_stack {
	bool is_whole; /* the unwinder has reached the thread's first frame */
	bool is_safe;  /* no frame that was seen is in a function that must not be interrupted */
	/* The frames outside of all such functions begin here; 0: not known. A thread that
	 * gets there may be safe. */
	uint64_t next;
};

/* NULL: the process has ended, or may not be read. */
struct fxt_stacks *fxt_stacks_open(pid_t pid);
void fxt_stacks_close(struct fxt_stacks *stacks);

/* Looks at a thread that the caller has stopped. */
struct fxt_stack fxt_stacks_look(struct fxt_stacks *stacks, pid_t tid);

#endif
