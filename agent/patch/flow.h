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
 * A register may hold a value that any path brings there. All memory counts as one place,
 * and nothing stored there is ever forgotten. An indirect jump may go anywhere; so may a
 * call that can throw. Code that is not understood is refused. A value that came out of
 * memory or a call, and was not put there by this code, does not count as the address of a
 * function: compilers give constants to hooks.
 */
#ifndef FXT_AGENT_FLOW_H
#define FXT_AGENT_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "instruction.h"

#define AGENT_FLOW_BYTES (UINT32_C(256) << 10) /* of code, at most */
#define AGENT_FLOW_PARTS 8

/* Two kinds of functions. Their addresses are distinguished. */
enum agent_flow_kind { AGENT_FLOW_RECORDED, AGENT_FLOW_EXCLUDED };

/* A function's code, and the values that registers may hold before each of its
 * instructions. */
struct agent_flow {
	struct agent_flow_part {
		uint64_t start, end;
		uint32_t first; /* the index of its first byte in `code` */
	} parts[AGENT_FLOW_PARTS];
	uint32_t part_count;
	uint32_t used;     /* bytes of `code`; behind each part some more may be read */
	bool has_handlers; /* a call may continue elsewhere, for an exception */
	uint8_t code[AGENT_FLOW_BYTES];
	uint64_t states[AGENT_FLOW_BYTES]; /* of the instruction that begins there; and marks */
	uint64_t anywhere; /* the values that registers may hold after an unseen transfer of control */
};

/* Makes it empty. */
void agent_flow_begin(struct agent_flow *flow);

/* Adds a part; the caller puts its bytes into `code`. NULL: there is no room. */
struct agent_flow_part *agent_flow_add(struct agent_flow *flow, uint64_t start, uint64_t end);

/* The instruction with byte `at` of `code` contains the address of a function of that
 * kind. */
void agent_flow_mark(struct agent_flow *flow, uint32_t at, enum agent_flow_kind kind);

/* The index in `code` of an address, or AGENT_FLOW_BYTES. */
uint32_t agent_flow_place(const struct agent_flow *flow, uint64_t address);

/* Follows the addresses. `is_hook`: whether a call or a jump goes to a hook. A hook changes
 * the same registers as every function may. False: the code is not understood. */
bool agent_flow_follow(struct agent_flow *flow, bool (*is_hook)(const struct agent_instruction *));

/* Whether the call or jump there passes excluded functions to a hook, and no others. */
bool agent_flow_is_excluded(const struct agent_flow *flow, uint64_t address);

#endif
