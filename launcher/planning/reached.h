/*
 * The possible targets in a file's code: those of all jumps, calls and tables of jumps, and
 * code with its address taken. Only instructions without a target among them may be
 * replaced.
 */
#ifndef FXT_LAUNCHER_PLANNING_REACHED_H
#define FXT_LAUNCHER_PLANNING_REACHED_H

#include <Zydis/Zydis.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>
#include "functions.h"

#define FXT_REACHED_SLOTS 16

/* The ways in which control or an address leads to a byte of code. */
enum fxt_reached_how {
	FXT_REACHED_BY_CALL = 1,
	FXT_REACHED_BY_JUMP = 2,
	FXT_REACHED_AS_DATA = 4,    /* its address is taken */
	FXT_REACHED_IS_SPECIAL = 8, /* a function's first byte: it must stay as it is */
	FXT_REACHED_AT_ALL = FXT_REACHED_BY_CALL | FXT_REACHED_BY_JUMP | FXT_REACHED_AS_DATA,
};

struct fxt_reached {
	struct fxt_file_functions functions;
	Elf *elf;
	uint8_t **how; /* for each part of functions.code, a value for each byte */
	ZydisDecoder decoder;
	bool is_fixed; /* addresses in the file are those in memory */
	/* the words in which the loader stores the addresses of certain functions of other
	 * modules */
	struct fxt_reached_slot {
		uint64_t address;
		bool is_hook;
	} slots[FXT_REACHED_SLOTS];
	unsigned slot_count;
};

/* Reads a file. `elf` must outlive the result, which is freed in any case. Returns NULL, or
 * the reason for a failure as half a sentence. */
const char *fxt_reached_read(struct fxt_reached *reached, Elf *elf);

/* The bits of enum fxt_reached_how for an address. */
uint8_t fxt_reached(const struct fxt_reached *reached, uint64_t address);

void fxt_reached_free(struct fxt_reached *reached);

#endif
