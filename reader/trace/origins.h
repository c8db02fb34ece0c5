/*
 * The origins of functions, from the userspace-object records of a trace: module, source
 * file and line. The records and slices both refer to a function by its name, or by its
 * identity if the trace has it. A name may stand for functions of several modules; the
 * first 16 of them are kept.
 */
#ifndef FXT_READER_ORIGINS_H
#define FXT_READER_ORIGINS_H

#include "tables.h"

struct fxt_origin {
	uint32_t name, module, file; /* ids of strings; FXT_NOTHING: not known */
	uint32_t line;               /* 0: not known */
	uint64_t offset;             /* in the module; 0: not known */
};

struct fxt_origins {
	struct fxt_origin *items; /* in the order of the trace */
	size_t count, room;
	struct fxt_index index; /* by name */
};

/* Takes over a function's origin from a userspace-object record. */
void fxt_origins_add(struct fxt_origins *origins, struct fxt_tables *t, const struct fxt_view *view);

/*
 * Iterates over the origins of a name, always in the same order: the first after NULL, NULL
 * after the last.
 *
 *   for (const struct fxt_origin *o = NULL; (o = fxt_origins_next(origins, name, o));)
 */
const struct fxt_origin *fxt_origins_next(
        const struct fxt_origins *origins, uint32_t name, const struct fxt_origin *before);

/* Moves origins from a bare name to the function's identity, if they stood before it in the
 * trace. Called once after the scan, before fxt_origins_settle(), which rebuilds the
 * index. */
void fxt_origins_identify(struct fxt_origins *origins, const struct fxt_tables *t);

/* Files the origins under the settled names of their functions (namesakes.h). */
void fxt_origins_settle(struct fxt_origins *origins, const struct fxt_tables *t);

void fxt_origins_free(struct fxt_origins *origins);

#endif
