/*
 * Patterns for names, as options have them: GLOB with *, ? and [...], or /regex/ (POSIX,
 * extended).
 *
 * A glob must match a whole name. The name of a C++ function may be given in full, or
 * without its parameters, and then also without its return type, its scope and its own
 * template arguments: sphere::intersect(vec, vec) const is matched by sphere::intersect and
 * by intersect, void std::sort<int*>(int*, int*) by std::sort. A regular expression may match anywhere in the full name. It may be as long as 16384
 * characters, with all its repetitions carried out; each optional part counts as 16 more.
 */
#ifndef FXT_READER_PATTERN_H
#define FXT_READER_PATTERN_H

#include <stdint.h>
#include "span.h"

/* Matches a name that any of several patterns matches. All zeros: no pattern, and no
 * match. */
struct fxt_patterns {
	struct fxt_pattern *items;
	size_t count, room;
};

/* Adds a pattern. Returns NULL, or the reason for a refusal as half a sentence. */
const char *fxt_patterns_add(struct fxt_patterns *patterns, const char *text);

bool fxt_patterns_match(const struct fxt_patterns *patterns, struct fxt_span name);

/* The same for a process or thread, which may also be given by its number. */
bool fxt_patterns_match_object(const struct fxt_patterns *patterns, struct fxt_span name, uint64_t koid);

/* The first pattern as it was given. */
const char *fxt_patterns_text(const struct fxt_patterns *patterns);

/* Shortens a C++ name in place: removes its parameters, namespaces and return type. Returns
 * the beginning of the rest. */
char *fxt_short_name(char *name);

void fxt_patterns_free(struct fxt_patterns *patterns);

#endif
