#include "csv.h"

#include "reader/trace/text.h"

void fxt_csv_text(FILE *out, struct fxt_span text)
{
	const char *written = text.data;
	char escape[8];

	putc('"', out);
	while (text.bytes > 0) {
		size_t bytes = fxt_escape(text, escape);
		bool is_quote = text.data[0] == '"';

		if (escape[0] || is_quote) {
			fwrite(written, 1, (size_t)(text.data - written), out);
			fputs(escape[0] ? escape : "\"\"", out);
			written = text.data + bytes;
		}
		text.data += bytes;
		text.bytes -= bytes;
	}
	fwrite(written, 1, (size_t)(text.data - written), out);
	putc('"', out);
}

void fxt_csv_title(FILE *out, const char *title)
{
	if (title[strcspn(title, "\",\r\n")] == '\0')
		fxt_write_text(out, fxt_span(title));
	else
		fxt_csv_text(out, fxt_span(title));
}
