/*
 * fxt check: verifies that traces keep the rules of the format, or, with --fail-if, limits.
 * Runs on the main thread. It must never report a verdict that lost records could change.
 */
#include "reader/trace/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "assertions.h"
#include "junit.h"
#include "output.h"
#include "reader/trace/index.h"
#include "reader/trace/text.h"

static const char help[] =
        "usage: fxt check [FILE]...\n"
        "       fxt check --rules\n"
        "       fxt check --fail-if=RULE [OPTION]... [FILE]...\n"
        "\n"
        "Checks whether traces keep every rule of the Fuchsia trace format, and further\n"
        "rules that keep viewers from losing anything. Prints each violation with its\n"
        "offset in the file, at most ten of each kind. A warning is not a violation: the\n"
        "format allows it, but a viewer or reader leaves something out. In traces of\n"
        "fxtrun some of these are violations, because fxtrun promises not to write them.\n"
        "\n"
        "      --rules          the rules, with the section of the format that each is\n"
        "                       from\n"
        "      --fail-if=RULE   compares with a limit instead:\n"
        "                       'handle_request.p99 > 5ms', 'calls(malloc) >= 1000';\n"
        "                       'span(request).p99 > 5ms' is about what the program\n"
        "                       says, durations or async spans; a metric is\n"
        "                       " FXT_HELP_METRICS ".\n"
        "                       May be given more than once.\n"
        "                       'total(parse) > +5%' compares with an earlier trace:\n"
        "      --against=OLD    the earlier trace; the median of several\n"
        "      --junit=OUT      also writes the verdicts as JUnit's XML, for CI services\n"
        "\n"
        "The exit status is 4 if a rule failed, and 3 if the verdict is not known because\n"
        "records were lost or the trace has no such function.\n" FXT_HELP_CHOICE FXT_HELP_MARKDOWN
                FXT_HELP_FORMAT FXT_HELP_FILE;

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

/* Prints the violations in the order of their offsets, a line each, and their number. */
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
	if (verdict->elided_sums.calls > 0)
		printf("; %s", fxt_elided_sums_text(&verdict->elided_sums, verdict->elided_sums.own).text);
	putchar('\n');
}

static int check_print_rules(void)
{
	static const char *const levels[] = {[FXT_MUST] = "violation",
	        [FXT_MUST_IF_WHOLE] = "violation; warning if records were lost",
	        [FXT_OURS] = "warning; violation in a trace of fxtrun",
	        [FXT_OURS_IF_WHOLE] = "warning; violation in a whole trace of fxtrun",
	        [FXT_HINT] = "warning"};
	static const struct fxt_column columns[] = {{"level", "it is a", FXT_COLUMN_TEXT, 0},
	        {"section", "section", FXT_COLUMN_TEXT, 0}, {"rule", "rule", FXT_COLUMN_TEXT, 0}};
	const struct fxt_rule *rule;

	fxt_table_begin("rules", NULL, columns, 3);
	for (size_t i = 0; (rule = fxt_rule(i)); i++)
		fxt_table_row((struct fxt_cell[]){fxt_cell_text(fxt_span(levels[rule->level])),
		        fxt_cell_text(fxt_span(rule->section)), fxt_cell_text(fxt_span(rule->words))});
	fxt_table_end();
	return FXT_DONE;
}

static int check_file(void *state, const char *name, const struct fxt_archive *archive)
{
	struct fxt_verdict verdict;

	(void)state;
	fxt_check_archive(archive, &verdict);
	print_verdict(&verdict, name);
	int status = verdict.violations == 0 ? FXT_DONE : FXT_BROKEN;

	fxt_verdict_free(&verdict);
	return status;
}

/* Reads the earlier traces, if a rule refers to them. */
static int check_against(struct fxt_assertions *a, char *command, char **against, size_t count)
{
	const char *relative = fxt_assertions_relative(a);

	if (relative && count == 0)
		return fxt_bad_usage(command, "'%s' needs --against, an earlier trace", relative);
	if (!relative && count > 0)
		return fxt_bad_usage(
		        command, "--against needs a rule with a share, as --fail-if='f.total > +5%%'");
	return relative ? fxt_assertions_learn(a, command, against, count) : FXT_DONE;
}

/* Compares traces with limits. `junit` is the output for a CI service, or NULL. */
static int check_limits(
        int argc, char **argv, struct fxt_options *wanted, struct fxt_assertions *a, const char *junit)
{
	struct fxt_output output;

	if (!junit)
		return fxt_each_scan(argc, argv, wanted, fxt_assertions_answer, a);
	if (fxt_output_open(&output, junit, NULL) != 0)
		return FXT_FAILED;
	a->junit = fxt_junit_begin();
	int status = fxt_each_scan(argc, argv, wanted, fxt_assertions_answer, a);

	fxt_junit_end(a->junit, output.file);
	a->junit = NULL;
	return fxt_output_close(&output) == 0 ? status : FXT_FAILED;
}

int fxt_command_check(int argc, char **argv)
{
	enum { FAIL_IF = FXT_OPTION_OWN, AGAINST, JUNIT, RULES };
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS_CHOICE,
	        FXT_OPTIONS_FORMAT, FXT_OPTIONS_MARKDOWN, {"junit", required_argument, NULL, JUNIT},
	        {"fail-if", required_argument, NULL, FAIL_IF}, {"against", required_argument, NULL, AGAINST},
	        {"rules", no_argument, NULL, RULES}, {0}};
	struct fxt_options wanted = {0};
	struct fxt_assertions assertions = {.options = &wanted};
	int option, status = FXT_DONE, learned = FXT_DONE;
	bool is_asked = false, is_listing = false;
	const char *junit = NULL;
	char **against = fxt_allocate((size_t)argc * sizeof(*against));
	size_t against_count = 0;

	fxt_options_begin();
	while (status == FXT_DONE && (option = fxt_option(argc, argv, options, help)) != -1) {
		const char *problem = NULL;

		if (option == RULES)
			is_listing = true;
		else if (option == FAIL_IF)
			problem = fxt_assertions_add(&assertions, optarg);
		else if (option == AGAINST)
			against[against_count++] = optarg;
		else if (option == JUNIT)
			junit = optarg;
		else
			is_asked |= fxt_options_take(&wanted, argv[0], option);
		if (problem)
			status = fxt_bad_usage(argv[0], "'%s' %s", optarg, problem);
	}
	if (status == FXT_DONE && is_listing) {
		free(against);
		return check_print_rules();
	}
	if (status == FXT_DONE)
		learned = check_against(&assertions, argv[0], against, against_count);
	if (status == FXT_DONE && learned != FXT_FAILED && assertions.count > 0)
		status = check_limits(argc, argv, &wanted, &assertions, junit);
	else if (learned == FXT_FAILED)
		status = FXT_FAILED;
	else if (status == FXT_DONE && (is_asked || junit))
		status = fxt_bad_usage(argv[0],
		        "--json, --csv, --markdown, --junit and the choice of a part need --fail-if");
	else if (status == FXT_DONE)
		status = fxt_each_archive(argc, argv, check_file, NULL);
	fxt_assertions_free(&assertions);
	fxt_query_filter_free(&wanted.choice);
	free(against);
	return learned > status ? learned : status;
}
