/*
 * The functions of an ELF file for x86-64, by its symbols and its unwind table. A stripped
 * file has the table alone, which also lists parts of functions.
 */
#ifndef FXT_LAUNCHER_PLANNING_FUNCTIONS_H
#define FXT_LAUNCHER_PLANNING_FUNCTIONS_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fxt_file_function {
	uint64_t start, end;
	const char *name;  /* of the file's; NULL: it has no symbol */
	bool is_resolver;  /* the loader calls it, to find another one */
	bool is_described; /* the unwind table has it */
	bool is_entry;     /* by the table, it begins as a called function does */
};

struct fxt_file_functions {
	struct fxt_file_function *list; /* in the order of their addresses, one for each */
	size_t count;
	uint64_t entry; /* where the program starts; nothing calls it */
	/* the file's segments with code */
	struct fxt_code {
		uint64_t start, end;
		const uint8_t *bytes;
	} * code;
	size_t code_count;
};

/* Reads them. `elf` must outlive the result. Returns NULL, or why not as half a
 * sentence. */
const char *fxt_file_functions_read(struct fxt_file_functions *functions, Elf *elf);

void fxt_file_functions_free(struct fxt_file_functions *functions);

/* Calls `found` for each symbol that the file defines, until it returns false. */
void fxt_file_symbols_each(
        Elf *elf, bool (*found)(void *context, const GElf_Sym *symbol, const char *name), void *context);

/* Calls `found` for each entry of the unwind table: where its function starts, and where
 * the entry is. */
void fxt_unwind_entries_each(
        Elf *elf, void (*found)(void *context, uint64_t start, uint64_t entry), void *context);

/* The bytes at an address, and how many there are; NULL: no code is there. */
const uint8_t *fxt_code_at(const struct fxt_file_functions *functions, uint64_t address, size_t *bytes);

/* The file's bytes that are mapped at an address, and how many; NULL: none. */
const uint8_t *fxt_file_at(Elf *elf, uint64_t address, size_t *bytes);

#endif
