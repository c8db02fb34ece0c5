#include "categories.h"
#include <string.h>

bool fxt_category_is_enabled(const struct fxt_control *control, const char *category)
{
	uint32_t names = control->categories_bytes;
	const char *name = control->categories;
	const char *end = name + (names < FXT_CATEGORIES_BYTES ? names : FXT_CATEGORIES_BYTES);
	size_t length;

	if (!category || !category[0])
		return false;
	length = strlen(category);
	if (name == end)
		return true;
	while (name < end) {
		size_t bytes = strnlen(name, (size_t)(end - name));
		bool prefix = bytes > 0 && name[bytes - 1] == '*';

		if (prefix ? length >= bytes - 1 && memcmp(name, category, bytes - 1) == 0
		           : length == bytes && memcmp(name, category, bytes) == 0)
			return true;
		name += bytes + 1;
	}
	return false;
}
