#include "utf8.h"

static bool utf8_continues(unsigned char byte)
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
		if (!utf8_continues(at[i]))
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
