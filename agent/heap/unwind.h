/*
 * Walks the stack of the calling thread, by the unwind tables of the program's modules
 * (cfi.h). A table's rule for an instruction is remembered in one word for the whole
 * process, so that a frame usually costs a look-up and two loads. A walk takes no lock,
 * allocates nothing, and keeps errno. It makes no system call either, as long as the stack
 * has known bounds; words elsewhere are read by a system call that cannot fault
 * (process_vm_readv). Damaged tables, code without tables and words that are no addresses
 * end a walk.
 */
#ifndef FXT_AGENT_UNWIND_H
#define FXT_AGENT_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#define AGENT_WALK_INNER 192   /* innermost frames that every walk keeps */
#define AGENT_WALK_MAX   256   /* frames that a walk keeps at most */
#define AGENT_WALK_FAR   65536 /* a walk ends after this many frames */

/* Stands in a walk for omitted frames. No code has this address. */
#define AGENT_WALK_LEFT_OUT UINT64_C(1)

/*
 * Return addresses, innermost first. For a frame that a signal interrupted: the address
 * behind the first byte of the interrupted instruction. If a stack has more frames than
 * there is room for, frames in the middle are omitted, and AGENT_WALK_LEFT_OUT stands in
 * their place. Beyond AGENT_WALK_FAR frames the outermost ones are omitted, and it stands
 * at the end.
 */
struct agent_walk {
	unsigned count;
	bool is_of_library; /* it ends where the program called the C library */
	uint64_t addresses[AGENT_WALK_MAX];
};

/* Maps the memory for remembered rules. False: no memory. */
bool agent_unwind_prepare(void);

/* A module is about to be unloaded, and another one may take its place: discards all
 * remembered rules. */
void agent_unwind_forget(void);

/* Walks from `caller`, a return address on the stack, outwards. The stack may be read from
 * the caller's frame up to `stack_end`; 0: its end is unknown. With `is_of_library` the walk
 * has the frames of the C library alone, up to the first other one. Its count is 0 if no
 * frame was found. */
void agent_unwind(uint64_t caller, uint64_t stack_end, bool is_of_library, struct agent_walk *walk);

#endif
