#include "fold_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LEFT_OUT "…"

static bool fold_is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The length of an operator's name at this place that contains brackets; 0 if there is
 * none. */
static size_t fold_operator(struct fxt_span text, size_t at)
{
	static const char *const symbols[] = {
	        "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "<", ">"};
	static const char word[] = "operator";
	struct fxt_span rest = {text.data + at, text.bytes - at};

	if (!fxt_begins_with(rest, word) || (at > 0 && fold_is_in_word(text.data[at - 1])))
		return 0;
	rest.data += strlen(word);
	rest.bytes -= strlen(word);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (fxt_begins_with(rest, symbols[i]))
			return strlen(word) + strlen(symbols[i]);
	return 0;
}

/* True if parameters or template arguments begin there: directly behind a name, or behind a
 * name and its arguments. */
static bool fold_is_list(struct fxt_span text, size_t at, bool is_behind_operator)
{
	char c = text.data[at], before = at > 0 ? text.data[at - 1] : ' ';

	if (c == '(')
		return fold_is_in_word(before) || before == '>' || is_behind_operator;
	return c == '<' && fold_is_in_word(before);
}

size_t fxt_fold_names(struct fxt_span text, char *result)
{
	size_t written = 0, list = 0, depth = 0, symbol, behind = SIZE_MAX;

	for (size_t at = 0; at < text.bytes; at++) {
		char c = text.data[at];

		if ((symbol = fold_operator(text, at)) > 0) {
			memcpy(result + written, text.data + at, symbol);
			written += symbol;
			at += symbol - 1;
			behind = at + 1;
			continue;
		}
		if (depth == 0 && fold_is_list(text, at, at == behind)) {
			depth = 1;
			list = written + 1;
		} else if (depth > 0 && (c == '(' || c == '<')) {
			depth++;
		} else if (depth > 0 && (c == ')' || c == '>') && text.data[at - 1] != '-' && --depth == 0 &&
		           written - list > strlen(LEFT_OUT)) {
			memcpy(result + list, LEFT_OUT, strlen(LEFT_OUT));
			written = list + strlen(LEFT_OUT);
		}
		result[written++] = c;
	}
	return written;
}
