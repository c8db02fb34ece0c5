/*
 * Rules of fxt check: parses them, measures their metrics in a trace, and decides. Runs on
 * the main thread; traces are walked on several. It must not give a verdict that lost
 * records could reverse.
 */
#include "assertions.h"

#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "junit.h"
#include "reader/trace/duration.h"
#include "reader/stats/async.h"
#include "reader/stats/figures.h"
#include "reader/stats/rank.h"
#include "reader/trace/text.h"
#include "reader/slices/walk.h"

struct fxt_assertion {
	const char *text;
	struct fxt_patterns function;
	enum fxt_figure metric;
	bool is_of_spans;        /* durations that programs say, or async spans */
	bool is_above, is_equal; /* fails above the value or below it; fails at the value
	                            itself */
	uint64_t value;
	double factor;  /* the limit relative to the earlier median; 0: the rule is not
	                   relative */
	double *before; /* by earlier trace with the function: the metric's value there */
	size_t before_count, before_room;
	bool was_there;    /* some earlier trace has a call of it */
	const char *doubt; /* why the earlier value is uncertain; NULL: it is certain */
};

/* ---- rules ---- */

static bool assertions_set_metric(struct fxt_assertion *rule, const char *name, size_t bytes)
{
	/* the words of others */
	if (fxt_span_is((struct fxt_span){name, bytes}, "count"))
		return fxt_figure_named(fxt_span("calls"), FXT_TO_LIMIT, &rule->metric);
	if (fxt_span_is((struct fxt_span){name, bytes}, "mean"))
		return fxt_figure_named(fxt_span("avg"), FXT_TO_LIMIT, &rule->metric);
	return fxt_figure_named((struct fxt_span){name, bytes}, FXT_TO_LIMIT, &rule->metric);
}

/* Parses the function and the metric, `bytes` of text. The last dot separates them,
 * because a name may have dots itself, such as operator(). */
static const char *assertions_set_subject(struct fxt_assertion *rule, const char *text, size_t bytes)
{
	const char *open = memchr(text, '(', bytes), *dot = memrchr(text, '.', bytes);
	const char *name = text, *name_end = dot;
	char copy[1024];

	if (dot && assertions_set_metric(rule, dot + 1, (size_t)(text + bytes - dot - 1))) {
		name_end = dot;
	} else if (open && text[bytes - 1] == ')' &&
	           assertions_set_metric(rule, text, (size_t)(open - text))) {
		name = open + 1;
		name_end = text + bytes - 1;
	} else {
		static char problem[sizeof(struct fxt_figure_names) + 64];

		snprintf(problem, sizeof(problem), "names no metric: %s of a function",
		        fxt_figure_names(FXT_TO_LIMIT, NULL).text);
		return problem;
	}
	if (fxt_begins_with((struct fxt_span){name, (size_t)(name_end - name)}, "span(") &&
	        name_end[-1] == ')') {
		rule->is_of_spans = true;
		name += strlen("span(");
		name_end--;
	}
	if ((size_t)(name_end - name) >= sizeof(copy))
		return "has too long a name";
	memcpy(copy, name, (size_t)(name_end - name));
	copy[name_end - name] = '\0';
	return fxt_patterns_add(&rule->function, copy);
}

/* Parses +5% or -2.5%; a decrease must be less than 100%. */
static bool assertions_set_share(struct fxt_assertion *rule, const char *text)
{
	size_t digits = strspn(text + 1, "0123456789.");
	char *end;
	double share = strtod(text + 1, &end) / 100;

	rule->factor = *text == '+' ? 1 + share : 1 - share;
	return digits > 0 && end == text + 1 + digits && strcmp(end, "%") == 0 && rule->factor > 0;
}

static bool assertions_set_value(struct fxt_assertion *rule, const char *text)
{
	char *end;

	text += strspn(text, " ");
	if (*text == '+' || *text == '-')
		return assertions_set_share(rule, text);
	if (!fxt_figures[rule->metric].is_count)
		return fxt_duration_parse(text, &rule->value);
	rule->value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0';
}

const char *fxt_assertions_add(struct fxt_assertions *a, const char *text)
{
	size_t at = strlen(text), bytes;
	struct fxt_assertion rule = {.text = text};

	/* Use the last operator, because names of functions may contain operators. */
	while (at > 0 && text[at - 1] != '<' && text[at - 1] != '>')
		at--;
	if (at == 0)
		return "compares nothing: a rule is FUNCTION.METRIC > VALUE, or with >=, < or <=";
	bytes = at - 1;
	rule.is_above = text[at - 1] == '>';
	rule.is_equal = text[at] == '=';
	while (bytes > 0 && text[bytes - 1] == ' ')
		bytes--;
	const char *problem = bytes ? assertions_set_subject(&rule, text, bytes) : "names no function";

	if (!problem && !assertions_set_value(&rule, text + at + rule.is_equal)) {
		fxt_patterns_free(&rule.function);
		problem = fxt_figures[rule.metric].is_count
		                  ? "needs a number of calls after its operator, or a share such as +5%"
		                  : "needs a duration with a unit after its operator, such as 5ms, or a "
		                    "share such as +5%";
	}
	if (problem)
		return problem;
	fxt_make_room(a->rules, a->count, a->room);
	a->rules[a->count++] = rule;
	return NULL;
}

const char *fxt_assertions_relative(const struct fxt_assertions *a)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->rules[i].factor > 0)
			return a->rules[i].text;
	return NULL;
}

void fxt_assertions_free(struct fxt_assertions *a)
{
	for (size_t i = 0; i < a->count; i++) {
		fxt_patterns_free(&a->rules[i].function);
		free(a->rules[i].before);
	}
	free(a->rules);
	*a = (struct fxt_assertions){0};
}

/* ---- measuring ---- */

/* The figure of the sums under key 1, in ns. Returns false if nothing was summed up. */
static bool assertions_figure(const struct fxt_assertion *rule, const struct fxt_scan *scan,
        const struct fxt_functions *all, double *value)
{
	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].name != 1 || all->items[i].of_tracer || all->items[i].calls == 0)
			continue;
		*value = fxt_function_figure(&all->items[i], scan, rule->metric);
		return true;
	}
	return false;
}

/* The same for the async spans of these names. */
static bool assertions_measure_asyncs(const struct fxt_assertion *rule, const struct fxt_scan *scan,
        const bool *names, double *value, bool *is_whole)
{
	struct fxt_functions sums = {0};
	struct fxt_asyncs asyncs;

	*is_whole &= fxt_asyncs_read(&asyncs, scan);
	fxt_asyncs_sum(&asyncs, names, false, &sums);
	fxt_functions_to_ns(&sums, scan);
	bool is_there = assertions_figure(rule, scan, &sums, value);

	fxt_functions_free(&sums);
	fxt_asyncs_free(&asyncs);
	return is_there;
}

/* Measures a rule's metric over all matching functions together, in ns. Returns false if
 * there were no calls. */
static bool assertions_measure(const struct fxt_assertion *rule, const struct fxt_scan *scan,
        const struct fxt_thread_times *times, double *value, bool *is_whole)
{
	bool *names = fxt_query_filter_names(&rule->function, scan);
	uint32_t *key_of = fxt_allocate(scan->tables.string_count * sizeof(*key_of));
	struct fxt_functions all;
	bool is_there;

	for (size_t i = 0; names && i < scan->tables.string_count; i++)
		key_of[i] = names[i];
	*is_whole = fxt_functions_read_all(&all, scan,
	        &(struct fxt_grouping){
	                .by = rule->is_of_spans ? FXT_BY_NAME_OF_SPAN : FXT_BY_NAME, .key_of = key_of},
	        times);
	is_there = assertions_figure(rule, scan, &all, value);
	if (!is_there && names && rule->is_of_spans)
		is_there = assertions_measure_asyncs(rule, scan, names, value, is_whole);
	fxt_functions_free(&all);
	free(key_of);
	free(names);
	return is_there;
}

/* ---- verdicts ---- */

/* True if the metric would ignore elided calls: their sums are not split by time or by
 * caller. */
static bool assertions_misses_elided(const struct fxt_scan *scan)
{
	uint64_t least = scan->filter ? scan->filter->least : 0, longest = 0;

	for (size_t i = 0; i < scan->elided_sums.count; i++)
		if (scan->elided_sums.items[i].longest > longest)
			longest = scan->elided_sums.items[i].longest;
	return scan->elided_sums.calls > 0 && longest >= least && !fxt_functions_have_elided(scan, NULL);
}

/* The reason why a trace may lack calls; NULL: it has all. */
static const char *assertions_doubt(const struct fxt_scan *scan)
{
	const char *lacks = fxt_lacks_calls(scan);

	return lacks                            ? lacks
	       : assertions_misses_elided(scan) ? "elided calls are known only as sums over the whole trace"
	                                        : NULL;
}

/* True if the verdict on the measured value would be the same without losses. */
static bool assertions_is_sure(const struct fxt_assertion *rule, bool exceeds)
{
	enum fxt_loss loss = fxt_figures[rule->metric].loss;

	return loss != FXT_LOSES_EITHER && (loss == FXT_LOSES_LESS) == (exceeds == rule->is_above);
}

/* As above, for losses in the earlier traces: a higher earlier value raises the limit,
 * so that less exceeds it. */
static bool assertions_is_sure_beside(const struct fxt_assertion *rule, bool exceeds)
{
	enum fxt_loss loss = fxt_figures[rule->metric].loss;

	return loss != FXT_LOSES_EITHER && (loss == FXT_LOSES_LESS) == (exceeds != rule->is_above);
}

static int assertions_verdict(const struct fxt_assertion *rule, const struct fxt_scan *scan, bool is_there,
        double value, double limit, const char **reason)
{
	bool exceeds = (rule->is_above ? value > limit : value < limit) || (rule->is_equal && value == limit);

	*reason = assertions_doubt(scan);
	if (!is_there) {
		*reason = *reason             ? *reason
		          : rule->is_of_spans ? "the trace has no such span"
		                              : "the trace has no call of it";
		return FXT_UNKNOWN;
	}
	if (isnan(value)) {
		*reason = "its elided calls are in the trace only as sums";
		return FXT_UNKNOWN;
	}
	if (rule->factor > 0 && !rule->was_there) {
		*reason = rule->doubt ? rule->doubt : "no earlier trace has a call of it";
		return FXT_UNKNOWN;
	}
	if (*reason && !assertions_is_sure(rule, exceeds))
		return FXT_UNKNOWN;
	if (rule->doubt && !assertions_is_sure_beside(rule, exceeds)) {
		*reason = rule->doubt;
		return FXT_UNKNOWN;
	}
	return exceeds ? FXT_EXCEEDED : FXT_DONE;
}

/* ---- before ---- */

/* A trace without calls of a function has no figures of it, except 0 calls and a total
 * time of 0. */
static void assertions_learn_rule(struct fxt_assertion *rule, const struct fxt_scan *scan,
        const struct fxt_thread_times *times, bool has_chosen)
{
	bool is_there = false, is_whole = true;
	double value = 0;

	if (has_chosen)
		is_there = assertions_measure(rule, scan, times, &value, &is_whole) && !isnan(value);
	if (is_there || fxt_figure_is_sum(rule->metric)) {
		fxt_make_room(rule->before, rule->before_count, rule->before_room);
		rule->before[rule->before_count++] = value;
	}
	rule->was_there |= is_there;
	if (assertions_doubt(scan) || !is_whole)
		rule->doubt = "an earlier trace is incomplete";
}

static int assertions_learn(void *state, const char *name, const struct fxt_source *source)
{
	struct fxt_assertions *a = state;
	struct fxt_thread_times times;
	struct fxt_filter filter;
	struct fxt_scan scan;
	char error[1024];

	fxt_scan(&scan, source, NULL);
	fxt_thread_times_init(&times);
	fxt_thread_times_finish(&times, &scan);
	bool has_chosen =
	        fxt_query_filter_apply(&a->options->choice, &scan, &filter, error, sizeof(error)) == 0;

	for (size_t i = 0; i < a->count; i++)
		if (a->rules[i].factor > 0)
			assertions_learn_rule(&a->rules[i], &scan, &times, has_chosen);
	if (has_chosen)
		fxt_filter_free(&filter);
	int status = fxt_report_unread(name, scan.malformed, scan.unknown, &scan.fault);

	fxt_thread_times_free(&times);
	fxt_scan_free(&scan);
	return status;
}

int fxt_assertions_learn(struct fxt_assertions *a, char *command, char **files, size_t count)
{
	return fxt_each_source_of(command, files, count, assertions_learn, a);
}

/* ---- verdicts on a trace ---- */

static void assertions_print_value(char text[32], const struct fxt_assertion *rule, double value)
{
	if (fxt_figures[rule->metric].is_count)
		snprintf(text, 32, "%.0f", value);
	else
		snprintf(text, 32, "%s", fxt_time_text(value).text);
}

int fxt_assertions_answer(void *state, const char *name, struct fxt_scan *scan)
{
	const struct fxt_assertions *a = state;
	static const struct fxt_column columns[] = {{"verdict", "verdict", FXT_COLUMN_TEXT, 0},
	        {"measured", "measured", FXT_COLUMN_TEXT, 0}, {"rule", "fails if", FXT_COLUMN_TEXT, 0},
	        {"reason", "", FXT_COLUMN_TEXT, 0}, {"value", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
	        {"before", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA}};
	struct fxt_thread_times times;
	int worst = FXT_DONE;

	/* Only the waits that the tracer caused are needed of the thread times: fxt
	 * report leaves them out as well. */
	fxt_thread_times_init(&times);
	fxt_thread_times_finish(&times, scan);
	fxt_table_begin("rules", name, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < a->count; i++) {
		const struct fxt_assertion *rule = &a->rules[i];
		const char *reason;
		char number[32], number_before[32], remark[64] = "";
		double before = rule->before_count ? fxt_median(rule->before, rule->before_count) : 0;
		double limit = rule->factor > 0 ? before * rule->factor : (double)rule->value;
		double value = 0;
		bool is_whole, is_known;
		bool is_there = assertions_measure(rule, scan, &times, &value, &is_whole);
		int verdict = assertions_verdict(rule, scan, is_there, value, limit, &reason);
		struct fxt_cell measured = fxt_cell_unknown();

		assertions_print_value(number, rule, value);
		assertions_print_value(number_before, rule, before);
		if (rule->was_there)
			snprintf(remark, sizeof(remark), " (before %s)", number_before);
		is_known = is_there && !isnan(value);
		if (is_known)
			measured = fxt_cell_text(fxt_span(number));
		measured.remark = fxt_span(remark);
		fxt_table_row(
		        (struct fxt_cell[]){fxt_cell_text(fxt_span(verdict == FXT_DONE      ? "ok"
		                                                   : verdict == FXT_UNKNOWN ? "unknown"
		                                                                            : "failed")),
		                measured, fxt_cell_text(fxt_span(rule->text)),
		                fxt_cell_text(fxt_span(reason ? reason : "")),
		                is_known ? fxt_cell_number(value) : fxt_cell_unknown(),
		                rule->was_there ? fxt_cell_number(before) : fxt_cell_unknown()});
		verdict = is_whole ? verdict : FXT_UNKNOWN;
		worst = verdict > worst ? verdict : worst;
		if (a->junit)
			fxt_junit_add(a->junit, &(struct fxt_junit_case){.trace = name,
			                                .rule = rule->text,
			                                .measured = is_known ? number : "unknown",
			                                .remark = remark,
			                                .reason = reason,
			                                .is_failed = verdict == FXT_EXCEEDED,
			                                .is_unknown = verdict == FXT_UNKNOWN});
	}
	fxt_table_end();
	fxt_thread_times_free(&times);
	return worst;
}
