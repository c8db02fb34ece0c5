#include "categories.h"
#include <string.h>

const struct fxt_known_category fxt_known_categories[FXT_CATEGORIES] = {
        {"function", "calls of instrumented functions"},
        {"heap", "allocations and frees"},
        {"process", "beginnings and ends of threads, processes and images"},
        {"sync", "waits for locks, other threads, time and descriptors, and who ended them"},
};

bool fxt_category_goes_by(const char *name, const char *category)
{
	size_t bytes = strlen(name);

	if (bytes && name[bytes - 1] == '*')
		return strncmp(name, category, bytes - 1) == 0;
	return strcmp(name, category) == 0;
}

const char *fxt_categories_next(const struct fxt_categories *categories, const char *name)
{
	name = name ? name + strlen(name) + 1 : categories->names;
	return name < categories->names + categories->bytes ? name : NULL;
}

bool fxt_categories_have(const struct fxt_categories *categories, const char *category)
{
	const char *name = NULL;

	while ((name = fxt_categories_next(categories, name)))
		if (fxt_category_goes_by(name, category))
			return true;
	return categories->bytes == 0;
}

uint32_t fxt_categories_off(const struct fxt_categories *categories)
{
	uint32_t off = 0;

	for (size_t i = 0; i < FXT_CATEGORIES; i++)
		if (!fxt_categories_have(categories, fxt_known_categories[i].name))
			off |= fxt_category_bit(fxt_known_categories[i].name);
	return off;
}

const char *fxt_categories_unknown(const struct fxt_categories *categories, const char *name)
{
	while ((name = fxt_categories_next(categories, name))) {
		size_t i = 0;

		while (i < FXT_CATEGORIES && !fxt_category_goes_by(name, fxt_known_categories[i].name))
			i++;
		if (i == FXT_CATEGORIES)
			break;
	}
	return name;
}
