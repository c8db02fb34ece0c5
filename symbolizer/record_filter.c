/*
 * Reads the rules of a filter and matches functions against them. Matching may run on
 * any thread at the same time; it must never change a filter, except for the atomic note
 * that a rule has matched.
 */
#include "record_filter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/slices/pattern.h"
#include "writer/shared/atomics.h"
#include "writer/shared/control.h"

static const unsigned record_filter_under[FXT_RECORD_FILTER_KINDS] = {
        [FXT_RECORD_FILTER_ONLY_UNDER] = FXT_UNDER_ONLY, [FXT_RECORD_FILTER_NOT_UNDER] = FXT_UNDER_NOT};

enum record_filter_subject { SUBJECT_NAME, SUBJECT_FILE, SUBJECT_MODULE };

struct fxt_record_filter_rule {
	enum fxt_record_filter_kind kind;
	enum record_filter_subject subject;
	const char *text;            /* as given */
	size_t pattern_bytes;        /* length of the pattern in it */
	struct fxt_patterns pattern; /* a single one */
	uint64_t limit;
	uint32_t has_matched; /* set by any thread */
};

/* ---- reading ---- */

static bool record_filter_begins(const char *text, const char *prefix)
{
	size_t bytes = strlen(prefix);

	/* "file::open" is a C++ name. */
	return strncmp(text, prefix, bytes) == 0 && text[bytes] != ':';
}

static const char *record_filter_read(struct fxt_record_filter_rule *rule, const char *pattern)
{
	if (record_filter_begins(pattern, "file:"))
		rule->subject = SUBJECT_FILE;
	else if (record_filter_begins(pattern, "module:"))
		rule->subject = SUBJECT_MODULE;
	if (rule->subject != SUBJECT_NAME)
		pattern = strchr(pattern, ':') + 1;
	return fxt_patterns_add(&rule->pattern, pattern);
}

const char *fxt_record_filter_add(
        struct fxt_record_filter *filter, enum fxt_record_filter_kind kind, const char *pattern)
{
	return fxt_record_filter_add_limit(filter, kind, pattern, strlen(pattern), 0);
}

const char *fxt_record_filter_add_limit(struct fxt_record_filter *filter, enum fxt_record_filter_kind kind,
        const char *text, size_t bytes, uint64_t limit)
{
	struct fxt_record_filter_rule *rules = reallocarray(filter->rules, filter->count + 1, sizeof(*rules));
	struct fxt_record_filter_rule rule = {
	        .kind = kind, .text = strdup(text), .pattern_bytes = bytes, .limit = limit};
	char *pattern = strndup(text, bytes);
	const char *wrong;

	if (rules)
		filter->rules = rules;
	wrong = !rules || !rule.text || !pattern  ? "finds no memory"
	        : kind == FXT_RECORD_FILTER_MUTED ? NULL
	                                          : record_filter_read(&rule, pattern);
	free(pattern);
	if (wrong) {
		free((char *)rule.text);
		return wrong;
	}
	rules[filter->count++] = rule;
	filter->has_include |= kind == FXT_RECORD_FILTER_INCLUDE;
	filter->under |= record_filter_under[kind];
	filter->needs_source |= rule.subject == SUBJECT_FILE;
	filter->has_limits |= kind == FXT_RECORD_FILTER_MIN_DURATION || kind == FXT_RECORD_FILTER_MAX_CALLS;
	filter->triggers |= kind == FXT_RECORD_FILTER_TRIGGER         ? FXT_TRIGGERS_END
	                    : kind == FXT_RECORD_FILTER_BEGIN_TRIGGER ? FXT_TRIGGERS_BEGIN
	                                                              : 0;
	return NULL;
}

const char *fxt_record_filter_add_muted(struct fxt_record_filter *filter, const char *name)
{
	return fxt_record_filter_add_limit(filter, FXT_RECORD_FILTER_MUTED, name, strlen(name), 0);
}

bool fxt_record_filter_chooses(const struct fxt_record_filter *filter)
{
	for (size_t i = 0; i < filter->count; i++)
		if (filter->rules[i].kind != FXT_RECORD_FILTER_MUTED)
			return true;
	return false;
}

const char *fxt_record_filter_add_all(
        struct fxt_record_filter *filter, const struct fxt_record_filter *from, unsigned without)
{
	const char *wrong = NULL;

	for (size_t i = 0; !wrong && i < from->count; i++) {
		const struct fxt_record_filter_rule *rule = &from->rules[i];

		if (!(without >> rule->kind & 1))
			wrong = fxt_record_filter_add_limit(
			        filter, rule->kind, rule->text, rule->pattern_bytes, rule->limit);
	}
	return wrong;
}

size_t fxt_record_filter_describe(const struct fxt_record_filter *filter, char *text, size_t bytes)
{
	size_t length = 0;

	*text = 0;
	for (size_t i = 0; i < filter->count; i++) {
		const struct fxt_record_filter_rule *rule = &filter->rules[i];
		size_t room = length < bytes ? bytes - length : 0;

		if (rule->kind < FXT_RECORD_FILTER_PATTERNS)
			length += (size_t)snprintf(room ? text + length : NULL, room, " --%s=%s",
			        fxt_record_filter_words[rule->kind], rule->text);
	}
	return length;
}

void fxt_record_filter_free(struct fxt_record_filter *filter)
{
	for (size_t i = 0; i < filter->count; i++) {
		free((char *)filter->rules[i].text);
		fxt_patterns_free(&filter->rules[i].pattern);
	}
	free(filter->rules);
	*filter = (struct fxt_record_filter){0};
}

/* ---- matching ---- */

static bool record_filter_matches_path(const struct fxt_patterns *pattern, const char *path)
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

static bool record_filter_matches(struct fxt_record_filter_rule *rule, const struct fxt_location *function)
{
	const struct fxt_patterns *pattern = &rule->pattern;
	bool matches =
	        rule->subject == SUBJECT_NAME
	                ? fxt_patterns_match(pattern, (struct fxt_span){function->name, function->name_bytes})
	        : rule->subject == SUBJECT_FILE ? record_filter_matches_path(pattern, function->file)
	                                        : record_filter_matches_path(pattern, function->module);

	if (matches)
		store_relaxed(&rule->has_matched, 1);
	return matches;
}

static bool record_filter_is_muted(
        const struct fxt_record_filter_rule *rule, const struct fxt_location *function)
{
	return rule->pattern_bytes == function->name_bytes &&
	       memcmp(rule->text, function->name, function->name_bytes) == 0;
}

bool fxt_record_filter_excludes(const struct fxt_record_filter *filter, const struct fxt_location *function)
{
	bool is_included = !filter->has_include, is_excluded = false;

	for (size_t i = 0; i < filter->count; i++) {
		struct fxt_record_filter_rule *rule = &filter->rules[i];

		if (rule->kind == FXT_RECORD_FILTER_INCLUDE)
			is_included |= record_filter_matches(rule, function);
		if (rule->kind == FXT_RECORD_FILTER_EXCLUDE)
			is_excluded |= record_filter_matches(rule, function);
		if (rule->kind == FXT_RECORD_FILTER_MUTED)
			is_excluded |= record_filter_is_muted(rule, function);
	}
	return is_excluded || !is_included;
}

unsigned fxt_record_filter_under(const struct fxt_record_filter *filter, const struct fxt_location *function)
{
	unsigned under = 0;

	for (size_t i = 0; i < filter->count; i++) {
		struct fxt_record_filter_rule *rule = &filter->rules[i];

		if (record_filter_under[rule->kind] && record_filter_matches(rule, function))
			under |= record_filter_under[rule->kind];
	}
	return under;
}

uint64_t fxt_record_filter_limit(const struct fxt_record_filter *filter, enum fxt_record_filter_kind kind,
        const struct fxt_location *function, uint64_t general)
{
	uint64_t limit = general;

	for (size_t i = 0; i < filter->count; i++) {
		struct fxt_record_filter_rule *rule = &filter->rules[i];

		if (rule->kind == kind && record_filter_matches(rule, function))
			limit = rule->limit;
	}
	return limit;
}

const char *fxt_record_filter_unmatched(
        const struct fxt_record_filter *filter, size_t *index, enum fxt_record_filter_kind *kind)
{
	for (; *index < filter->count; ++*index) {
		const struct fxt_record_filter_rule *rule = &filter->rules[*index];

		*kind = rule->kind;
		if (rule->kind != FXT_RECORD_FILTER_MUTED && !load_relaxed(&rule->has_matched))
			return rule->text;
	}
	return NULL;
}
