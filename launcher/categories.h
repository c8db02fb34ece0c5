/*
 * The categories of events, and the names that requests may use for them.
 */
#ifndef FXT_LAUNCHER_CATEGORIES_H
#define FXT_LAUNCHER_CATEGORIES_H

#include "options.h"
#include "writer/format/categories.h"

struct fxt_known_category {
	const char *name, *description;
};
extern const struct fxt_known_category fxt_known_categories[FXT_CATEGORIES];

/* True if the category matches the name, which may end in '*'. */
bool fxt_category_goes_by(const char *name, const char *category);

/* True if events of that category are requested; without any name, all are. */
bool fxt_categories_have(const struct fxt_categories *categories, const char *category);

/* The categories that are not requested, as bits (writer/format/categories.h). */
uint32_t fxt_categories_off(const struct fxt_categories *categories);

/* The name behind `name`, or with NULL the first one; NULL: there are no more. */
const char *fxt_categories_next(const struct fxt_categories *categories, const char *name);

/* The next name behind `name`, or with NULL the first one, that matches no existing
 * category; NULL: there is none. */
const char *fxt_categories_unknown(const struct fxt_categories *categories, const char *name);

#endif
