/*
 * The cells of an account: what a stretch of time is, as slices tell it, is divided by what the thread did
 * then, and by whose doing.
 */
#ifndef FXT_READER_ACCOUNT_CELLS_H
#define FXT_READER_ACCOUNT_CELLS_H

#include "account.h"

/* What a stretch of time is, as far as slices tell. */
struct fxt_account_piece {
	uint32_t path;
	uint32_t wait; /* plus 1 */
	bool of_tracer;
};

/* Where the account counts what happened in a path. */
struct fxt_cell_of_time *fxt_account_counts(
        const struct fxt_accounts *a, struct fxt_account *account, uint32_t path);

/* Accounts as the piece for all that is left from `from` on, in ns; stretches come later ones first. */
void fxt_account_take(struct fxt_accounts *a, struct fxt_account *account,
        const struct fxt_account_piece *piece, uint64_t from);

#endif
