/*
 * The input line at the bottom, which takes a part of a name to search for or to filter by.
 */
#ifndef FXT_FXT_TUI_PROMPT_H
#define FXT_FXT_TUI_PROMPT_H

#include "screen.h"

enum { FXT_PROMPT_BYTES = 256 };

struct fxt_prompt {
	char kind;                     /* '/' or '&' while the user types, else 0 */
	char search[FXT_PROMPT_BYTES]; /* the text to search for */
	char filter[FXT_PROMPT_BYTES]; /* the text that all shown names contain; "":
	                                  everything is shown */
};

void fxt_prompt_begin(struct fxt_prompt *prompt, char kind);

/* Takes a key while the user types. Returns true for the key that completes the input. A
 * key that cancels makes the text empty. */
bool fxt_prompt_key(struct fxt_prompt *prompt, struct fxt_key key);

/* True if a name contains a text; ASCII letters match in either case. */
bool fxt_prompt_matches(const char *text, struct fxt_span name);

#endif
