#include "csv.h"

#include "reader/text.h"

void fxt_csv_text(FILE *out, struct fxt_span text)
{
	char escape[8];

	putc('"', out);
	while (text.bytes > 0) {
		size_t bytes = fxt_escape(text, escape);

		if (escape[0])
			fputs(escape, out);
		else if (text.data[0] == '"')
			fputs("\"\"", out);
		else
			fwrite(text.data, 1, bytes, out);
		text.data += bytes;
		text.bytes -= bytes;
	}
	putc('"', out);
}

void fxt_csv_title(FILE *out, const char *title)
{
	if (title[strcspn(title, "\",\r\n")] == '\0')
		fxt_write_text(out, fxt_span(title));
	else
		fxt_csv_text(out, fxt_span(title));
}
