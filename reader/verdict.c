#include "verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "index.h"
#include "text.h"

static struct fxt_broken_rule *find_rule(struct fxt_verdict *verdict, const char *rule)
{
	for (size_t i = 0; i < verdict->count; i++)
		if (strcmp(verdict->rules[i].rule, rule) == 0)
			return &verdict->rules[i];
	fxt_make_room(verdict->rules, verdict->count, verdict->room);
	verdict->rules[verdict->count] = (struct fxt_broken_rule){.rule = rule};
	return &verdict->rules[verdict->count++];
}

void fxt_violation(struct fxt_verdict *verdict, uint64_t offset, const char *rule, const char *format, ...)
{
	struct fxt_broken_rule *broken = find_rule(verdict, rule);
	va_list values;

	if (broken->count < FXT_VIOLATIONS_KEPT) {
		struct fxt_violation *violation = &broken->first[broken->count];

		violation->offset = offset;
		va_start(values, format);
		vsnprintf(violation->detail, sizeof(violation->detail), format, values);
		va_end(values);
	}
	broken->count++;
	verdict->violations++;
}

static uint64_t kept(const struct fxt_broken_rule *rule)
{
	return rule->count < FXT_VIOLATIONS_KEPT ? rule->count : FXT_VIOLATIONS_KEPT;
}

struct line {
	const char *rule;
	const struct fxt_violation *violation;
};

static int by_offset(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->violation->offset != b->violation->offset)
		return a->violation->offset < b->violation->offset ? -1 : 1;
	return strcmp(a->rule, b->rule);
}

void fxt_verdict_print(const struct fxt_verdict *verdict, const char *name)
{
	struct line *lines = fxt_resize(NULL, verdict->count * FXT_VIOLATIONS_KEPT + 1, sizeof(*lines));
	size_t count = 0;

	for (size_t i = 0; i < verdict->count; i++)
		for (size_t j = 0; j < kept(&verdict->rules[i]); j++)
			lines[count++] = (struct line){verdict->rules[i].rule, &verdict->rules[i].first[j]};
	qsort(lines, count, sizeof(*lines), by_offset);
	for (size_t i = 0; i < count; i++) {
		const struct fxt_violation *violation = lines[i].violation;

		printf("%s: offset 0x%" PRIx64 ": %s", name, violation->offset, lines[i].rule);
		if (violation->detail[0])
			printf(" (%s)", violation->detail);
		putchar('\n');
	}
	free(lines);
	for (size_t i = 0; i < verdict->count; i++) {
		const struct fxt_broken_rule *rule = &verdict->rules[i];

		if (rule->count > kept(rule))
			printf("%s: %" PRIu64 " more: %s\n", name, rule->count - kept(rule), rule->rule);
	}
	if (verdict->violations == 0)
		printf("%s: ok, %" PRIu64 " record%s\n", name, verdict->records,
		        fxt_plural(verdict->records));
	else
		printf("%s: not ok, %" PRIu64 " violation%s in %" PRIu64 " record%s\n", name,
		        verdict->violations, fxt_plural(verdict->violations), verdict->records,
		        fxt_plural(verdict->records));
}

void fxt_verdict_free(struct fxt_verdict *verdict)
{
	free(verdict->rules);
	*verdict = (struct fxt_verdict){0};
}
