#include "prompt.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <wchar.h>

/* The text that the user is editing. */
static char *prompt_text(struct fxt_prompt *prompt)
{
	return prompt->kind == '&' ? prompt->filter : prompt->search;
}

void fxt_prompt_begin(struct fxt_prompt *prompt, char kind)
{
	prompt->kind = kind;
	*prompt_text(prompt) = '\0';
}

/* Removes the last character, which may have several bytes. */
static void prompt_erase(char *text)
{
	size_t bytes = strlen(text);

	while (bytes > 0 && ((unsigned char)text[bytes - 1] & 0xc0) == 0x80)
		bytes--;
	text[bytes > 0 ? bytes - 1 : 0] = '\0';
}

static void prompt_add(char *text, wint_t character)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = {0};
	size_t count = wcrtomb(bytes, (wchar_t)character, &state), before = strlen(text);

	if (count == (size_t)-1 || before + count >= FXT_PROMPT_BYTES)
		return;
	memcpy(text + before, bytes, count);
	text[before + count] = '\0';
}

bool fxt_prompt_key(struct fxt_prompt *prompt, struct fxt_key key)
{
	char *text = prompt_text(prompt);
	bool is_erasing = key.other == KEY_BACKSPACE || key.character == 0x7f || key.character == '\b';

	if (key.character == '\n' || key.character == '\r' || key.other == KEY_ENTER) {
		prompt->kind = 0;
		return true;
	}
	if (key.character == 0x1b || (is_erasing && !*text)) {
		*text = '\0';
		prompt->kind = 0;
		return false;
	}
	if (is_erasing)
		prompt_erase(text);
	else if (key.character == ('u' & 0x1f))
		*text = '\0';
	else if (key.character >= ' ')
		prompt_add(text, key.character);
	return false;
}

bool fxt_prompt_matches(const char *text, struct fxt_span name)
{
	size_t bytes = strlen(text);

	for (size_t at = 0; at + bytes <= name.bytes; at++) {
		size_t same = 0;

		while (same < bytes &&
		        tolower((unsigned char)text[same]) == tolower((unsigned char)name.data[at + same]))
			same++;
		if (same == bytes)
			return true;
	}
	return false;
}
