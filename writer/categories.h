/*
 * Which categories a session records: names in the control memory, that the manager wrote there.
 */
#ifndef FXT_WRITER_CATEGORIES_H
#define FXT_WRITER_CATEGORIES_H

#include <stdbool.h>
#include "shared.h"

/* Whether `category` is enabled: never for NULL or an empty one; always if the session names none; else by
 * name or by a prefix that ends in '*'. Reads no further than the control memory, whatever its sizes say. */
bool fxt_category_is_enabled(const struct fxt_control *control, const char *category);

#endif
