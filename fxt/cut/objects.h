/*
 * Processes and threads. Their descriptions are written when a kept record first needs
 * them, and again when they have changed.
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

/* Takes over the description in a record, if it has one. */
void fxt_objects_add(struct fxt_objects *o, struct fxt_sections *s, const struct fxt_view *view);

/* Writes the name of a process or thread; for a thread also its process's. */
void fxt_objects_need(
        struct fxt_objects *o, struct fxt_sections *s, enum fxt_object_type type, uint64_t koid);

/* Returns a number, from 1, for a heap or fault track with this koid; 0: it is no such
 * track. */
uint32_t fxt_objects_row(struct fxt_objects *o, uint64_t koid);

/* The koid of such a track by its number. */
uint64_t fxt_objects_row_koid(const struct fxt_objects *o, uint32_t row);

void fxt_objects_free(struct fxt_objects *o);

#endif
