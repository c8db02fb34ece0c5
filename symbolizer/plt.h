/*
 * The PLT slots by which a module calls its indirect functions (STT_GNU_IFUNC: ifunc,
 * target_clones). GNU ld and gold use a PLT slot's address as the address of such a
 * function, and no symbol names the slot. The slot jumps to the address in a GOT entry; a
 * relocation fills that entry with the result of the function's resolver.
 */
#ifndef FXT_SYMBOLIZER_PLT_H
#define FXT_SYMBOLIZER_PLT_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct fxt_plt_slot {
	uint64_t got;      /* the entry that the slot's jump reads */
	uint64_t resolver; /* the function that the entry's relocation calls */
	uint64_t address;  /* of the slot; 0: there is none */
};

struct fxt_plt {
	struct fxt_plt_slot *slots; /* by got, one for each relocation by a resolver */
	size_t count;
};

/* Reads the module's own file: its debug file has no code. NULL has no slots. Returns 0, or
 * ENOMEM. */
int fxt_plt_read(struct fxt_plt *plt, Elf *elf);

void fxt_plt_free(struct fxt_plt *plt);

#endif
