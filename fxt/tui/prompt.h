/*
 * The line at the bottom into which a part of a name is typed, to search for it or to leave out all else.
 */
#ifndef FXT_FXT_TUI_PROMPT_H
#define FXT_FXT_TUI_PROMPT_H

#include "screen.h"

enum { FXT_PROMPT_BYTES = 256 };

struct fxt_prompt {
	char kind;                     /* '/' or '&' while it is typed into, else 0 */
	char search[FXT_PROMPT_BYTES]; /* what is searched for, */
	char filter[FXT_PROMPT_BYTES]; /* and what all that is shown has; "": everything */
};

void fxt_prompt_begin(struct fxt_prompt *prompt, char kind);

/* What is typed into. */
char *fxt_prompt_text(struct fxt_prompt *prompt);

/* Takes a key while it is typed into. Returns true for the one with which that is done; one that leaves it
 * makes the text empty. */
bool fxt_prompt_key(struct fxt_prompt *prompt, struct fxt_key key);

/* Whether a name has a text in it; capital letters of ASCII are as small ones. */
bool fxt_prompt_matches(const char *text, struct fxt_span name);

#endif
