/*
 * The records that other records of a trace need to be readable. A record that later ones
 * refer to is noted when it is read, and written before the first kept record that needs
 * it. Each string, thread, name, function and node of a call path is written once, and
 * again if its index has got a new meaning.
 */
#ifndef FXT_FXT_CUT_NEEDS_H
#define FXT_FXT_CUT_NEEDS_H

#include "objects.h"

struct fxt_needs {
	struct fxt_sections sections;
	struct fxt_objects objects;
	struct fxt_needs_function *functions; /* by name */
	struct fxt_needs_node *nodes;         /* of call paths */
	struct fxt_needs_module *modules;     /* of providers without any written record
	                                         so far */
	size_t function_count, function_room, node_count, node_room, module_count, module_room;
	struct fxt_index function_index, node_index;
};

void fxt_needs_begin(struct fxt_needs *n, FILE *out);
void fxt_needs_end(struct fxt_needs *n);

/* True if a userspace object holds a function's place in the source: it is written with
 * the function's name. */
static inline bool fxt_needs_is_function(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_argument argument;

	return !(view->userspace_object.pointer >> 63) &&
	       (fxt_tables_argument(t, view, "module", &argument) ||
	               fxt_tables_argument(t, view, "file", &argument) || view->arguments.left == 0);
}

/* Takes over what a record registers or switches. Keeps a pointer to the record, which
 * stays in the archive. */
void fxt_needs_add(struct fxt_needs *n, const struct fxt_record *r, const struct fxt_view *view);

/* True if a userspace object is still to be written. One that a name needed has been. */
bool fxt_needs_claim_object(struct fxt_needs *n, const struct fxt_view *view);

/* Writes everything that a record needs and that is not written yet. The record is a
 * decoded one, or one with this header and references that are indices of the current
 * provider. */
void fxt_needs_of(struct fxt_needs *n, const struct fxt_record *r, const struct fxt_view *view);
void fxt_needs_of_plain_call(struct fxt_needs *n, uint64_t header);

#endif
