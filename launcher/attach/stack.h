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

/* The innermost frames of a stack. */
#define FXT_STACK_FRAMES 64

struct fxt_stack_frames {
	uint64_t pcs[FXT_STACK_FRAMES]; /* inside the calling instructions, the innermost first */
	unsigned count;
};

/* Takes the frames of a thread that the caller has stopped. */
void fxt_stacks_take(struct fxt_stacks *stacks, pid_t tid, struct fxt_stack_frames *frames);

/*
 * Writes the names of the functions that the frames are in, the outermost first, each ended
 * by a zero. Functions of the C library that call each other are left out, except for the
 * outermost of them, and so is the library's code that calls main() or a thread's function.
 * If the path is longer than the room, the outermost functions are missing. Returns the
 * size.
 */
size_t fxt_stacks_path(
        struct fxt_stacks *stacks, const struct fxt_stack_frames *frames, char *path, size_t room);

#endif
