/*
 * Compiles and matches patterns for names: globs, regular expressions, and the short forms
 * of C++ names. Runs on the command's main thread. An expression from the command line must
 * never make regcomp() take more than 10 MB, so its cost is estimated first.
 */
#include "pattern.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/cxx_names.h"
#include "reader/trace/index.h"

struct fxt_pattern {
	char *text;
	bool is_regex;
	regex_t regex;
};

static char *pattern_copy_text(const char *text, size_t bytes)
{
	char *copy = fxt_allocate(bytes + 1);

	memcpy(copy, text, bytes);
	return copy;
}

/* ---- how large a regular expression is ---- */

/*
 * regcomp() copies a part for each of its repetitions, and its tables grow with the square
 * of the number of optional parts: 30 plus signs take gigabytes. The cost of a part is its
 * characters, as often as they are repeated, plus OPTION_COST for each optional part. The
 * cost that is allowed takes 10 MB at most.
 */
enum { COST_MOST = 16384, OPTION_COST = 16, NESTED_MOST = 256 };

struct pattern_group {
	uint64_t before; /* the last part */
	uint64_t last;
};

/* Returns the end of the bracket expression that begins here, or the end of the text. */
static const char *pattern_skip_bracket(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	if (*at == ']')
		at++;
	for (; *at && *at != ']'; at++)
		if (*at == '[' && at[1] && strchr(":.=", at[1])) {
			const char end[] = {at[1], ']', '\0'};
			const char *found = strstr(at + 2, end);

			at = found ? found + 1 : at;
		}
	return *at ? at + 1 : at;
}

/* Adds the cost of the {n}, {n,} or {n,m} that begins here. An invalid one counts as a
 * character. */
static const char *pattern_take_interval(const char *at, struct pattern_group *group)
{
	char *end;
	uint64_t least = strtoul(at + 1, &end, 10), most = least;

	if (*end == ',') {
		most = end[1] == '}' ? least + 1 : strtoul(end + 1, &end, 10);
		end += *end == ',';
	}
	if (*end != '}' || least > RE_DUP_MAX ||
	        most > RE_DUP_MAX) { /* regcomp() refuses it, or takes it literally */
		group->before += group->last;
		group->last = 1;
		return at + 1;
	}
	group->last = group->last * most + (most > least ? (most - least) * OPTION_COST : 0);
	return end + 1;
}

/* Steps over the character, or the unit of several, that begins here and is no
 * parenthesis. */
static const char *pattern_take_part(const char *at, struct pattern_group *group)
{
	switch (*at) {
	case '*':
	case '?':
		group->last += OPTION_COST;
		return at + 1;
	case '+':
		group->last += group->last + OPTION_COST;
		return at + 1;
	case '{':
		return pattern_take_interval(at, group);
	}
	group->before += group->last;
	group->last = *at == '|' ? OPTION_COST : 1;
	if (*at == '[')
		return pattern_skip_bracket(at);
	return at + (*at == '\\' && at[1] ? 2 : 1);
}

static bool pattern_is_affordable(const char *at)
{
	struct pattern_group groups[NESTED_MOST] = {{0}}, *group = groups;

	while (*at) {
		if (*at == '(' && ++group == groups + NESTED_MOST)
			return false;
		if (*at == '(') {
			*group = (struct pattern_group){0};
			at++;
		} else if (*at == ')' && group > groups) {
			group--;
			group->before += group->last;
			group->last = group[1].before + group[1].last;
			at++;
		} else {
			at = pattern_take_part(at, group);
		}
		if (group->before + group->last > COST_MOST)
			return false;
	}
	return true;
}

const char *fxt_patterns_add(struct fxt_patterns *patterns, const char *text)
{
	static char reason[256];
	struct fxt_pattern pattern = {0};
	size_t bytes = strlen(text);

	if (bytes == 0)
		return "is empty";
	pattern.is_regex = bytes > 2 && text[0] == '/' && text[bytes - 1] == '/';
	pattern.text = pattern_copy_text(text, bytes);
	if (pattern.is_regex) {
		char *expression = pattern_copy_text(text + 1, bytes - 2);
		bool is_affordable = pattern_is_affordable(expression);
		int failed = is_affordable ? regcomp(&pattern.regex, expression, REG_EXTENDED | REG_NOSUB)
		                           : REG_ESPACE;

		free(expression);
		if (failed) {
			regerror(failed, &pattern.regex, reason, sizeof(reason));
			free(pattern.text);
			return is_affordable ? reason : "is too long with its repetitions expanded";
		}
	}
	fxt_make_room(patterns->items, patterns->count, patterns->room);
	patterns->items[patterns->count++] = pattern;
	return NULL;
}

/* ---- the short forms of a C++ name ---- */

/* Cuts off the parameters: the last pair of parentheses, if only qualifiers follow it.
 * Returns whether there were any. */
static bool pattern_cut_parameters(char *name)
{
	static const char *const qualifiers[] = {
	        "", " const", " volatile", "&", " &", " const&", " &&", " const &", " noexcept"};
	char *last = strrchr(name, ')'), *at = last;
	bool is_end = false;
	int depth = 0;

	for (size_t i = 0; last && i < sizeof(qualifiers) / sizeof(*qualifiers); i++)
		is_end |= strcmp(last + 1, qualifiers[i]) == 0;
	if (!is_end && !(last && strncmp(last + 1, " [clone ", 8) == 0))
		return false;
	for (;; at--) {
		depth += (*at == ')') - (*at == '(');
		if (depth == 0 || at == name)
			break;
	}
	if (depth != 0 || at == name)
		return false;
	*at = '\0';
	return true;
}

/* Returns the end of an operator's name that begins here, if it may contain brackets,
 * spaces or the colons of a type, which have no structural meaning there. Otherwise returns
 * `at`. */
static char *pattern_skip_operator(char *at, int depth)
{
	static const char *const signs[] = {"()", "[]", "->", "<=>", "<<", ">>", "<", ">"};

	if (strncmp(at, "operator", 8) != 0 || isalnum((unsigned char)at[8]) || at[8] == '_')
		return at;
	at += 8;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (strncmp(at, signs[i], strlen(signs[i])) == 0)
			return at + strlen(signs[i]);
	return at + (*at == ' ' && depth == 0 ? strcspn(at, "(") : 0);
}

/* Finds the part behind the last two colons outside of brackets, or behind the return type.
 * Only names with parameters have a return type: "clerk 1" and "unlock: wakes a waiter" are
 * no C++ names. */
static char *pattern_find_member(char *name, bool has_parameters)
{
	char *member = name, *behind;
	bool is_operator = false;
	int depth = 0;

	for (char *at = name; *at; at++) {
		if (at == name || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) {
			behind = pattern_skip_operator(at, depth);
			is_operator |= behind > at && depth == 0;
			at = behind;
			if (!*at)
				break;
		}
		depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
		if (depth != 0)
			continue;
		if (at[0] == ':' && at[1] == ':') {
			member = at + 2;
			is_operator = false;
			at++;
		} else if (has_parameters && !is_operator && strchr(" *&", *at)) {
			member = at + 1;
		}
	}
	return member;
}

char *fxt_short_name(char *name)
{
	bool has_parameters = pattern_cut_parameters(name);

	return pattern_find_member(name, has_parameters);
}

/* ---- matching ---- */

static bool pattern_matches_text(const struct fxt_pattern *pattern, const char *text)
{
	/* A name with a glob's special characters in it still matches itself. */
	return strcmp(pattern->text, text) == 0 || fnmatch(pattern->text, text, 0) == 0;
}

static bool pattern_matches(const struct fxt_pattern *pattern, char *name)
{
	char *member, *bracket, *scoped = name;
	bool has_parameters;

	if (pattern->is_regex)
		return regexec(&pattern->regex, name, 0, NULL, 0) == 0;
	if (pattern_matches_text(pattern, name))
		return true;
	has_parameters = pattern_cut_parameters(name);
	if (pattern_matches_text(pattern, name))
		return true;
	member = pattern_find_member(name, has_parameters);
	if (has_parameters)
		scoped += fxt_cxx_scope(fxt_span(name));
	if (pattern_matches_text(pattern, member) || (scoped > name && pattern_matches_text(pattern, scoped)))
		return true;
	bracket = pattern_skip_operator(member, 0) == member ? strchr(member, '<') : NULL;
	if (!bracket)
		return false;
	*bracket = '\0';
	return pattern_matches_text(pattern, member) ||
	       (scoped < member && pattern_matches_text(pattern, scoped));
}

bool fxt_patterns_match(const struct fxt_patterns *patterns, struct fxt_span name)
{
	for (size_t i = 0; i < patterns->count; i++) {
		char *copy = pattern_copy_text(name.data, name.bytes);
		bool is_match = pattern_matches(&patterns->items[i], copy);

		free(copy);
		if (is_match)
			return true;
	}
	return false;
}

bool fxt_patterns_match_object(const struct fxt_patterns *patterns, struct fxt_span name, uint64_t koid)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, koid);
	for (size_t i = 0; i < patterns->count; i++)
		if (strcmp(patterns->items[i].text, number) == 0)
			return true;
	return name.bytes > 0 && fxt_patterns_match(patterns, name);
}

const char *fxt_patterns_text(const struct fxt_patterns *patterns)
{
	return patterns->items[0].text;
}

void fxt_patterns_free(struct fxt_patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++) {
		free(patterns->items[i].text);
		if (patterns->items[i].is_regex)
			regfree(&patterns->items[i].regex);
	}
	free(patterns->items);
	*patterns = (struct fxt_patterns){0};
}
