/*
 * Private memory for tables that grow in place. A forked child finds zeros in it, and core
 * files leave it out.
 *
 * Private memory counts towards the program's limit of data (RLIMIT_DATA) as soon as it is
 * writable. So a table is readable from the beginning, and becomes writable in steps, as
 * far as it is used. Otherwise the program's own allocations would fail at its limit, which
 * it is far from without us.
 */
#ifndef FXT_WRITER_RESERVE_H
#define FXT_WRITER_RESERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FXT_RESERVE_STEP (UINT64_C(64) << 10)

/* Maps so many bytes; all of them are zeros. NULL: there is no address space. */
void *fxt_reserve_map(uint64_t bytes);

/* Unmaps what was mapped as so many bytes; NULL: nothing. */
void fxt_reserve_unmap(void *memory, uint64_t bytes);

/* Makes it zeros again; it stays as writable as it is. */
void fxt_reserve_wipe(void *memory, uint64_t bytes);

/* A table. Its entries are used in their order. */
struct fxt_reserve {
	void *memory;
	uint64_t entry_bytes;
	uint64_t writable; /* bytes; a multiple of FXT_RESERVE_STEP */
};

/* Makes the first `count` entries writable. False: the limit of data leaves no room, or no
 * system call is allowed any more. One thread at a time. */
bool fxt_reserve_reach(struct fxt_reserve *reserve, uint64_t count);

/* The same for the step with that byte of a table that is used here and there. */
bool fxt_reserve_reach_step(void *memory, uint64_t offset);

#endif
