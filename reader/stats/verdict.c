#include "verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/index.h"

static struct fxt_broken_rule *verdict_find_rule(struct fxt_verdict *verdict, const char *rule)
{
	for (size_t i = 0; i < verdict->count; i++)
		if (strcmp(verdict->rules[i].rule, rule) == 0)
			return &verdict->rules[i];
	fxt_make_room(verdict->rules, verdict->count, verdict->room);
	verdict->rules[verdict->count] = (struct fxt_broken_rule){.rule = rule};
	return &verdict->rules[verdict->count++];
}

static void verdict_note_rule(
        struct fxt_broken_rule *broken, uint64_t offset, bool warning, const char *format, va_list values)
{
	if (broken->count < FXT_VIOLATIONS_KEPT) {
		struct fxt_violation *violation = &broken->first[broken->count];

		violation->offset = offset;
		vsnprintf(violation->detail, sizeof(violation->detail), format, values);
	}
	broken->count++;
	broken->warning = warning;
}

void fxt_violation(struct fxt_verdict *verdict, uint64_t offset, const char *rule, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	verdict_note_rule(verdict_find_rule(verdict, rule), offset, false, format, values);
	va_end(values);
	verdict->violations++;
}

void fxt_warning(struct fxt_verdict *verdict, uint64_t offset, const char *rule, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	verdict_note_rule(verdict_find_rule(verdict, rule), offset, true, format, values);
	va_end(values);
	verdict->warnings++;
}

void fxt_verdict_free(struct fxt_verdict *verdict)
{
	free(verdict->rules);
	*verdict = (struct fxt_verdict){0};
}
