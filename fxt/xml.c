#include "xml.h"

#include "reader/trace/text.h"

void fxt_xml_write(FILE *out, struct fxt_span text)
{
	char escape[8];

	while (text.bytes > 0) {
		size_t bytes = fxt_escape(text, escape);

		if (escape[0])
			fputs(escape, out);
		else if (text.data[0] == '<')
			fputs("&lt;", out);
		else if (text.data[0] == '>')
			fputs("&gt;", out);
		else if (text.data[0] == '&')
			fputs("&amp;", out);
		else if (text.data[0] == '"')
			fputs("&quot;", out);
		else if (bytes == 3 && memcmp(text.data, "\xef\xbf", 2) == 0 && text.data[2] >= '\xbe')
			fputs("\xef\xbf\xbd", out); /* U+FFFE and U+FFFF are not
			                               characters in XML */
		else
			fwrite(text.data, 1, bytes, out);
		text.data += bytes;
		text.bytes -= bytes;
	}
}
