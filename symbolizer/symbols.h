/*
 * The functions and variables of a module by address, from its symbol tables (.symtab and
 * .dynsym, of the module and of its debug file). An address belongs to a symbol only if it
 * lies in the symbol's [address, address + size); a symbol without a size covers only its
 * exact address. The nearest symbol is never used instead.
 */
#ifndef FXT_SYMBOLIZER_SYMBOLS_H
#define FXT_SYMBOLIZER_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>
#include "elf.h"

struct fxt_symbol {
	uint64_t address; /* in the module */
	uint64_t size;
	const char *name; /* as in the table, inside the mapped file */
	/* the nearest symbol before this one that ends after it; its own index: none */
	uint32_t enclosing;
	bool is_local;    /* other symbols of the module may have the same name */
	bool is_indirect; /* its address is the address of its resolver */
	uint8_t rank;     /* among aliases, the symbol of highest rank gives the name */
};

struct fxt_symbols {
	struct fxt_symbol *table; /* by address; the best alias comes last */
	size_t count;
};

/* Returns 0, or ENOMEM. The files must outlive the symbols. */
int fxt_symbols_read(struct fxt_symbols *symbols, const struct fxt_elf *files);

/* True if the files define a function or a variable of that name, visible to others or
 * not. */
bool fxt_symbols_define(const struct fxt_elf *files, const char *name);

/* Returns NULL if no symbol covers the address. */
const struct fxt_symbol *fxt_symbols_find(const struct fxt_symbols *symbols, uint64_t address);

void fxt_symbols_free(struct fxt_symbols *symbols);

#endif
