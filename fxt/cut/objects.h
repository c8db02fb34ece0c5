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

/* A number, from 1, for the row of that koid, whose events are another thread's; 0: it is none. */
uint32_t fxt_objects_row(struct fxt_objects *o, uint64_t koid);

/* The koid of a row by its number. */
uint64_t fxt_objects_row_koid(const struct fxt_objects *o, uint32_t row);

void fxt_objects_free(struct fxt_objects *o);

#endif
