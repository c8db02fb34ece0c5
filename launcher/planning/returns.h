/*
 * Finds functions that look at their own return address: those that switch contexts or move
 * their frame, unwinders, and C functions with __builtin_return_address(). While a call is
 * recorded another address is there, so such functions must stay as they are.
 */
#ifndef FXT_LAUNCHER_PLANNING_RETURNS_H
#define FXT_LAUNCHER_PLANNING_RETURNS_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdint.h>

/* The state of a function's stack, as far as known, up to the first return or jump. All
 * zero at its first instruction. */
struct fxt_stack {
	int64_t depth; /* how far the stack pointer is below the return address */
	int64_t frame; /* the same of the frame pointer; 0: it has none */
	bool is_lost;  /* the depth is unknown */
	bool is_over;
};

/* Follows the function's next instruction. Returns whether that uses the return address. */
bool fxt_stack_follow(struct fxt_stack *stack, const ZydisDecodedInstruction *instruction);

#endif
