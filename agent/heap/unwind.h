/*
 * Walking the stack of the calling thread, by the unwind tables of the program's modules (cfi.h). What a
 * table says of an instruction is remembered in one word for the whole process, so that a frame usually costs
 * a look-up and two loads. A walk takes no lock, allocates nothing, and keeps errno. It makes no system call
 * either, as long as the stack is one whose bounds are given; what lies elsewhere is read by a system call
 * that cannot fault (process_vm_readv). Damaged tables, code without tables and words that are no addresses
 * end a walk.
 */
#ifndef FXT_AGENT_UNWIND_H
#define FXT_AGENT_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#define AGENT_WALK_INNER 192   /* frames that are kept of any walk */
#define AGENT_WALK_MAX   256   /* all that are kept */
#define AGENT_WALK_FAR   65536 /* a walk ends after so many */

/* Stands in a walk for frames that are left out. No code is there. */
#define AGENT_WALK_LEFT_OUT UINT64_C(1)

/*
 * Return addresses, innermost first; for the frame that a signal interrupted, the address behind the first
 * byte of the instruction it was at. Of a stack with more frames than there is room for, frames in the midst
 * are left out, and AGENT_WALK_LEFT_OUT stands in their place; of one with more than AGENT_WALK_FAR the
 * outermost ones, and it stands at the end.
 */
struct agent_walk {
	unsigned count;
	uint64_t addresses[AGENT_WALK_MAX];
};

/* Maps what is needed. False: no memory. */
bool agent_unwind_prepare(void);

/* A module is about to be unloaded, and another one may come in its place. */
void agent_unwind_forget(void);

/*
 * Walks from `caller`, a return address on the stack, outwards. From the caller's frame up to `stack_end` the
 * stack may be read; 0: nobody knows where it ends. None found: the walk's count is 0.
 */
void agent_unwind(uint64_t caller, uint64_t stack_end, struct agent_walk *walk);

#endif
