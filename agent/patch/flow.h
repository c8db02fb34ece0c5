/*
 * Follows the addresses of functions that a function's instructions load, to find which of
 * them RDI may hold at a call of a hook. This distinguishes two functions inlined into a
 * third, and shows whether they share a call:
 *
 *         lea one(%rip), %rdi
 *         jmp 1f
 *         lea other(%rip), %rdi
 *     1:  call hook                RDI: one, other
 *
 * A register is taken to hold every value that some path brings there. All memory counts as
 * one place, and whatever is stored there stays. An indirect jump may go anywhere; so may a
 * call that can throw. Code that is not understood is refused. A value that this code loads
 * from memory or gets from a call, and did not put there itself, is not taken for the
 * address of a function, because compilers pass constants to hooks.
 */
#ifndef FXT_AGENT_FLOW_H
#define FXT_AGENT_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "instruction.h"

#define AGENT_FLOW_BYTES (UINT32_C(256) << 10) /* the most bytes of code */
#define AGENT_FLOW_PARTS 8

/* Addresses of these two kinds of functions are kept apart. */
enum agent_flow_kind { AGENT_FLOW_RECORDED, AGENT_FLOW_EXCLUDED };

/* A function's code, and what registers and memory may hold before each of its
 * instructions. */
struct agent_flow {
	struct agent_flow_part {
		uint64_t start, end;
		uint32_t first; /* the index of its first byte in `code` */
	} parts[AGENT_FLOW_PARTS];
	uint32_t part_count;
	uint32_t used;     /* bytes of `code`, with a reserve behind each part for the
	                      decoder */
	bool has_handlers; /* a call may continue in a handler of exceptions */
	/* AGENT_FLOW_BYTES entries each, in memory that is mapped when it is first used */
	uint8_t *code;
	uint64_t *states;  /* by byte of `code`: the state before the instruction that
	                      begins there (flow.c) */
	uint64_t anywhere; /* the state wherever an unknown transfer of control leads */
};

/* Makes the code empty, before the first part is added. False: there is no memory. */
bool agent_flow_begin(struct agent_flow *flow);

/* Adds a part; the caller puts its bytes into `code`. NULL: there is no room. */
struct agent_flow_part *agent_flow_add(struct agent_flow *flow, uint64_t start, uint64_t end);

/* The instruction with byte `at` of `code` contains the address of a function of that
 * kind. */
void agent_flow_mark(struct agent_flow *flow, uint32_t at, enum agent_flow_kind kind);

/* The index in `code` of an address, or AGENT_FLOW_BYTES. */
uint32_t agent_flow_place(const struct agent_flow *flow, uint64_t address);

/* Follows the addresses through all parts. `is_hook` tells whether a call or a jump goes to
 * a hook; a hook changes the registers that any function may change. False: the code is not
 * understood. */
bool agent_flow_follow(struct agent_flow *flow, bool (*is_hook)(const struct agent_instruction *));

/* Whether the call or jump there passes excluded functions to a hook, and no others. */
bool agent_flow_is_excluded(const struct agent_flow *flow, uint64_t address);

#endif
