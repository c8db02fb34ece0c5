/*
 * Collects the broken rules of a trace. Runs on the thread that checks it. The level of a
 * rule decides here, and nowhere else, whether breaking it is a violation.
 */
#include "verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/index.h"

static const struct fxt_rule rules[] = {
#define RULE(name, level, section, words) {FXT_##level, section, words},
        FXT_RULES
#undef RULE
};

static struct fxt_broken_rule *verdict_find_rule(struct fxt_verdict *verdict, const char *rule)
{
	for (size_t i = 0; i < verdict->count; i++)
		if (strcmp(verdict->rules[i].rule, rule) == 0)
			return &verdict->rules[i];
	fxt_make_room(verdict->rules, verdict->count, verdict->room);
	verdict->rules[verdict->count] = (struct fxt_broken_rule){.rule = rule};
	return &verdict->rules[verdict->count++];
}

/* Counts a broken rule. Returns where to write the value; NULL if enough are kept. */
static char *verdict_note(struct fxt_verdict *verdict, uint64_t offset, const char *rule, bool is_warning)
{
	struct fxt_broken_rule *broken = verdict_find_rule(verdict, rule);
	uint64_t number = broken->count++;

	broken->warning = is_warning;
	*(is_warning ? &verdict->warnings : &verdict->violations) += 1;
	if (number >= FXT_VIOLATIONS_KEPT)
		return NULL;
	broken->first[number].offset = offset;
	return broken->first[number].detail;
}

static bool verdict_is_warning(const struct fxt_verdict *verdict, enum fxt_rule_level level)
{
	switch (level) {
	case FXT_MUST:
		return false;
	case FXT_MUST_IF_WHOLE:
		return verdict->is_lossy;
	case FXT_OURS:
		return !verdict->is_own;
	case FXT_OURS_IF_WHOLE:
		return !verdict->is_own || verdict->is_lossy;
	case FXT_HINT:
		break;
	}
	return true;
}

void fxt_break(
        struct fxt_verdict *verdict, uint64_t offset, enum fxt_rule_number rule, const char *format, ...)
{
	char *detail = verdict_note(
	        verdict, offset, rules[rule].words, verdict_is_warning(verdict, rules[rule].level));
	va_list values;

	if (!detail)
		return;
	va_start(values, format);
	vsnprintf(detail, sizeof(((struct fxt_violation *)NULL)->detail), format, values);
	va_end(values);
}

void fxt_break_framing(struct fxt_verdict *verdict, uint64_t offset, const char *reason)
{
	verdict_note(verdict, offset, reason, false);
}

const struct fxt_rule *fxt_rule(size_t number)
{
	return number < sizeof(rules) / sizeof(*rules) ? &rules[number] : NULL;
}

void fxt_verdict_free(struct fxt_verdict *verdict)
{
	free(verdict->rules);
	*verdict = (struct fxt_verdict){0};
}
