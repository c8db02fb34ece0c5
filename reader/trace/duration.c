#include "duration.h"
#include <stdlib.h>
#include <string.h>

const char *fxt_duration_end(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"m", 60e9},
	        {"h", 3600e9}};
	char digits[40];
	size_t length = strspn(text, "0123456789");

	/* Rejects what strtod() accepts besides: signs, hexadecimal numbers, infinity. In
	 * "..", the first dot is no fraction. */
	if (text[length] == '.' && text[length + 1] != '.')
		length += 1 + strspn(text + length + 1, "0123456789");
	if (length == 0 || length >= sizeof(digits) || (length == 1 && *text == '.'))
		return NULL;
	memcpy(digits, text, length);
	digits[length] = '\0';
	double number = strtod(digits, NULL);
	const char *unit = text + length + strspn(text + length, " ");

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t bytes = strlen(units[i].name);

		if (strncmp(unit, units[i].name, bytes) == 0 && strchr(" .", unit[bytes])) {
			number *= units[i].ns;
			*ns = number < 0x1p64 ? (uint64_t)(number + 0.5) : UINT64_MAX;
			return unit + bytes;
		}
	}
	*ns = 0;
	return number == 0 ? text + length : NULL;
}

bool fxt_duration_parse(const char *text, uint64_t *ns)
{
	const char *end = fxt_duration_end(text, ns);

	return end && *end == '\0';
}
