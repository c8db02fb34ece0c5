/*
 * Decodes one instruction of x86-64, as far as it matters for following an address loaded
 * into a register: its length, where control continues, and between which registers and
 * memory it moves values. It knows everything that compilers emit, and refuses the rest.
 */
#ifndef FXT_AGENT_INSTRUCTION_H
#define FXT_AGENT_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_INSTRUCTION_BYTES 15 /* of the longest */

/* General registers as bits, by their numbers in instructions: rax, rcx, rdx, rbx, rsp,
 * rbp, rsi, rdi, r8 ... */
#define AGENT_REGISTER(number) (UINT32_C(1) << (number))
#define AGENT_REGISTERS        UINT32_C(0xffff)
#define AGENT_REGISTER_RDI     AGENT_REGISTER(7)

/* Registers that a function may change: rax, rcx, rdx, rsi, rdi, r8 to r11. */
#define AGENT_REGISTERS_OF_CALLEE UINT32_C(0x0fc7)

enum agent_instruction_kind {
	/* uses registers or memory; values may go from any of these to any other */
	AGENT_MOVES,
	AGENT_COPIES,   /* `to` gets the value of `from` */
	AGENT_LOADS,    /* `to` gets the value in memory */
	AGENT_STORES,   /* `from` goes into memory */
	AGENT_SETS,     /* `to` is a constant */
	AGENT_CALLS,    /* `target`, if it is known */
	AGENT_JUMPS,    /* always */
	AGENT_BRANCHES, /* on a condition */
	AGENT_ENDS,     /* a return, or an instruction that is not survived */
};

struct agent_instruction {
	uint8_t length;
	uint8_t kind; /* enum agent_instruction_kind */
	/* of one that MOVES: reads or writes it, or registers of other kinds */
	bool uses_memory;
	uint32_t to, from; /* register bits; of one that MOVES `from` has all that it uses */
	/* address where it continues, or of the word that has it; 0 = unknown */
	uint64_t target, slot;
};

/* Decodes the instruction at `code`, which lies at `address`. At least
 * AGENT_INSTRUCTION_BYTES bytes, and some more, can be read there. */
bool agent_instruction_decode(const uint8_t *code, uint64_t address, struct agent_instruction *instruction);

#endif
