/*
 * A plan: how the functions of one file can be recorded although nothing was left for that
 * when it was compiled (--patch). The manager makes it from the file (launcher/planning),
 * and the agent carries it out in the module that has the file in memory.
 *
 *     struct fxt_plan
 *     struct fxt_plan_entry[count]   in the order of their addresses
 *     uint8_t[code_bytes]            the moved instructions of each
 *
 * All addresses are the file's own; the agent adds the module's base.
 */
#ifndef FXT_WRITER_PLAN_H
#define FXT_WRITER_PLAN_H

#include <stdint.h>

#define FXT_PLAN_MAGIC UINT64_C(0x6e616c70747866)

enum {
	FXT_PLAN_JUMP_BYTES = 5,      /* a jump, written over a function's first bytes */
	FXT_PLAN_ORIGINAL_BYTES = 20, /* the most that is moved: 4, and the longest instruction */
	FXT_PLAN_FIXUPS = 6,
	/* a call of the agent among moved instructions (launcher/planning/moved.h), and the
	 * offsets of its two words' distances */
	FXT_PLAN_CALL_BYTES = 25,
	FXT_PLAN_CALL_PUSHED = 7,
	FXT_PLAN_CALL_CALLED = 13,
};

/* The obstacles to the recording of a function. */
enum fxt_plan_obstacle {
	FXT_PLAN_NONE,
	FXT_PLAN_SHORT,       /* another function begins within the bytes of the jump */
	FXT_PLAN_JUMPED_INTO, /* a jump leads into them */
	FXT_PLAN_LOOP,        /* the function jumps to its own beginning */
	FXT_PLAN_FIXED,       /* an instruction among them works only where it is */
	FXT_PLAN_UNKNOWN,     /* an instruction among them is not known */
	FXT_PLAN_PART,        /* no call leads there: a part of another function */
	FXT_PLAN_SPECIAL,     /* it is known to depend on its caller's frame */
	FXT_PLAN_OBSTACLES
};

struct fxt_plan_entry {
	uint64_t address;  /* the place of the jump */
	uint64_t function; /* its address: `address`, or that of a landing instruction before */
	uint32_t code;     /* the offset of the moved instructions, as if they lay at `address` */
	uint8_t code_bytes;
	uint8_t moved;                   /* how many bytes they were, at least the jump's,
	                                            or less and padding */
	uint8_t original_bytes;          /* how many of `original` must be there */
	uint8_t constant;                /* offset of an address in the code, to which the
	                                            base is added; 0: none */
	uint8_t fixups[FXT_PLAN_FIXUPS]; /* offsets of distances in the code, from the end
	                                            of the distance; 0 ends the list */
	uint8_t original[FXT_PLAN_ORIGINAL_BYTES];
	uint8_t unused[6];
};

struct fxt_plan {
	uint64_t magic;
	uint32_t count, code_bytes;
	uint32_t left_out[FXT_PLAN_OBSTACLES];
};

#endif
