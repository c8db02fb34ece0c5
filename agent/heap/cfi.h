/*
 * Unwind tables (.eh_frame, which .eh_frame_hdr finds): where the registers of the caller are, for each
 * instruction of a module. Tables are read where the loader mapped them; nothing outside of the module's
 * readable segments is touched, whatever a table says. No lock is taken where libc has _dl_find_object()
 * (glibc 2.35), no memory is allocated, errno is kept.
 */
#ifndef FXT_AGENT_CFI_H
#define FXT_AGENT_CFI_H

#include "agent/base/arch.h"

/* Where one register of the caller is. */
enum agent_cfi_kind {
	AGENT_CFI_SAME,      /* in the register itself */
	AGENT_CFI_UNDEFINED, /* nowhere; the outermost frame has no return address */
	AGENT_CFI_AT_CFA,    /* in memory, `value` bytes from the frame's address (CFA) */
	AGENT_CFI_FROM_CFA,  /* it is the frame's address plus `value` */
	AGENT_CFI_REGISTER,  /* in the register `value` */
	AGENT_CFI_AT,        /* in memory, where the expression at `value` says */
	AGENT_CFI_COMPUTED,  /* it is what the expression at `value` says */
};

struct agent_cfi_rule {
	int32_t value; /* of an expression: its place, from the table */
	uint8_t kind;  /* enum agent_cfi_kind */
	uint8_t base;  /* of the frame's address alone: it is this register plus `value` */
};

/* The rules for one instruction. */
struct agent_cfi {
	uint64_t table, end; /* expressions lie between these addresses */
	bool is_signal; /* the frame of a signal handler's caller: that was interrupted, and called nothing */
	struct agent_cfi_rule address; /* of the frame: AGENT_CFI_REGISTER or AGENT_CFI_COMPUTED */
	struct agent_cfi_rule registers[ARCH_REGISTERS];
};

/* Finds the rules for the instruction at that address. False: there are none, or they are damaged. */
bool agent_cfi_find(uint64_t address, struct agent_cfi *cfi);

/* Where the function begins whose code has that address; 0: no table says. */
uint64_t agent_cfi_start(uint64_t address);

/*
 * A value that is computed from registers. A walk that is to be remembered for an instruction knows the
 * values of no registers: it computes with the stack pointer and the base pointer as unknowns.
 */
enum agent_cfi_base {
	AGENT_CFI_NUMBER,
	AGENT_CFI_FRAME, /* the frame's address, plus `offset` */
	AGENT_CFI_SP,    /* the stack pointer, plus it */
	AGENT_CFI_BP,
};

struct agent_cfi_value {
	uint64_t offset;
	uint8_t base;   /* enum agent_cfi_base */
	bool is_loaded; /* the word of memory at that address is meant */
};

/* What an expression is computed from. */
struct agent_cfi_source {
	/* The value of a register; false: it is not known. */
	bool (*get)(const struct agent_cfi_source *source, unsigned number, struct agent_cfi_value *value);
	/* Reads a word of memory; NULL: none is to be read. */
	bool (*load)(const struct agent_cfi_source *source, uint64_t address, uint64_t *word);
};

/* Computes the expression that a rule names. `frame`, if it is not NULL, is what the expression begins with.
 * False: it is damaged, or needs what is not known. */
bool agent_cfi_compute(const struct agent_cfi *cfi, int32_t expression, const struct agent_cfi_value *frame,
        const struct agent_cfi_source *source, struct agent_cfi_value *result);

#endif
