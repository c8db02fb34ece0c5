/*
 * Where the addresses of functions go that a function's instructions load: what RDI may have at a call of a
 * hook. So two functions are told apart that are inlined into a third, and it is known if they share a call:
 *
 *         lea one(%rip), %rdi
 *         jmp 1f
 *         lea other(%rip), %rdi
 *     1:  call hook                RDI: one, other
 *
 * A register may have what any path brings there. Memory is one place, of which nothing is ever forgotten; a
 * jump to a place that is not in the instruction leads everywhere, and so may a call from which exceptions
 * come. What is not understood is refused. That a value came out of memory or a call, and was not put there
 * by this code, does not make it the address of a function: compilers give constants to hooks.
 */
#ifndef FXT_AGENT_FLOW_H
#define FXT_AGENT_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "instruction.h"

#define AGENT_FLOW_BYTES (UINT32_C(256) << 10) /* of code, at most */
#define AGENT_FLOW_PARTS 8

/* Two kinds of functions, whose addresses are told apart. */
enum agent_flow_kind { AGENT_FLOW_RECORDED, AGENT_FLOW_EXCLUDED };

/* A function's code, and what may be in registers before each of its instructions. */
struct agent_flow {
	struct agent_flow_part {
		uint64_t start, end;
		uint32_t first; /* of its bytes, in `code` */
	} parts[AGENT_FLOW_PARTS];
	uint32_t part_count;
	uint32_t used;     /* bytes of `code`; behind each part there are some that may be read */
	bool has_handlers; /* a call may go on elsewhere, for an exception */
	uint8_t code[AGENT_FLOW_BYTES];
	uint64_t states[AGENT_FLOW_BYTES]; /* of the instruction that begins there; and marks */
	uint64_t anywhere;                 /* what may be in registers wherever control came from unseen */
};

/* Makes it empty. */
void agent_flow_begin(struct agent_flow *flow);

/* Adds a part, whose bytes are to be put into `code`. NULL: there is no room. */
struct agent_flow_part *agent_flow_add(struct agent_flow *flow, uint64_t start, uint64_t end);

/* The address of a function of that kind stands in the instruction which has that byte of `code`. */
void agent_flow_mark(struct agent_flow *flow, uint32_t at, enum agent_flow_kind kind);

/* The place in `code` of an address, or AGENT_FLOW_BYTES. */
uint32_t agent_flow_place(const struct agent_flow *flow, uint64_t address);

/* Follows the addresses. `is_hook`: whether a call or a jump is one to a hook, which changes what every
 * function may. False: that code is not understood. */
bool agent_flow_follow(struct agent_flow *flow, bool (*is_hook)(const struct agent_instruction *));

/* Whether the call or jump there gives a hook excluded functions, and no others. */
bool agent_flow_is_excluded(const struct agent_flow *flow, uint64_t address);

#endif
