#include "text.h"

#include <stdio.h>
#include <string.h>

static bool continues(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

size_t fxt_utf8_character(struct fxt_span text)
{
	const unsigned char *at = (const unsigned char *)text.data;
	/* What the second byte is at least and at most: no overlong forms, no surrogates, no more than 21
	 * bits. */
	unsigned char low = 0x80, high = 0xbf;
	size_t bytes;

	if (text.bytes == 0)
		return 0;
	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	bytes = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	if (text.bytes < bytes || at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < bytes; i++)
		if (!continues(at[i]))
			return 0;
	return bytes;
}

bool fxt_is_utf8(struct fxt_span text)
{
	while (text.bytes > 0) {
		size_t bytes = fxt_utf8_character(text);

		if (bytes == 0)
			return false;
		text.data += bytes;
		text.bytes -= bytes;
	}
	return true;
}

static void print_escaped(struct fxt_span text, const char *special)
{
	while (text.bytes > 0) {
		size_t bytes = fxt_utf8_character(text);
		unsigned char first = (unsigned char)text.data[0];

		if (first == '\n')
			fputs("\\n", stdout);
		else if (first == '\t')
			fputs("\\t", stdout);
		else if (bytes == 0 || first < ' ' || first == 0x7f)
			printf("\\x%02x", first);
		else if (strchr(special, first))
			printf("\\%c", first);
		else
			fwrite(text.data, 1, bytes, stdout);
		bytes += bytes == 0;
		text.data += bytes;
		text.bytes -= bytes;
	}
}

void fxt_print_text(struct fxt_span text)
{
	print_escaped(text, "");
}

void fxt_print_quoted(struct fxt_span text)
{
	putchar('"');
	print_escaped(text, "\"\\");
	putchar('"');
}

struct fxt_time_text fxt_time_text(double ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
	struct fxt_time_text result;
	size_t unit = 0;

	/* What would be rounded up to 1000 belongs to the next unit. */
	while (unit < 3 && ns / units[unit].ns >= 999.9995)
		unit++;
	int decimals = unit > 0 ? 3 : ns != (double)(uint64_t)ns;

	snprintf(
	        result.text, sizeof(result.text), "%.*f %s", decimals, ns / units[unit].ns, units[unit].name);
	return result;
}
