/*
 * Moves the first instructions of a function to another place, where they do the same. What
 * counts from its own address is counted from there anew; short branches get long ones; a
 * call leaves the return address that it would have left at its old place, so unwinders see
 * the function where it was.
 */
#ifndef FXT_LAUNCHER_PLANNING_MOVED_H
#define FXT_LAUNCHER_PLANNING_MOVED_H

#include <stddef.h>
#include <stdint.h>
#include "writer/shared/plan.h"

#define FXT_MOVED_CODE_BYTES 128

/* Moved instructions, with distances as if they lay at the old address. */
struct fxt_moved {
	uint8_t code[FXT_MOVED_CODE_BYTES];
	uint8_t code_bytes;
	uint8_t taken; /* how many bytes were moved */
	uint8_t constant;
	uint8_t fixups[FXT_PLAN_FIXUPS];
	uint8_t fixup_count;
};

/*
 * Moves whole instructions until those for the jump are free. `code` lies at `address` and
 * has `readable` bytes; `room` is how far it is to the next function: the rest behind a
 * return may be padding. Returns what stands in the way.
 */
enum fxt_plan_obstacle fxt_move(
        const uint8_t *code, size_t readable, uint64_t address, uint64_t room, struct fxt_moved *moved);

#endif
