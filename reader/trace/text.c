#include "text.h"

#include <string.h>
#include "index.h"
#include "utf8.h"

/* The code of a character of 2 or 3 bytes. */
static unsigned text_code(const unsigned char *at, size_t bytes)
{
	return bytes == 2 ? (at[0] & 31u) << 6 | (at[1] & 63u)
	                  : (at[0] & 15u) << 12 | (at[1] & 63u) << 6 | (at[2] & 63u);
}

/* True for characters of 2 or 3 bytes that move a terminal's cursor, end a line, or reverse
 * the direction of the text around them. */
static bool text_is_control(unsigned code)
{
	static const struct {
		unsigned first, last;
	} controls[] = {{0x80, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
	        {0xfeff, 0xfeff}};

	for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++)
		if (code >= controls[i].first && code <= controls[i].last)
			return true;
	return false;
}

size_t fxt_escape(struct fxt_span text, char escape[8])
{
	const unsigned char *at = (const unsigned char *)text.data;

	escape[0] = '\0';
	if (at[0] >= ' ' && at[0] < 0x7f) /* nearly all characters */
		return 1;
	size_t bytes = fxt_utf8_character(text);

	if (bytes <= 1)
		snprintf(escape, 8, at[0] == '\n' ? "\\n" : at[0] == '\t' ? "\\t" : "\\x%02x", at[0]);
	else if ((bytes == 2 || bytes == 3) && text_is_control(text_code(at, bytes)))
		snprintf(escape, 8, "\\u%04x", text_code(at, bytes));
	return bytes ? bytes : 1;
}

static void text_write_escaped(FILE *out, struct fxt_span text, const char *special)
{
	char escape[8];

	while (text.bytes > 0) {
		size_t bytes = fxt_escape(text, escape);

		if (escape[0])
			fputs(escape, out);
		else if (strchr(special, text.data[0]))
			fprintf(out, "\\%c", text.data[0]);
		else
			fwrite(text.data, 1, bytes, out);
		text.data += bytes;
		text.bytes -= bytes;
	}
}

void fxt_write_text(FILE *out, struct fxt_span text)
{
	text_write_escaped(out, text, "");
}

void fxt_print_text(struct fxt_span text)
{
	fxt_write_text(stdout, text);
}

void fxt_print_quoted(struct fxt_span text)
{
	putchar('"');
	text_write_escaped(stdout, text, "\"\\");
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

	/* A value that would be rounded up to 1000 is shown in the next unit. */
	while (unit < 3 && ns / units[unit].ns >= 999.9995)
		unit++;
	int decimals = unit > 0 ? 3 : ns != (double)(uint64_t)ns;

	snprintf(
	        result.text, sizeof(result.text), "%.*f %s", decimals, ns / units[unit].ns, units[unit].name);
	return result;
}

struct fxt_bytes_text fxt_bytes_text(double bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	struct fxt_bytes_text result;
	unsigned unit = 0;

	/* 999.5 kB would be shown as 1000 kB. */
	for (; unit < 4 && bytes >= (unit ? 999.5 : 1000); unit++)
		bytes /= 1000;
	snprintf(result.text, sizeof(result.text), unit && bytes < 9.95 ? "%.1f %s" : "%.0f %s", bytes,
	        unit == 0 && bytes == 1 ? "byte" : units[unit]);
	return result;
}

/* ---- into memory ---- */

FILE *fxt_memory_open(char **text, size_t *bytes)
{
	FILE *file = open_memstream(text, bytes);

	if (!file)
		fxt_out_of_memory();
	return file;
}

void fxt_memory_close(FILE *file, char *const *text)
{
	bool has_failed = ferror(file) != 0;

	if (fclose(file) != 0 || has_failed || !*text)
		fxt_out_of_memory();
}
