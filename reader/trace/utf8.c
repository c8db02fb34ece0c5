#include "utf8.h"
#include "writer/format/escape.h"

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

/* The byte that an escape stands for; 0 if there is none at the start of this text. */
static unsigned char escaped_byte(const char *text, size_t bytes)
{
	static const char hex[] = "0123456789abcdef";
	const char *high, *low;

	if (bytes < 4 || text[0] != '\\' || text[1] != 'x')
		return 0;
	high = (const char *)memchr(hex, text[2], 16);
	low = (const char *)memchr(hex, text[3], 16);
	return high && low && high - hex >= 8 ? (unsigned char)((high - hex) << 4 | (low - hex)) : 0;
}

size_t fxt_unescape(char *to, const char *text, size_t bytes)
{
	size_t written = 0;

	for (size_t at = 0; at < bytes;) {
		unsigned char byte = escaped_byte(text + at, bytes - at);

		to[written++] = byte ? (char)byte : text[at];
		at += byte ? 4 : 1;
	}
	return written;
}
