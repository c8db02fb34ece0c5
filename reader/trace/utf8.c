#include "utf8.h"
#include "writer/escape.h"

size_t fxt_utf8_character(struct fxt_span text)
{
	return fxt_character_bytes(text.data, text.bytes);
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

size_t fxt_utf8_cut(const char *text, size_t bytes, size_t limit)
{
	if (bytes <= limit)
		return bytes;
	while (limit > 0 && (text[limit] & 0xc0) == 0x80)
		limit--;
	return limit;
}

void fxt_utf8_repair(char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		size_t size = fxt_utf8_character((struct fxt_span){text + i, bytes - i});

		if (size == 0) {
			text[i] = '?';
			size = 1;
		}
		i += size;
	}
}
