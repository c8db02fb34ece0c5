/*
 * Moves the first instructions of a function to another place, with the same effect.
 * Relative operands get new distances. Short branches become long ones. A call leaves the
 * return address of its old place, so unwinders see the function where it was.
 *
 * A probe's site (probe_plan.h) is an instruction that does nothing. A call of the agent
 * takes its place among the moved instructions. The call spares the 128 bytes that a
 * function may use beneath its stack pointer:
 *
 *     lea -128(%rsp), %rsp
 *     push word(%rip)        the words lie near the code
 *     call *word(%rip)
 *     lea 136(%rsp), %rsp
 */
#ifndef FXT_LAUNCHER_PLANNING_MOVED_H
#define FXT_LAUNCHER_PLANNING_MOVED_H

#include <stddef.h>
#include <stdint.h>
#include "writer/shared/plan.h"

#define FXT_MOVED_CODE_BYTES 192
#define FXT_MOVED_CALLS      6

/* Moved instructions, with distances as if they lay at the old address. */
struct fxt_moved {
	uint8_t code[FXT_MOVED_CODE_BYTES];
	uint8_t code_bytes;
	uint8_t taken; /* the number of bytes that were moved */
	uint8_t constant;
	uint8_t fixups[FXT_PLAN_FIXUPS];
	uint8_t fixup_count;
	uint8_t calls[FXT_MOVED_CALLS]; /* offsets of the calls of the agent */
	uint8_t call_count;
};

/*
 * Moves whole instructions until those for the jump are free. `code` lies at `address` and
 * has `readable` bytes; `room` is the distance to the next function: bytes behind a return
 * may be padding. Returns the obstacle.
 */
enum fxt_plan_obstacle fxt_move(
        const uint8_t *code, size_t readable, uint64_t address, uint64_t room, struct fxt_moved *moved);

/* Moves the instructions up to and with the first of `count` sites of probes; `sites`
 * ascend. More sites may be among the moved instructions: `call_count` is their number.
 * Moves at most the bytes that a plan can compare. */
enum fxt_plan_obstacle fxt_move_probes(const uint8_t *code, size_t readable, uint64_t address, uint64_t room,
        const uint64_t *sites, size_t count, struct fxt_moved *moved);

#endif
