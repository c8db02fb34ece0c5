#include "json.h"

#include <math.h>
#include "reader/text.h"

void fxt_json_string(FILE *out, struct fxt_span text)
{
	char escape[8];

	putc('"', out);
	for (size_t i = 0; i < text.bytes;) {
		size_t bytes = fxt_escape((struct fxt_span){text.data + i, text.bytes - i}, escape);
		unsigned char c = (unsigned char)text.data[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else if (escape[0] && escape[1] == 'u')
			fputs(escape, out);
		else if (escape[0])
			fputs("\\ufffd", out); /* no UTF-8 */
		else
			fwrite(text.data + i, 1, bytes, out);
		i += bytes;
	}
	putc('"', out);
}

void fxt_json_number(FILE *out, double number)
{
	if (!isfinite(number))
		fputs("null", out);
	else if (number == floor(number) && fabs(number) < 1e15)
		fprintf(out, "%.0f", number);
	else
		fprintf(out, "%.15g", number);
}
