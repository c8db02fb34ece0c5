/*
 * Chooses the functions to record, by name, source file and module.
 *
 * A pattern applies to the function's name, in the syntax of reader/slices/pattern.h: GLOB
 * or /REGEX/. After "file:" it applies to the source file that defines the function. After
 * "module:" it applies to the program or library that holds it. Both match the whole path,
 * or the part after any of its slashes.
 */
#ifndef FXT_SYMBOLIZER_RECORD_FILTER_H
#define FXT_SYMBOLIZER_RECORD_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include "image.h"

enum fxt_record_filter_kind {
	FXT_RECORD_FILTER_INCLUDE,    /* record only these functions */
	FXT_RECORD_FILTER_EXCLUDE,    /* exclude these, included or not */
	FXT_RECORD_FILTER_ONLY_UNDER, /* record only these and what they call */
	FXT_RECORD_FILTER_NOT_UNDER,  /* record neither these nor what they call */
	FXT_RECORD_FILTER_PATTERNS,
	/* With a number: fxt_record_filter_add_limit(). */
	/* elide calls that take less, in ns */
	FXT_RECORD_FILTER_MIN_DURATION = FXT_RECORD_FILTER_PATTERNS,
	/* elide calls after this many */
	FXT_RECORD_FILTER_MAX_CALLS,
	/* calls raise the trigger of this number, from 1, as they end */
	FXT_RECORD_FILTER_TRIGGER,
	FXT_RECORD_FILTER_BEGIN_TRIGGER, /* the same, as they begin */
	/* Not an option: fxt_record_filter_add_muted(). */
	FXT_RECORD_FILTER_MUTED, /* exclude the functions of exactly this name */
	FXT_RECORD_FILTER_KINDS
};
/* The name of each kind as fxtrun's option, if it has one; the patterns come first. */
extern const char *const fxt_record_filter_words[FXT_RECORD_FILTER_KINDS];

struct fxt_record_filter_rule; /* the filter's own memory */

/* All zeros is a filter that excludes nothing. Once it is in use it no longer changes,
 * except for the notes of which rules matched; any thread may then use it. */
struct fxt_record_filter {
	struct fxt_record_filter_rule *rules;
	size_t count;
	bool has_include;
	unsigned under;    /* the FXT_UNDER_ bits of its rules */
	bool needs_source; /* the source file must be known (fxt_location.is_located) */
	bool has_limits;   /* some functions have limits of their own */
	unsigned triggers; /* calls of some functions raise triggers: a sum of FXT_TRIGGERS_
	                    * (writer/shared/control.h) */
};

/* Adds a rule. Returns NULL, or half a sentence that says what is wrong with the
 * pattern. */
const char *fxt_record_filter_add(
        struct fxt_record_filter *filter, enum fxt_record_filter_kind kind, const char *pattern);

/* Adds a limit for the functions of a pattern, which is the first `bytes` of `text`. `text`
 * is an option's whole value, by which the rule is reported if it matches nothing. Returns
 * the same. */
const char *fxt_record_filter_add_limit(struct fxt_record_filter *filter, enum fxt_record_filter_kind kind,
        const char *text, size_t bytes, uint64_t limit);

/* Excludes the functions of a name, which is taken literally and not as a pattern. Returns
 * the same. */
const char *fxt_record_filter_add_muted(struct fxt_record_filter *filter, const char *name);

/* True if the filter has any rule other than muted names. */
bool fxt_record_filter_chooses(const struct fxt_record_filter *filter);

/* Adds the rules of another filter except those of the kinds in `without`, a sum of 1 <<
 * kind. Returns NULL, or what is wrong with a rule: here only that memory is short. */
const char *fxt_record_filter_add_all(
        struct fxt_record_filter *filter, const struct fxt_record_filter *from, unsigned without);

/* Writes the patterns as options of fxtrun, a space before each, to text[bytes], ended by a
 * zero byte. Returns the length of the whole text, as snprintf() does. */
size_t fxt_record_filter_describe(const struct fxt_record_filter *filter, char *text, size_t bytes);

/* True if the function is excluded. */
bool fxt_record_filter_excludes(const struct fxt_record_filter *filter, const struct fxt_location *function);

/* Says how the function's calls affect those inside them: a sum of FXT_UNDER_
 * (writer/shared/control.h). */
unsigned fxt_record_filter_under(const struct fxt_record_filter *filter, const struct fxt_location *function);

/* Returns the function's limit of that kind. The last matching rule wins; `general` applies
 * if none matches. */
uint64_t fxt_record_filter_limit(const struct fxt_record_filter *filter, enum fxt_record_filter_kind kind,
        const struct fxt_location *function, uint64_t general);

/* Finds a rule that has matched no function so far; muted names are not searched, because
 * they are those of functions that were called. The search starts at `*index`, which
 * becomes the index of the rule found; `*kind` becomes its kind. Returns its pattern, or
 * NULL if there is no further one. */
const char *fxt_record_filter_unmatched(
        const struct fxt_record_filter *filter, size_t *index, enum fxt_record_filter_kind *kind);

void fxt_record_filter_free(struct fxt_record_filter *filter);

#endif
