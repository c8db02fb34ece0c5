/*
 * What records of a trace need to be read: what later records refer to is noted as it comes by, and written
 * when a record that needs it is. Each string, thread, name, function and node of a call path is written
 * once, unless what its index means has changed.
 */
#ifndef FXT_FXT_CUT_NEEDS_H
#define FXT_FXT_CUT_NEEDS_H

#include "objects.h"

struct fxt_needs {
	struct fxt_sections sections;
	struct fxt_objects objects;
	struct fxt_needs_function *functions; /* by name */
	struct fxt_needs_node *nodes;         /* of call paths */
	struct fxt_needs_module *modules;     /* of providers of which nothing was written yet */
	size_t function_count, function_room, node_count, node_room, module_count, module_room;
	struct fxt_index function_index, node_index;
};

void fxt_needs_begin(struct fxt_needs *n, FILE *out);
void fxt_needs_end(struct fxt_needs *n);

/* Whether a userspace object tells where a function stands: it is written with the function's name. */
static inline bool fxt_needs_is_function(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_argument argument;

	return !(view->userspace_object.pointer >> 63) &&
	       (fxt_tables_argument(t, view, "module", &argument) ||
	               fxt_tables_argument(t, view, "file", &argument) || view->arguments.left == 0);
}

/* Takes over what a record registers or switches. The record stays where it is, in the archive. */
void fxt_needs_see(struct fxt_needs *n, const struct fxt_record *r, const struct fxt_view *view);

/* Writes what is needed and not written yet by a decoded record, or by one with this header whose references
 * are indices: of the current provider. */
void fxt_needs_of(struct fxt_needs *n, const struct fxt_view *view);
void fxt_needs_of_plain_call(struct fxt_needs *n, uint64_t header);

#endif
