/*
 * Names from outside made valid UTF-8, as the strings of a trace must be.
 *
 * Valid characters stay as they are. Each byte that belongs to no valid character becomes
 * four ASCII characters, `\xNN`, so two names that differ only in such bytes stay
 * different. A backslash of the name itself stays single: a name that contains the text
 * `\xNN` looks the same as one with that byte. So a path is tried as it is written before
 * it is tried without its escapes.
 */
#ifndef FXT_WRITER_ESCAPE_H
#define FXT_WRITER_ESCAPE_H

#include <stddef.h>
#include <string.h>

/* Returns the bytes of the UTF-8 character at the start of this text; 0 if there is no
 * valid one, or no text. */
static inline size_t fxt_character_bytes(const char *text, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)text;
	/* The bounds of the second byte exclude overlong forms, surrogates, and more than
	 * 21 bits. */
	unsigned char low = 0x80, high = 0xbf;
	size_t size;

	if (bytes == 0)
		return 0;
	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	size = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	if (bytes < size || at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < size; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return size;
}

/* Writes the escaped text, without a terminator. Stops before the first character or escape
 * that does not fit in `room` bytes. Returns the bytes written. */
static inline size_t fxt_escape(char *to, size_t room, const char *text, size_t bytes)
{
	static const char hex[] = "0123456789abcdef";
	size_t written = 0;

	while (bytes > 0) {
		size_t size = fxt_character_bytes(text, bytes);
		unsigned char byte = (unsigned char)*text;
		const char escape[4] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
		size_t grown = size ? size : sizeof(escape);

		if (grown > room - written)
			break;
		memcpy(to + written, size ? text : escape, grown);
		written += grown;
		text += size ? size : 1;
		bytes -= size ? size : 1;
	}
	return written;
}

#endif
