/*
 * Where a module calls its indirect functions (STT_GNU_IFUNC: ifunc, target_clones). GNU ld and gold let the
 * address of such a function be that of a PLT slot, for which there is no symbol. The slot jumps to what a
 * GOT entry holds, and a relocation fills that with what the function's resolver returns.
 */
#ifndef FXT_SYMBOLIZER_PLT_H
#define FXT_SYMBOLIZER_PLT_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct fxt_plt_slot {
	uint64_t got;      /* the entry that the slot's jump reads */
	uint64_t resolver; /* what the relocation of that entry calls */
	uint64_t address;  /* of the slot; 0: there is none */
};

struct fxt_plt {
	struct fxt_plt_slot *slots; /* by got, one for each relocation by a resolver */
	size_t count;
};

/* Reads the module's own file, not its debug file, which has no code; NULL has no slots. Returns 0, or
 * ENOMEM. */
int fxt_plt_read(struct fxt_plt *plt, Elf *elf);

void fxt_plt_free(struct fxt_plt *plt);

#endif
