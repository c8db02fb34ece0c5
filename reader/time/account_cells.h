/*
 * Makes the cells of an account: divides a stretch of time with known slices by the
 * thread's activity, and by the threads responsible for it.
 */
#ifndef FXT_READER_ACCOUNT_CELLS_H
#define FXT_READER_ACCOUNT_CELLS_H

#include "account.h"

/* The slices around a stretch of time. */
struct fxt_account_piece {
	uint32_t path;
	uint32_t wait; /* 1 + the wait */
	bool of_tracer;
};

/* The cell that counts the calls and faults of a path. */
struct fxt_cell_of_time *fxt_account_counts(
        const struct fxt_accounts *a, struct fxt_account *account, uint32_t path);

/* Accounts for the time from `from` (in ns) to what is accounted for already, as the piece
 * says. Later stretches come first. */
void fxt_account_take(struct fxt_accounts *a, struct fxt_account *account,
        const struct fxt_account_piece *piece, uint64_t from);

#endif
