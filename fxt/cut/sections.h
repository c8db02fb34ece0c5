/*
 * Writing records of several providers: before a record comes what makes its provider the current one, if it
 * is not, and at its first record the provider's announcement and its clock.
 */
#ifndef FXT_FXT_CUT_SECTIONS_H
#define FXT_FXT_CUT_SECTIONS_H

#include <stdio.h>
#include "reader/trace/tables.h"

/* What was written of a provider. */
struct fxt_section {
	uint64_t era;  /* which of the announcements of all providers was its last */
	uint64_t rate; /* 0: none was written */
	bool is_begun;
	uint64_t modules_waiting;                /* for its first record (needs.h) */
	struct fxt_index_table strings, threads; /* what its indices mean to who reads what was written */
	struct fxt_index_table rows;             /* by a thread's index: fxt_objects_row() */
};

struct fxt_sections {
	FILE *out;
	struct fxt_tables tables;                  /* as they are where the trace is read */
	const struct fxt_provider_tables *current; /* whose records are being written; NULL: nobody's */
	struct fxt_section *sections;              /* by the provider's number */
	size_t count;
	uint64_t eras;
};

void fxt_sections_begin(struct fxt_sections *s, FILE *out);
void fxt_sections_end(struct fxt_sections *s);

/* Takes over what a record registers or switches. A provider that is announced again begins anew. */
void fxt_sections_see(struct fxt_sections *s, const struct fxt_view *view);

/* The section of the provider whose records are being read; it moves when there are more providers. */
struct fxt_section *fxt_sections_own(struct fxt_sections *s);

/* Write a record: of a provider; or of nobody, which stands before all others. */
void fxt_sections_put(
        struct fxt_sections *s, const struct fxt_provider_tables *p, const uint64_t *words, size_t count);
void fxt_sections_put_unowned(struct fxt_sections *s, const uint64_t *words, size_t count);

#endif
