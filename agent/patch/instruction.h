/*
 * One instruction of x86-64, as far as it matters where an address goes that is loaded into a register: its
 * length, where it goes on, and which registers and memory it moves values between. All compilers emit is
 * known; what is not, is refused.
 */
#ifndef FXT_AGENT_INSTRUCTION_H
#define FXT_AGENT_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_INSTRUCTION_BYTES 15 /* of the longest */

/* General registers as bits, by their numbers in instructions: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ...
 */
#define AGENT_REGISTER(number) (UINT32_C(1) << (number))
#define AGENT_REGISTERS        UINT32_C(0xffff)
#define AGENT_REGISTER_RDI     AGENT_REGISTER(7)

/* Those that a function may change as it likes: rax, rcx, rdx, rsi, rdi, r8 to r11. */
#define AGENT_REGISTERS_OF_CALLEE UINT32_C(0x0fc7)

enum agent_instruction_kind {
	AGENT_MOVES,    /* registers or memory take part; values may go from any of these to any other */
	AGENT_COPIES,   /* `to` is what `from` was */
	AGENT_LOADS,    /* `to` is what is in memory */
	AGENT_STORES,   /* `from` goes into memory */
	AGENT_SETS,     /* `to` is a constant */
	AGENT_CALLS,    /* `target`, if it is known */
	AGENT_JUMPS,    /* always */
	AGENT_BRANCHES, /* on a condition */
	AGENT_ENDS,     /* a return, or what is not survived */
};

struct agent_instruction {
	uint8_t length;
	uint8_t kind;          /* enum agent_instruction_kind */
	bool uses_memory;      /* of one that MOVES: reads or writes it, or registers of other kinds */
	uint32_t to, from;     /* register bits; of one that MOVES `from` has all that take part */
	uint64_t target, slot; /* the address where it goes on, or of the word that has it; 0 = unknown */
};

/* Decodes the instruction at `code`, which lies at `address`. AGENT_INSTRUCTION_BYTES can be read there, and
 * some more. */
bool agent_instruction_decode(const uint8_t *code, uint64_t address, struct agent_instruction *instruction);

#endif
