/*
 * Writes the records of several providers. Before a record it switches to the record's
 * provider, if that is not the current one. Before a provider's first record it writes the
 * provider's announcement and clock.
 */
#ifndef FXT_FXT_CUT_SECTIONS_H
#define FXT_FXT_CUT_SECTIONS_H

#include <stdio.h>
#include "reader/trace/tables.h"

/* The output state of a provider. */
struct fxt_section {
	uint64_t era;  /* the number of its last announcement, counted over all providers */
	uint64_t rate; /* 0: none was written */
	bool is_begun;
	uint64_t modules_waiting;                /* written before its first record
	                                            (needs.h) */
	struct fxt_index_table strings, threads; /* the meaning of its indices to a
	                                            reader of the output */
	struct fxt_index_table rows;             /* by a thread's index:
	                                            fxt_objects_row() */
};

struct fxt_sections {
	FILE *out;
	struct fxt_tables tables;                  /* in the state of the place that is
	                                              being read */
	const struct fxt_provider_tables *current; /* the provider that records are being
	                                              written of; NULL: none */
	struct fxt_section *sections;              /* by the provider's number */
	size_t count;
	uint64_t eras;
};

void fxt_sections_begin(struct fxt_sections *s, FILE *out);
void fxt_sections_end(struct fxt_sections *s);

/* Takes over what a record registers or switches. A provider that is announced again
 * starts anew. */
void fxt_sections_add(struct fxt_sections *s, const struct fxt_view *view);

/* The section of the provider that is being read. The pointer is invalid once there are
 * more providers. */
struct fxt_section *fxt_sections_own(struct fxt_sections *s);

/* Writes a record: of a provider, or of none; records of no provider stand before all
 * others. */
void fxt_sections_put(
        struct fxt_sections *s, const struct fxt_provider_tables *p, const uint64_t *words, size_t count);
void fxt_sections_put_unowned(struct fxt_sections *s, const uint64_t *words, size_t count);

#endif
