/*
 * Which functions are recorded, by what they are called and where they stand.
 *
 * A pattern is for the function's name, as reader/slices/pattern.h has it: GLOB or /REGEX/. Behind "file:" it
 * is for the source file that defines it, behind "module:" for the program or library it is in: the whole
 * path, or what is behind any of its slashes.
 */
#ifndef FXT_SYMBOLIZER_SELECTION_H
#define FXT_SYMBOLIZER_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include "image.h"

enum fxt_selection_kind {
	FXT_SELECTION_INCLUDE,    /* record these functions alone */
	FXT_SELECTION_EXCLUDE,    /* do not record these, included or not */
	FXT_SELECTION_ONLY_UNDER, /* record these and what they call alone */
	FXT_SELECTION_NOT_UNDER,  /* record neither these nor what they call */
	FXT_SELECTION_PATTERNS,
	/* With a number: fxt_selection_add_limit(). */
	FXT_SELECTION_MIN_DURATION = FXT_SELECTION_PATTERNS, /* leave out calls that take less, in ns */
	FXT_SELECTION_MAX_CALLS,                             /* leave out calls after so many */
	FXT_SELECTION_TRIGGER,       /* calls raise the trigger of that number, from 1, as they end */
	FXT_SELECTION_BEGIN_TRIGGER, /* and as they begin */
	/* Of nobody's options: fxt_selection_add_muted(). */
	FXT_SELECTION_MUTED, /* do not record the functions of just this name */
	FXT_SELECTION_KINDS
};
/* What a kind is called, as fxtrun's option, if it has one; the patterns come first. */
extern const char *const fxt_selection_words[FXT_SELECTION_KINDS];

struct fxt_selection_rule; /* the selection's own memory */

/* All zeros is a selection that leaves nothing out. Once it is used it changes no more, but for the notes of
 * what matched; then any thread may use it. */
struct fxt_selection {
	struct fxt_selection_rule *rules;
	size_t count;
	bool has_include;
	unsigned under;    /* FXT_UNDER_ of the rules there are */
	bool needs_source; /* a function's file has to be known (fxt_location.is_located) */
	bool has_limits;   /* some functions have other limits than the rest */
	unsigned triggers; /* calls of some raise triggers: a sum of FXT_TRIGGERS_ (writer/control.h) */
};

/* Adds a rule. Returns NULL, or what is wrong with the pattern as half a sentence. */
const char *fxt_selection_add(
        struct fxt_selection *selection, enum fxt_selection_kind kind, const char *pattern);

/* Adds a limit for the functions of a pattern, which stands in the first `bytes` of `text`: an option's whole
 * value, by which the rule is told of if it matches nothing. Returns the same. */
const char *fxt_selection_add_limit(struct fxt_selection *selection, enum fxt_selection_kind kind,
        const char *text, size_t bytes, uint64_t limit);

/* Adds the functions of a name, which is none of a pattern, to those that are left out. Returns the same. */
const char *fxt_selection_add_muted(struct fxt_selection *selection, const char *name);

/* Whether functions are chosen by something else than that they are muted. */
bool fxt_selection_chooses(const struct fxt_selection *selection);

/* Adds the rules of another selection, but for those of some kinds: a sum of 1 << kind. Returns NULL, or what
 * is wrong with one of them now: memory is short. */
const char *fxt_selection_add_all(
        struct fxt_selection *selection, const struct fxt_selection *from, unsigned without);

/* Writes the patterns as options of fxtrun, a space before each, to text[bytes], ended by a zero byte.
 * Returns how long all of it is, as snprintf() does. */
size_t fxt_selection_describe(const struct fxt_selection *selection, char *text, size_t bytes);

/* Whether calls of the function are not to be recorded. */
bool fxt_selection_excludes(const struct fxt_selection *selection, const struct fxt_location *function);

/* What calls of the function are to those inside of them: a sum of FXT_UNDER_ (writer/control.h). */
unsigned fxt_selection_under(const struct fxt_selection *selection, const struct fxt_location *function);

/* The function's limit of that kind: of several that match it the last; `general` if none does. */
uint64_t fxt_selection_limit(const struct fxt_selection *selection, enum fxt_selection_kind kind,
        const struct fxt_location *function, uint64_t general);

/* The pattern, and the kind, of a rule that has matched no function so far, `index` being the first to look
 * at and then the one found. NULL: there is none any more. */
const char *fxt_selection_unmatched(
        const struct fxt_selection *selection, size_t *index, enum fxt_selection_kind *kind);

void fxt_selection_free(struct fxt_selection *selection);

#endif
