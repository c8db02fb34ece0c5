/*
 * Categories of events. The control memory has a bit for each category that a session does
 * not record, so that a change while the program runs is one store.
 */
#ifndef FXT_WRITER_CATEGORIES_H
#define FXT_WRITER_CATEGORIES_H

#include <stdbool.h>
#include <string.h>
#include "writer/shared/atomics.h"
#include "writer/shared/control.h"

#define FXT_CATEGORIES 4

/* Returns the category's bit; 0: there is no such category. */
static inline uint32_t fxt_category_bit(const char *name)
{
	return !strcmp(name, "function")  ? 1
	       : !strcmp(name, "heap")    ? 2
	       : !strcmp(name, "process") ? 4
	       : !strcmp(name, "sync")    ? 8
	                                  : 0;
}

/* Whether events of the category are recorded. */
static inline bool fxt_category_is_enabled(const struct fxt_control *control, const char *name)
{
	return !(load_relaxed(&control->categories_off) & fxt_category_bit(name));
}

#endif
