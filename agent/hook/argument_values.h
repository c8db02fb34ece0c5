/*
 * Reads the values of arguments and results, and encodes them as arguments of a record. The
 * program may pass invalid pointers, so agent/base/safe_copy.h reads the memory. A value
 * that cannot be read is "?".
 */
#ifndef FXT_AGENT_ARGUMENT_VALUES_H
#define FXT_AGENT_ARGUMENT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "argument_plans.h"

/* The most bytes of a text. "..." follows a longer one. */
#define AGENT_ARGUMENT_TEXT_BYTES 120

/* SAVE_REGISTERS (saving.h) leaves nine words. */
enum { AGENT_SAVED_RAX = 8, AGENT_SAVED_REGISTERS = 9 };

/* The registers at a call's begin or end. */
struct agent_registers {
	const uint64_t *general; /* as SAVE_REGISTERS leaves them; NULL: not known, every
	                          * value is "?" */
	const uint64_t *vector;  /* two words each */
	uint64_t frame;          /* the address of the call's frame (CFA) */
};

/*
 * Encodes one value at `to`, if `room` words suffice. Returns the number of its words; 0:
 * there is no room. Registers the value's name, so it takes the engine's lock: call it
 * outside of hooks, or in one that is SLOW_PATH.
 */
size_t agent_argument_encode(const struct agent_argument_plan *of, const struct fxt_planned_value *value,
        const struct agent_registers *registers, uint64_t *to, size_t room);

#endif
