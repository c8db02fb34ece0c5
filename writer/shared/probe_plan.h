/*
 * A plan of the probes of one file (--usdt): the places of their sites and arguments, and
 * the code that records them. The manager makes it from the file's notes
 * (launcher/planning). The agent carries it out (agent/patch/probes.h).
 *
 *     struct fxt_probe_plan
 *     struct fxt_probe[count]
 *     uint8_t[code_bytes]    the moved instructions of each
 *     char[text_bytes]       texts, each ended by 0
 *
 * All addresses are the file's own; the agent adds the module's base.
 */
#ifndef FXT_WRITER_PROBE_PLAN_H
#define FXT_WRITER_PROBE_PLAN_H

#include <stdint.h>
#include "plan.h"

#define FXT_PROBE_PLAN_MAGIC UINT64_C(0x65626f7270747866)

#define FXT_PROBE_ARGUMENTS 12 /* the most that <sys/sdt.h> takes */

/* The event that a probe makes. */
enum fxt_probe_kind {
	FXT_PROBE_INSTANT,
	FXT_PROBE_BEGIN,
	FXT_PROBE_END,
	FXT_PROBE_ASYNC_BEGIN, /* of a duration that others of its thread may overlap */
	FXT_PROBE_ASYNC_END,
};

enum fxt_operand_place {
	FXT_OPERAND_UNKNOWN, /* the note is not understood, or names an unknown symbol */
	FXT_OPERAND_CONSTANT,
	FXT_OPERAND_REGISTER,
	FXT_OPERAND_VECTOR, /* the low bytes of a vector register */
	FXT_OPERAND_MEMORY, /* at base + index * scale + value */
};

enum fxt_operand_type { FXT_OPERAND_UNSIGNED, FXT_OPERAND_SIGNED, FXT_OPERAND_FLOAT, FXT_OPERAND_TEXT };

/* Registers have the numbers of the processor's encoding: rax, rcx, rdx, rbx, rsp, ... */
#define FXT_OPERAND_NONE   0xff /* no such register */
#define FXT_OPERAND_MODULE 0xfe /* base: the module's base */
#define FXT_OPERAND_THREAD 0xfd /* base: the thread's memory, by %fs */

struct fxt_operand {
	uint8_t place, type; /* enum fxt_operand_place, enum fxt_operand_type */
	uint8_t bytes;       /* 1, 2, 4 or 8 */
	uint8_t base, index, scale;
	uint8_t shift; /* of the register's bits: 8 for %ah */
	uint8_t unused;
	uint32_t name; /* of the argument: its offset in the texts */
	uint32_t unused2;
	int64_t value;
};

struct fxt_probe {
	/* `function` is the site. Without code, the site is among the moved instructions of
	 * the probe before. */
	struct fxt_plan_entry patch;
	uint64_t pair;           /* the same number for a begin and its ends; never 0 */
	uint64_t semaphore;      /* 0: it has none */
	uint32_t provider, name; /* offsets in the texts */
	uint8_t kind;            /* enum fxt_probe_kind */
	uint8_t call;            /* offset of the agent's call in the code that is moved */
	uint8_t count;           /* of the arguments */
	uint8_t unused[5];
	struct fxt_operand operands[FXT_PROBE_ARGUMENTS];
};

struct fxt_probe_plan {
	uint64_t magic;
	uint32_t count, code_bytes, text_bytes;
	uint32_t left_out; /* probes without room for a jump */
};

#endif
