/*
 * Where a function stands in the source, and its name where the symbol table has none, from DWARF.
 *
 * Compilation units are found by the address ranges they state themselves, which every compiler writes
 * (clang leaves out .debug_aranges). A unit's functions are indexed when the first address in it is asked
 * for, so what the trace does not name is not read.
 */
#ifndef FXT_SYMBOLIZER_DWARF_H
#define FXT_SYMBOLIZER_DWARF_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct fxt_dwarf;

struct fxt_source_position {
	uint64_t start;   /* of the part of the function that holds the address */
	const char *name; /* mangled where the compiler says how, else as in the source; NULL = unknown */
	const char *file; /* NULL = unknown */
	const char *directory; /* in which the compiler ran, for a relative file; NULL = unknown */
	uint32_t line;         /* of the declaration; 0 = unknown */
};

/* `path` is the file that `debug` was opened from, NULL if that is not known. Returns NULL if memory is
 * short. `debug` stays the caller's and must outlive the result. */
struct fxt_dwarf *fxt_dwarf_open(Dwarf *debug, const char *path);

/* Finds the function that holds an address; all of `source` is 0 if there is none. Its texts live as long as
 * `debug`. Returns 0, or ENOMEM. */
int fxt_dwarf_find(struct fxt_dwarf *dwarf, uint64_t address, struct fxt_source_position *source);

void fxt_dwarf_close(struct fxt_dwarf *dwarf);

#endif
