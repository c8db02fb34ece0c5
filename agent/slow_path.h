/*
 * What the hooks leave aside, so that their own path is short (functions.c): first sight of a thread or a
 * function, full chunks and shadow stacks, dead frames, forked children, coroutines, and hooks inside of
 * hooks, which are those of signal handlers.
 *
 * `place` is the stack pointer of the hook's caller as a distance (stacks.h), `stack_pointer` the same as an
 * address. All run on the thread that the block belongs to.
 */
#ifndef FXT_AGENT_SLOW_PATH_H
#define FXT_AGENT_SLOW_PATH_H

#include "shadow.h"

#define COLD __attribute__((noinline, cold))

/* The clock is a parameter so that the hooks' own copy is the bare counter: a call on this path would cost
 * them the saving of registers. */
static inline void agent_push(struct fxt_block *block, struct fxt_thread_slot *slot, struct fxt_frame *top,
        uint64_t word, const void *call_site, uint64_t place, enum fxt_clock_kind clock)
{
	top->call_site = (uint64_t)(uintptr_t)call_site;
	top->stack_pointer = place;
	uint64_t start = fxt_later(fxt_clock_ticks(clock), block->last + agent_engine.step);
	top->start = start;
	top->function = word;
	block->last = start;
	set_top(slot, top + 1);
}

/* The thread's first call. */
COLD void agent_enter_first(void *function, void *call_site, uint64_t place);

/* A call that the hook cannot enter or leave by itself. The block is IDLE, or what the hook made it. */
COLD void agent_enter_out_of_line(
        struct fxt_block *block, const void *function, const void *call_site, uint64_t place);
COLD void agent_leave_out_of_line(
        struct fxt_block *block, const void *function, uint64_t now, uint64_t stack_pointer);

/* A handler's call: the block is not IDLE, for the handler came into a hook. */
COLD void agent_enter_nested(
        struct fxt_block *block, const void *function, const void *call_site, uint64_t place);
COLD void agent_leave_nested(struct fxt_block *block, const void *function, uint64_t stack_pointer);

#endif
