/*
 * The values of the figures, and the search by their names. Figures come from sums alone;
 * this must not read the trace.
 */
#include "figures.h"

#include <math.h>
#include <stdio.h>

static double figure_self_cpu(const struct fxt_function *f, uint64_t time)
{
	return fxt_function_has_self_cpu(f) ? (double)time : NAN;
}

static double figure_total_cpu(const struct fxt_function *f, uint64_t time)
{
	return fxt_function_has_total_cpu(f) ? (double)time : NAN;
}

/* The time that this share of the calls did not exceed, to 1/32
 * (fxt_histogram_percentile()); NAN if that call is an elided one. */
static double figure_percentile(const struct fxt_function *f, const struct fxt_scan *scan, double share)
{
	double recorded = (double)(f->calls - f->elided), longer = (1 - share) * (double)f->calls;

	if (f->calls == 1)
		return (double)f->min;
	if (f->elided && longer >= recorded)
		return NAN;
	share = f->elided ? 1 - longer / recorded : share;
	double ns = (double)f->max;

	if (recorded > 1) {
		double time = fxt_histogram_percentile(&f->times, share);

		ns = time * (double)FXT_NS_PER_SECOND / (double)scan->rate.ticks_per_second;
	}
	/* The middle of a bucket may be outside of the range of its values. */
	ns = ns < (double)f->min ? (double)f->min : ns > (double)f->max ? (double)f->max : ns;
	return f->elided && ns < (double)f->elided_longest ? NAN : ns;
}

#define FIGURE(id, name_, title_, key_, unit, rank_, loss_, value, ...) \
	[FXT_##id] = {.name = name_,                                    \
	        .title = title_,                                        \
	        .key = key_ unit,                                       \
	        .before_key = key_ "_before" unit,                      \
	        .after_key = key_ "_after" unit,                        \
	        .change_key = key_ "_change",                           \
	        .is_count = sizeof(unit) == 1,                          \
	        .rank = rank_,                                          \
	        .loss = loss_,                                          \
	        ##__VA_ARGS__},
#define FIGURE_OF_SQL(id, sql_name, sql_type, sql_meaning, ...) FIGURE(id, __VA_ARGS__)

const struct fxt_figure_row fxt_figures[FXT_FIGURES] = {FXT_FIGURE_ROWS(FIGURE, FIGURE_OF_SQL)};

#define VALUE(id, name, title, key, unit, rank, loss, value, ...) \
	case FXT_##id:                                            \
		return value;
#define VALUE_OF_SQL(id, sql_name, sql_type, sql_meaning, ...) VALUE(id, __VA_ARGS__)

double fxt_function_figure(const struct fxt_function *f, const struct fxt_scan *scan, enum fxt_figure figure)
{
	switch (figure) {
		FXT_FIGURE_ROWS(VALUE, VALUE_OF_SQL)
	default:
		return NAN;
	}
}

bool fxt_figure_has_use(enum fxt_figure figure, enum fxt_figure_use use)
{
	const struct fxt_figure_row *row = &fxt_figures[figure];

	return use == FXT_TO_SORT      ? row->is_sorted || row->loss != FXT_NO_METRIC
	       : use == FXT_TO_COMPARE ? row->compared != NULL
	                               : row->loss != FXT_NO_METRIC;
}

bool fxt_figure_named(struct fxt_span name, enum fxt_figure_use use, enum fxt_figure *figure)
{
	for (enum fxt_figure i = 0; i < FXT_FIGURES; i++) {
		if (fxt_figure_has_use(i, use) && fxt_span_is(name, fxt_figures[i].name)) {
			*figure = i;
			return true;
		}
	}
	return false;
}

struct fxt_figure_names fxt_figure_names(enum fxt_figure_use use, const char *last)
{
	const char *words[FXT_FIGURES + 1];
	struct fxt_figure_names names = {""};
	size_t count = 0, bytes = 0;

	for (enum fxt_figure i = 0; i < FXT_FIGURES; i++)
		if (fxt_figure_has_use(i, use))
			words[count++] = fxt_figures[i].name;
	if (last)
		words[count++] = last;
	for (size_t i = 0; i < count; i++)
		bytes += (size_t)snprintf(names.text + bytes, sizeof(names.text) - bytes, "%s%s",
		        i == 0          ? ""
		        : i + 1 < count ? ", "
		                        : " or ",
		        words[i]);
	return names;
}
