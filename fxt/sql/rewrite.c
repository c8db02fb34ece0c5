/*
 * Rewrites statements word by word. Only words that are known to mean the same in both
 * tables pass: everything else leaves the statement as it is.
 */
#include "rewrite.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "reader/trace/index.h"

enum { TOKENS = 512 };

struct token {
	const char *text;
	size_t length;
	bool is_word;
};

/* Columns that both tables have. */
static const char *const columns[] = {"function", "function_id", "module", "tid", "thread", "pid", "process"};

/* Columns that only one of them has, or that mean something else there. */
static const char *const others[] = {"id", "start", "end", "duration", "self", "calls", "depth", "category",
        "caller", "caller_function", "is_open", "is_abandoned", "arguments", "shortest", "longest", "rowid"};

static const char *const keywords[] = {"select", "from", "where", "group", "by", "order", "having", "limit",
        "offset", "as", "and", "or", "not", "in", "like", "glob", "between", "is", "null", "asc", "desc",
        "case", "when", "then", "else", "end", "integer", "real", "text"};

/* Functions of one row. min() and max() are not among them: they may be aggregates. */
static const char *const functions[] = {"round", "cast", "lower", "upper", "substr", "printf", "format",
        "length", "coalesce", "ifnull", "nullif", "abs", "instr", "replace", "iif", "in", "and", "or", "not",
        "when", "then", "else", "by", "where", "having", "select", "like", "as"};

static const struct {
	const char *name, *of, *becomes;
} aggregates[] = {
        {"count", "*", "ifnull(sum(calls), 0)"},
        {"sum", "duration", "sum(duration)"},
        {"sum", "self", "sum(self)"},
        {"avg", "duration", "(total(duration) / sum(calls))"},
        {"avg", "self", "(total(self) / sum(calls))"},
        {"min", "duration", "min(shortest)"},
        {"max", "duration", "max(longest)"},
};

#define COUNT(items) (sizeof(items) / sizeof(*(items)))

static bool token_is(const struct token *token, const char *word)
{
	return strlen(word) == token->length && strncasecmp(token->text, word, token->length) == 0;
}

static bool token_is_among(const struct token *token, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (token_is(token, words[i]))
			return true;
	return false;
}

static size_t token_length(const char *text, const char *end)
{
	const char *at = text + 1;

	if (isalpha((unsigned char)*text) || *text == '_') {
		while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
			at++;
	} else if (isdigit((unsigned char)*text)) {
		while (at < end && (isalnum((unsigned char)*at) || *at == '.'))
			at++;
	} else if (*text == '\'') {
		at = memchr(at, '\'', (size_t)(end - at));
		return at ? (size_t)(at + 1 - text) : 0;
	} else if (!strchr("(),*+-/%<>=!|", *text)) {
		return 0; /* quoted names, comments' beginnings, parameters, table.column */
	}
	return (size_t)(at - text);
}

/* Splits a statement; a last semicolon is left out. Returns the number of tokens; 0: it has
 * others than these, or too many. */
static size_t tokens_read(struct token *tokens, const char *text, const char *end)
{
	size_t count = 0;

	for (;;) {
		while (text < end && isspace((unsigned char)*text))
			text++;
		if (text == end || (*text == ';' && text + 1 == end))
			return count;
		size_t length = token_length(text, end);

		/* "--" and a slash with a star begin comments. */
		if (length == 0 || count == TOKENS ||
		        (text + 1 < end && (memcmp(text, "--", 2) == 0 || memcmp(text, "/*", 2) == 0)))
			return 0;
		tokens[count++] = (struct token){text, length, isalpha((unsigned char)*text) || *text == '_'};
		text += length;
	}
}

/* Whether the word is a name that the statement gives to a column of its answer. Names of
 * columns mean these columns in some places, so they are none. */
static bool tokens_is_alias(const struct token *tokens, size_t count, const struct token *word)
{
	if (token_is_among(word, columns, COUNT(columns)) || token_is_among(word, others, COUNT(others)))
		return false;
	for (size_t i = 1; i < count; i++)
		if (tokens[i].is_word && token_is(&tokens[i - 1], "as") && tokens[i].length == word->length &&
		        strncasecmp(tokens[i].text, word->text, word->length) == 0)
			return true;
	return false;
}

/* The aggregate that begins at a token, as the other table has it; NULL: none does. */
static const char *tokens_aggregate(const struct token *tokens, size_t count, size_t at)
{
	if (at + 3 >= count || !token_is(&tokens[at + 1], "(") || !token_is(&tokens[at + 3], ")"))
		return NULL;
	for (size_t i = 0; i < COUNT(aggregates); i++)
		if (token_is(&tokens[at], aggregates[i].name) && token_is(&tokens[at + 2], aggregates[i].of))
			return aggregates[i].becomes;
	return NULL;
}

static bool tokens_is_known(const struct token *tokens, size_t count, size_t at)
{
	const struct token *token = &tokens[at], *before = at > 0 ? token - 1 : token;

	/* All columns: the tables have different ones. Elsewhere it multiplies. */
	if (token_is(token, "*") && (token_is(before, "select") || token_is(before, ",")))
		return false;
	/* "end" is a keyword, but may be a name, too. */
	if (token_is(before, "as") && token_is_among(token, others, COUNT(others)))
		return false;
	if (!token->is_word)
		return true;
	if (at + 1 < count && token_is(&tokens[at + 1], "("))
		return token_is_among(token, functions, COUNT(functions));
	return token_is_among(token, columns, COUNT(columns)) ||
	       token_is_among(token, keywords, COUNT(keywords)) || tokens_is_alias(tokens, count, token);
}

/* Writes the other statement. Returns false if this one has something unknown. */
static bool tokens_write(FILE *out, const struct token *tokens, size_t count)
{
	unsigned selects = 0, tables = 0, sums = 0;

	for (size_t i = 0; i < count; i++) {
		const char *aggregate = tokens_aggregate(tokens, count, i);

		if (aggregate) {
			fprintf(out, " %s ", aggregate);
			sums++;
			i += 3;
		} else if (token_is(&tokens[i], "calls") && i > 0 && token_is(&tokens[i - 1], "from")) {
			fputs(" call_sums ", out);
			tables++;
		} else if (tokens_is_known(tokens, count, i)) {
			selects += token_is(&tokens[i], "select");
			/* A table beside calls, or a name for it, would be no known word. */
			sums += token_is(&tokens[i], "group");
			fprintf(out, "%.*s", (int)tokens[i].length, tokens[i].text);
			/* Operators of two characters stay together. */
			if (i + 1 < count && tokens[i].text + tokens[i].length < tokens[i + 1].text)
				fputc(' ', out);
		} else {
			return false;
		}
	}
	return selects == 1 && tables == 1 && sums > 0;
}

char *fxt_sql_rewrite(const char *statement, const char *end)
{
	struct token *tokens = fxt_resize(NULL, TOKENS, sizeof(*tokens));
	size_t count = tokens_read(tokens, statement, end), bytes;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		fxt_out_of_memory();
	bool is_known = count > 0 && token_is(&tokens[0], "select") && tokens_write(out, tokens, count);

	fclose(out);
	free(tokens);
	if (is_known)
		return text;
	free(text);
	return NULL;
}
