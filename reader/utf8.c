#include "utf8.h"

size_t fxt_utf8_cut(const char *text, size_t bytes, size_t limit)
{
	if (bytes <= limit)
		return bytes;
	while (limit > 0 && (text[limit] & 0xc0) == 0x80)
		limit--;
	return limit;
}

/* The size of the character that begins here; 0 if none does. The rows are Unicode's well-formed byte
 * sequences: only the second byte is ever limited beyond 0x80-0xbf. */
static size_t character_bytes(const unsigned char *text, size_t bytes)
{
	static const struct {
		unsigned char first, last, second_first, second_last, bytes;
	} forms[] = {
	        {0x00, 0x7f, 0x00, 0x00, 1},
	        {0xc2, 0xdf, 0x80, 0xbf, 2},
	        {0xe0, 0xe0, 0xa0, 0xbf, 3},
	        {0xe1, 0xec, 0x80, 0xbf, 3},
	        {0xed, 0xed, 0x80, 0x9f, 3},
	        {0xee, 0xef, 0x80, 0xbf, 3},
	        {0xf0, 0xf0, 0x90, 0xbf, 4},
	        {0xf1, 0xf3, 0x80, 0xbf, 4},
	        {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (text[0] < forms[i].first || text[0] > forms[i].last)
			continue;
		if (forms[i].bytes > bytes)
			return 0;
		for (size_t k = 1; k < forms[i].bytes; k++) {
			unsigned char low = k == 1 ? forms[i].second_first : 0x80;
			unsigned char high = k == 1 ? forms[i].second_last : 0xbf;

			if (text[k] < low || text[k] > high)
				return 0;
		}
		return forms[i].bytes;
	}
	return 0;
}

void fxt_utf8_repair(char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		size_t size = character_bytes((const unsigned char *)text + i, bytes - i);

		if (size == 0) {
			text[i] = '?';
			size = 1;
		}
		i += size;
	}
}
