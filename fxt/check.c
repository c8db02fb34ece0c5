/*
 * fxt check: whether traces keep the rules.
 */
#include "reader/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "reader/index.h"
#include "reader/text.h"

static const char help[] =
        "usage: fxt check FILE...\n"
        "\n"
        "Checks whether traces keep every rule of the Fuchsia trace format, and those by\n"
        "which viewers lose nothing. Prints each violation with its offset in the file; of\n"
        "many of one kind, the first ten. A warning is no violation: the format allows what\n"
        "it tells of, and a viewer or reader leaves it out. FILE may be -, the standard input.\n";

static uint64_t violations_kept(const struct fxt_broken_rule *rule)
{
	return rule->count < FXT_VIOLATIONS_KEPT ? rule->count : FXT_VIOLATIONS_KEPT;
}

struct line {
	const struct fxt_broken_rule *rule;
	const struct fxt_violation *violation;
};

static int by_offset(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->violation->offset != b->violation->offset)
		return a->violation->offset < b->violation->offset ? -1 : 1;
	return strcmp(a->rule->rule, b->rule->rule);
}

/* The violations kept by offset, a line each, and the sum. */
static void print_verdict(const struct fxt_verdict *verdict, const char *name)
{
	struct line *lines = fxt_resize(NULL, verdict->count * FXT_VIOLATIONS_KEPT + 1, sizeof(*lines));
	size_t count = 0;

	for (size_t i = 0; i < verdict->count; i++)
		for (size_t j = 0; j < violations_kept(&verdict->rules[i]); j++)
			lines[count++] = (struct line){&verdict->rules[i], &verdict->rules[i].first[j]};
	qsort(lines, count, sizeof(*lines), by_offset);
	for (size_t i = 0; i < count; i++) {
		const struct fxt_violation *violation = lines[i].violation;

		printf("%s: offset 0x%" PRIx64 ": %s%s", name, violation->offset,
		        lines[i].rule->warning ? "warning: " : "", lines[i].rule->rule);
		if (violation->detail[0])
			printf(" (%s)", violation->detail);
		putchar('\n');
	}
	free(lines);
	for (size_t i = 0; i < verdict->count; i++) {
		const struct fxt_broken_rule *rule = &verdict->rules[i];

		if (rule->count > violations_kept(rule))
			printf("%s: %" PRIu64 " more: %s\n", name, rule->count - violations_kept(rule),
			        rule->rule);
	}
	if (verdict->violations == 0)
		printf("%s: ok, ", name);
	else
		printf("%s: not ok, %" PRIu64 " violation%s in ", name, verdict->violations,
		        fxt_plural(verdict->violations));
	printf("%" PRIu64 " record%s", verdict->records, fxt_plural(verdict->records));
	if (verdict->warnings > 0)
		printf(", %" PRIu64 " warning%s", verdict->warnings, fxt_plural(verdict->warnings));
	putchar('\n');
}

static int check_file(const char *name, const struct fxt_archive *archive)
{
	struct fxt_verdict verdict;

	fxt_check_archive(archive, &verdict);
	print_verdict(&verdict, name);
	int status = verdict.violations == 0 ? FXT_DONE : FXT_BROKEN;

	fxt_verdict_free(&verdict);
	return status;
}

int fxt_command_check(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};

	fxt_options_begin();
	while (fxt_option(argc, argv, options, help) != -1)
		;
	return fxt_each_archive(argc, argv, check_file);
}
