#include "pattern.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include "index.h"

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
		int failed = regcomp(&pattern.regex, expression, REG_EXTENDED | REG_NOSUB);

		free(expression);
		if (failed) {
			regerror(failed, &pattern.regex, reason, sizeof(reason));
			free(pattern.text);
			return reason;
		}
	}
	fxt_make_room(patterns->items, patterns->count, patterns->room);
	patterns->items[patterns->count++] = pattern;
	return NULL;
}

/* ---- the short forms of a C++ name ---- */

/* Cuts off the parameters: what is in the last pair of parentheses, if no more than qualifiers follow it. */
static void pattern_cut_parameters(char *name)
{
	static const char *const qualifiers[] = {
	        "", " const", " volatile", "&", " &", " const&", " &&", " const &", " noexcept"};
	char *last = strrchr(name, ')'), *at = last;
	bool is_end = false;
	int depth = 0;

	for (size_t i = 0; last && i < sizeof(qualifiers) / sizeof(*qualifiers); i++)
		is_end |= strcmp(last + 1, qualifiers[i]) == 0;
	if (!is_end && !(last && strncmp(last + 1, " [clone ", 8) == 0))
		return;
	for (;; at--) {
		depth += (*at == ')') - (*at == '(');
		if (depth == 0 || at == name)
			break;
	}
	if (depth == 0 && at > name)
		*at = '\0';
}

/* What stands behind the last space or colon that is in no brackets; operators are left as they are. */
static char *pattern_find_member(char *name)
{
	char *member = name, *operator= strstr(name, "operator");
	int depth = 0;

	for (char *at = name; *at && at != operator; at++) {
		depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
		if (depth == 0 && (*at == ' ' || *at == ':' || *at == '*' || *at == '&'))
			member = at + 1;
	}
	return member;
}

char *fxt_short_name(char *name)
{
	pattern_cut_parameters(name);
	return pattern_find_member(name);
}

/* ---- matching ---- */

static bool pattern_matches_text(const struct fxt_pattern *pattern, const char *text)
{
	/* A name that has what a glob takes for its own is still matched by itself. */
	return strcmp(pattern->text, text) == 0 || fnmatch(pattern->text, text, 0) == 0;
}

static bool pattern_matches(const struct fxt_pattern *pattern, char *name)
{
	char *member, *bracket;

	if (pattern->is_regex)
		return regexec(&pattern->regex, name, 0, NULL, 0) == 0;
	if (pattern_matches_text(pattern, name))
		return true;
	pattern_cut_parameters(name);
	if (pattern_matches_text(pattern, name))
		return true;
	member = pattern_find_member(name);
	if (pattern_matches_text(pattern, member))
		return true;
	bracket = strncmp(member, "operator", 8) != 0 ? strchr(member, '<') : NULL;
	if (!bracket)
		return false;
	*bracket = '\0';
	return pattern_matches_text(pattern, member);
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
