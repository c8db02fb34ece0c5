#include "text.h"

#include <stdio.h>
#include <string.h>
#include "utf8.h"

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
