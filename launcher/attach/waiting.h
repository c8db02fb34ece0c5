/*
 * Notes the waits that began before the process is attached to. The agent records none of
 * them. Each waiting thread is noted while it is stopped, with its system call and its
 * stack. The names of functions are found later.
 */
#ifndef FXT_LAUNCHER_ATTACH_WAITING_H
#define FXT_LAUNCHER_ATTACH_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "launcher/sched/sched_blocked.h"
#include "stack.h"
#include "tracee.h"

/* More threads wait for work, as a rule, and tell the same. */
#define FXT_WAITING_THREADS 256

#define FXT_WAITING_PATH_BYTES 2048

/* A thread that waits. */
struct fxt_waiting {
	pid_t pid, tid;
	pid_t holder;                      /* the thread that has the mutex; 0: none is known */
	char function[32];                 /* that waits; empty: the system call tells enough */
	char line[FXT_BLOCKED_LINE_BYTES]; /* of /proc/PID/task/TID/syscall */
	size_t path_bytes;
	char path[FXT_WAITING_PATH_BYTES]; /* fxt_stacks_path() */
};

struct fxt_waiting_list {
	struct fxt_waiting *items;
	struct fxt_stack_frames *frames; /* of each */
	size_t count;
};

/* If memory is short, nothing is noted. */
void fxt_waiting_open(struct fxt_waiting_list *list);
void fxt_waiting_close(struct fxt_waiting_list *list);

/* Notes a stopped thread, if it waited in a system call. */
void fxt_waiting_note(
        struct fxt_waiting_list *list, struct fxt_stacks *stacks, const struct fxt_tracee *thread);

/* Completes all that were noted. */
void fxt_waiting_name(struct fxt_waiting_list *list, struct fxt_stacks *stacks);

#endif
