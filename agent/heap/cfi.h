/*
 * Unwind tables (.eh_frame, found by .eh_frame_hdr): the places of the caller's registers,
 * for each instruction of a module. Tables are read where the loader mapped them. Nothing
 * outside the module's readable segments is touched, whatever a table says. No lock is
 * taken where libc has _dl_find_object() (glibc 2.35), no memory is allocated, errno is
 * kept.
 */
#ifndef FXT_AGENT_CFI_H
#define FXT_AGENT_CFI_H

#include "agent/base/arch.h"

/* Place of one of the caller's registers. */
enum agent_cfi_kind {
	AGENT_CFI_SAME,      /* in the register itself */
	AGENT_CFI_UNDEFINED, /* nowhere; the outermost frame has no return address */
	AGENT_CFI_AT_CFA,    /* in memory, `value` bytes from the frame's address (CFA) */
	AGENT_CFI_FROM_CFA,  /* it is the frame's address plus `value` */
	AGENT_CFI_REGISTER,  /* in the register `value` */
	/* In memory, at the address that the expression at `value` computes. */
	AGENT_CFI_AT,
	AGENT_CFI_COMPUTED, /* the result of the expression at `value` */
};

struct agent_cfi_rule {
	int32_t value; /* for an expression: its offset from the table */
	uint8_t kind;  /* enum agent_cfi_kind */
	uint8_t base;  /* only for the frame's address: it is this register plus `value` */
};

/* The rules for one instruction. */
struct agent_cfi {
	uint64_t table, end; /* expressions lie between these addresses */
	/* a signal handler's caller: it was interrupted, and called nothing */
	bool is_signal;
	/* The frame's rule: AGENT_CFI_REGISTER or AGENT_CFI_COMPUTED. */
	struct agent_cfi_rule address;
	struct agent_cfi_rule registers[ARCH_REGISTERS];
};

/* Finds the rules for the instruction at that address. False: there are none, or they are
 * damaged. */
bool agent_cfi_find(uint64_t address, struct agent_cfi *cfi);

/* The start of the function with code at that address; 0: no table covers it. */
uint64_t agent_cfi_start(uint64_t address);

/* A value that is computed from registers. A walk that is to be remembered for an
 * instruction knows no register values: it computes with the stack pointer and the base
 * pointer as unknowns. */
enum agent_cfi_base {
	AGENT_CFI_NUMBER,
	AGENT_CFI_FRAME, /* the frame's address, plus `offset` */
	AGENT_CFI_SP,    /* the stack pointer, plus `offset` */
	AGENT_CFI_BP,
};

struct agent_cfi_value {
	uint64_t offset;
	uint8_t base;   /* enum agent_cfi_base */
	bool is_loaded; /* the value is the word of memory at that address */
};

/* Access to the inputs of an expression. */
struct agent_cfi_source {
	/* The value of a register; false: it is not known. */
	bool (*get)(const struct agent_cfi_source *source, unsigned number, struct agent_cfi_value *value);
	/* Reads a word of memory; NULL: memory must not be read. */
	bool (*load)(const struct agent_cfi_source *source, uint64_t address, uint64_t *word);
};

/* Computes the expression that a rule names. `frame`, if it is not NULL, is the initial
 * value on the expression's stack. False: the expression is damaged, or needs unknown
 * values. */
bool agent_cfi_compute(const struct agent_cfi *cfi, int32_t expression, const struct agent_cfi_value *frame,
        const struct agent_cfi_source *source, struct agent_cfi_value *result);

#endif
