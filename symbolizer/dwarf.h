/*
 * Finds a function's source position from DWARF, and its name if the symbol table has none.
 *
 * Compilation units are found by the address ranges in the units themselves, which every
 * compiler writes (clang leaves out .debug_aranges). A unit's functions are indexed when
 * the first address in it is requested, so units that the trace does not name are not read.
 */
#ifndef FXT_SYMBOLIZER_DWARF_H
#define FXT_SYMBOLIZER_DWARF_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct fxt_dwarf;

struct fxt_source_position {
	uint64_t start;        /* of the part of the function that holds the address */
	const char *name;      /* mangled if the compiler recorded that, else as in the
	                        * source; NULL = unknown */
	const char *file;      /* NULL = unknown */
	const char *directory; /* the compiler's working directory, for a relative file; NULL =
	                        * unknown */
	uint32_t line;         /* of the declaration; 0 = unknown */
};

/* `path` is the file that `debug` was opened from, NULL if not known. Returns NULL if
 * memory is short. `debug` stays the caller's and must outlive the result. */
struct fxt_dwarf *fxt_dwarf_open(Dwarf *debug, const char *path);

/* Finds the function that holds an address; `source` becomes all zeros if there is none.
 * Its texts live as long as `debug`. Returns 0, or ENOMEM. */
int fxt_dwarf_find(struct fxt_dwarf *dwarf, uint64_t address, struct fxt_source_position *source);

void fxt_dwarf_close(struct fxt_dwarf *dwarf);

#endif
