/*
 * The categories of the programs' own events (include/fxt/trace.h), which providers list in
 * their control memory. They are kept for the session once their provider has ended.
 */
#ifndef FXT_LAUNCHER_PROGRAM_CATEGORIES_H
#define FXT_LAUNCHER_PROGRAM_CATEGORIES_H

#include "writer/shared/control.h"

/* All zeros at first. By the main thread. */
struct fxt_program_categories {
	struct fxt_program_category *list;
	uint32_t count;
};

/* Adds the categories that a provider lists. If memory is short, some are missing. */
void fxt_program_categories_take(struct fxt_program_categories *all, const struct fxt_control *control);

/* True if one of them goes by that name, which may end in '*'. */
bool fxt_program_categories_have(const struct fxt_program_categories *all, const char *name);

void fxt_program_categories_free(struct fxt_program_categories *all);

#endif
