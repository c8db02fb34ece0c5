/*
 * Reads the rules of a selection and matches functions against them. Matching may run on
 * any thread at the same time; it must never change a selection, except for the atomic note
 * that a rule has matched.
 */
#include "selection.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/slices/pattern.h"
#include "writer/atomics.h"
#include "writer/control.h"

static const unsigned selection_under[FXT_SELECTION_KINDS] = {
        [FXT_SELECTION_ONLY_UNDER] = FXT_UNDER_ONLY, [FXT_SELECTION_NOT_UNDER] = FXT_UNDER_NOT};

enum selection_subject { SUBJECT_NAME, SUBJECT_FILE, SUBJECT_MODULE };

struct fxt_selection_rule {
	enum fxt_selection_kind kind;
	enum selection_subject subject;
	const char *text;            /* as given */
	size_t pattern_bytes;        /* length of the pattern in it */
	struct fxt_patterns pattern; /* a single one */
	uint64_t limit;
	uint32_t has_matched; /* set by any thread */
};

/* ---- reading ---- */

static bool selection_begins(const char *text, const char *prefix)
{
	size_t bytes = strlen(prefix);

	/* "file::open" is a C++ name. */
	return strncmp(text, prefix, bytes) == 0 && text[bytes] != ':';
}

static const char *selection_read(struct fxt_selection_rule *rule, const char *pattern)
{
	if (selection_begins(pattern, "file:"))
		rule->subject = SUBJECT_FILE;
	else if (selection_begins(pattern, "module:"))
		rule->subject = SUBJECT_MODULE;
	if (rule->subject != SUBJECT_NAME)
		pattern = strchr(pattern, ':') + 1;
	return fxt_patterns_add(&rule->pattern, pattern);
}

const char *fxt_selection_add(
        struct fxt_selection *selection, enum fxt_selection_kind kind, const char *pattern)
{
	return fxt_selection_add_limit(selection, kind, pattern, strlen(pattern), 0);
}

const char *fxt_selection_add_limit(struct fxt_selection *selection, enum fxt_selection_kind kind,
        const char *text, size_t bytes, uint64_t limit)
{
	struct fxt_selection_rule *rules =
	        reallocarray(selection->rules, selection->count + 1, sizeof(*rules));
	struct fxt_selection_rule rule = {
	        .kind = kind, .text = strdup(text), .pattern_bytes = bytes, .limit = limit};
	char *pattern = strndup(text, bytes);
	const char *wrong;

	if (rules)
		selection->rules = rules;
	wrong = !rules || !rule.text || !pattern ? "finds no memory"
	        : kind == FXT_SELECTION_MUTED    ? NULL
	                                         : selection_read(&rule, pattern);
	free(pattern);
	if (wrong) {
		free((char *)rule.text);
		return wrong;
	}
	rules[selection->count++] = rule;
	selection->has_include |= kind == FXT_SELECTION_INCLUDE;
	selection->under |= selection_under[kind];
	selection->needs_source |= rule.subject == SUBJECT_FILE;
	selection->has_limits |= kind == FXT_SELECTION_MIN_DURATION || kind == FXT_SELECTION_MAX_CALLS;
	selection->triggers |= kind == FXT_SELECTION_TRIGGER         ? FXT_TRIGGERS_END
	                       : kind == FXT_SELECTION_BEGIN_TRIGGER ? FXT_TRIGGERS_BEGIN
	                                                             : 0;
	return NULL;
}

const char *fxt_selection_add_muted(struct fxt_selection *selection, const char *name)
{
	return fxt_selection_add_limit(selection, FXT_SELECTION_MUTED, name, strlen(name), 0);
}

bool fxt_selection_chooses(const struct fxt_selection *selection)
{
	for (size_t i = 0; i < selection->count; i++)
		if (selection->rules[i].kind != FXT_SELECTION_MUTED)
			return true;
	return false;
}

const char *fxt_selection_add_all(
        struct fxt_selection *selection, const struct fxt_selection *from, unsigned without)
{
	const char *wrong = NULL;

	for (size_t i = 0; !wrong && i < from->count; i++) {
		const struct fxt_selection_rule *rule = &from->rules[i];

		if (!(without >> rule->kind & 1))
			wrong = fxt_selection_add_limit(
			        selection, rule->kind, rule->text, rule->pattern_bytes, rule->limit);
	}
	return wrong;
}

size_t fxt_selection_describe(const struct fxt_selection *selection, char *text, size_t bytes)
{
	size_t length = 0;

	*text = 0;
	for (size_t i = 0; i < selection->count; i++) {
		const struct fxt_selection_rule *rule = &selection->rules[i];
		size_t room = length < bytes ? bytes - length : 0;

		if (rule->kind < FXT_SELECTION_PATTERNS)
			length += (size_t)snprintf(room ? text + length : NULL, room, " --%s=%s",
			        fxt_selection_words[rule->kind], rule->text);
	}
	return length;
}

void fxt_selection_free(struct fxt_selection *selection)
{
	for (size_t i = 0; i < selection->count; i++) {
		free((char *)selection->rules[i].text);
		fxt_patterns_free(&selection->rules[i].pattern);
	}
	free(selection->rules);
	*selection = (struct fxt_selection){0};
}

/* ---- matching ---- */

static bool selection_matches_path(const struct fxt_patterns *pattern, const char *path)
{
	if (!path)
		return false;
	if (fxt_patterns_match(pattern, (struct fxt_span){path, strlen(path)}))
		return true;
	while ((path = strchr(path, '/')) != NULL) {
		path++;
		if (fxt_patterns_match(pattern, (struct fxt_span){path, strlen(path)}))
			return true;
	}
	return false;
}

static bool selection_matches(struct fxt_selection_rule *rule, const struct fxt_location *function)
{
	const struct fxt_patterns *pattern = &rule->pattern;
	bool matches =
	        rule->subject == SUBJECT_NAME
	                ? fxt_patterns_match(pattern, (struct fxt_span){function->name, function->name_bytes})
	        : rule->subject == SUBJECT_FILE ? selection_matches_path(pattern, function->file)
	                                        : selection_matches_path(pattern, function->module);

	if (matches)
		store_relaxed(&rule->has_matched, 1);
	return matches;
}

static bool selection_is_muted(const struct fxt_selection_rule *rule, const struct fxt_location *function)
{
	return rule->pattern_bytes == function->name_bytes &&
	       memcmp(rule->text, function->name, function->name_bytes) == 0;
}

bool fxt_selection_excludes(const struct fxt_selection *selection, const struct fxt_location *function)
{
	bool is_included = !selection->has_include, is_excluded = false;

	for (size_t i = 0; i < selection->count; i++) {
		struct fxt_selection_rule *rule = &selection->rules[i];

		if (rule->kind == FXT_SELECTION_INCLUDE)
			is_included |= selection_matches(rule, function);
		if (rule->kind == FXT_SELECTION_EXCLUDE)
			is_excluded |= selection_matches(rule, function);
		if (rule->kind == FXT_SELECTION_MUTED)
			is_excluded |= selection_is_muted(rule, function);
	}
	return is_excluded || !is_included;
}

unsigned fxt_selection_under(const struct fxt_selection *selection, const struct fxt_location *function)
{
	unsigned under = 0;

	for (size_t i = 0; i < selection->count; i++) {
		struct fxt_selection_rule *rule = &selection->rules[i];

		if (selection_under[rule->kind] && selection_matches(rule, function))
			under |= selection_under[rule->kind];
	}
	return under;
}

uint64_t fxt_selection_limit(const struct fxt_selection *selection, enum fxt_selection_kind kind,
        const struct fxt_location *function, uint64_t general)
{
	uint64_t limit = general;

	for (size_t i = 0; i < selection->count; i++) {
		struct fxt_selection_rule *rule = &selection->rules[i];

		if (rule->kind == kind && selection_matches(rule, function))
			limit = rule->limit;
	}
	return limit;
}

const char *fxt_selection_unmatched(
        const struct fxt_selection *selection, size_t *index, enum fxt_selection_kind *kind)
{
	for (; *index < selection->count; ++*index) {
		const struct fxt_selection_rule *rule = &selection->rules[*index];

		*kind = rule->kind;
		if (!load_relaxed(&rule->has_matched))
			return rule->text;
	}
	return NULL;
}
