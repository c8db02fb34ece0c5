/*
 * Processes and threads: what describes them is written once somebody of them is needed, and again when it
 * has changed.
 */
#ifndef FXT_FXT_CUT_OBJECTS_H
#define FXT_FXT_CUT_OBJECTS_H

#include "sections.h"

/* All zeros: none is known. */
struct fxt_objects {
	struct fxt_objects_item *items;
	size_t count, room;
	struct fxt_index index; /* by type and koid */
};

/* Takes over what a record tells, if it does. */
void fxt_objects_see(struct fxt_objects *o, struct fxt_sections *s, const struct fxt_view *view);

/* Writes a process's or a thread's name, and of a thread its process's. */
void fxt_objects_need(
        struct fxt_objects *o, struct fxt_sections *s, enum fxt_object_type type, uint64_t koid);

void fxt_objects_free(struct fxt_objects *o);

#endif
