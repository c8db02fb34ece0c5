/*
 * The categories of events that there are, and the names by which some of them are asked for.
 */
#ifndef FXT_LAUNCHER_CATEGORIES_H
#define FXT_LAUNCHER_CATEGORIES_H

#include "options.h"
#include "writer/categories.h"

struct fxt_known_category {
	const char *name, *description;
};
extern const struct fxt_known_category fxt_known_categories[FXT_CATEGORIES];

/* Whether events of that category are asked for; all are where no name is given. */
bool fxt_categories_have(const struct fxt_categories *categories, const char *category);

/* Those that are not, by bits (writer/categories.h). */
uint32_t fxt_categories_off(const struct fxt_categories *categories);

/* The name behind `name`, or with NULL the first; NULL: that was the last. */
const char *fxt_categories_next(const struct fxt_categories *categories, const char *name);

/* The next name behind `name`, or with NULL the first, that no category there is goes by; NULL: there is
 * none. */
const char *fxt_categories_unknown(const struct fxt_categories *categories, const char *name);

#endif
