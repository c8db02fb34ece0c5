/*
 * Collects the figures of functions from several traces, and tests which differ by more
 * than chance. Runs on the caller's thread. It must not report a difference that the number
 * of traces and of tested functions cannot support.
 */
#include "comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rank.h"
#include "reader/trace/namesakes.h"

static const double significant = 0.05, least_share = 0.01;

void fxt_comparison_init(struct fxt_comparison *c, size_t traces)
{
	*c = (struct fxt_comparison){.trace_room = traces};
	c->sides = fxt_allocate((traces + 1) * sizeof(*c->sides));
}

/* ---- traces ---- */

static double *comparison_values(const struct fxt_compared *item, size_t trace)
{
	return item->values + trace * FXT_FIGURES;
}

/* A trace without calls of a function has no figures of it, except calls and times of 0. */
static void comparison_set_absent(double *values)
{
	for (enum fxt_figure i = 0; i < FXT_FIGURES; i++)
		values[i] = fxt_figure_is_sum(i) ? 0 : NAN;
}

static struct fxt_compared *comparison_look_up(const struct fxt_comparison *c, struct fxt_span name)
{
	uint32_t hash = fxt_hash_bytes(name.data, name.bytes);

	for (struct fxt_probe probe = fxt_probe(&c->index, hash); fxt_probe_next(&c->index, &probe);) {
		if (fxt_spans_equal(c->items[probe.id].name, name))
			return &c->items[probe.id];
	}
	return NULL;
}

static struct fxt_span comparison_copy(struct fxt_span text)
{
	char *copy = fxt_allocate(text.bytes + 1);

	if (text.bytes > 0)
		memcpy(copy, text.data, text.bytes);
	return (struct fxt_span){copy, text.bytes};
}

static void comparison_name(struct fxt_comparison *c, struct fxt_compared *item, struct fxt_span name)
{
	free((char *)item->name.data);
	item->name = comparison_copy(name);
	fxt_index_add(&c->index, fxt_hash_bytes(name.data, name.bytes), (uint32_t)(item - c->items));
}

static struct fxt_span comparison_base(const struct fxt_span *strings, uint32_t path)
{
	return path == FXT_NOTHING ? (struct fxt_span){0} : fxt_path_base(strings[path]);
}

/* Looks up "process [fast.so]". */
static struct fxt_compared *comparison_look_up_label(
        const struct fxt_comparison *c, struct fxt_span name, struct fxt_span label)
{
	struct fxt_compared *item = NULL;
	char *text = NULL;
	int bytes;

	if (label.bytes == 0)
		return NULL;
	bytes = asprintf(&text, "%.*s [%.*s]", (int)name.bytes, name.data, (int)label.bytes, label.data);
	if (bytes < 0)
		fxt_out_of_memory();
	item = comparison_look_up(c, (struct fxt_span){text, (size_t)bytes});
	free(text);
	return item;
}

/* Looks a function up that shares its name in one trace and not in another. It is found if
 * its module tells it apart, or its source file. */
static struct fxt_compared *comparison_look_up_namesake(struct fxt_comparison *c, const struct fxt_scan *scan,
        uint32_t name, struct fxt_span module, struct fxt_span file)
{
	struct fxt_span shown = scan->tables.strings[name], plain = fxt_tables_plain(&scan->tables, name);
	struct fxt_compared *item;

	if (shown.bytes > plain.bytes) {
		item = comparison_look_up(c, plain);
		if (!item || !fxt_spans_equal(item->module, module) || !fxt_spans_equal(item->file, file))
			return NULL;
		comparison_name(c, item, shown);
		return item;
	}
	item = comparison_look_up_label(c, plain, module);
	return item ? item : comparison_look_up_label(c, plain, file);
}

static struct fxt_compared *comparison_find(
        struct fxt_comparison *c, const struct fxt_scan *scan, uint32_t name)
{
	const struct fxt_span *strings = scan->tables.strings;
	const struct fxt_origin *origin = fxt_origins_next(&scan->origins, name, NULL);
	struct fxt_span module = comparison_base(strings, origin ? origin->module : FXT_NOTHING),
	                file = comparison_base(strings, origin ? origin->file : FXT_NOTHING);
	struct fxt_compared *item = comparison_look_up(c, strings[name]);

	if (!item)
		item = comparison_look_up_namesake(c, scan, name, module, file);
	if (item)
		return item;
	fxt_make_room(c->items, c->count, c->room);
	item = &c->items[c->count++];
	*item = (struct fxt_compared){.module = comparison_copy(module), .file = comparison_copy(file)};
	comparison_name(c, item, strings[name]);
	item->values = fxt_allocate(c->trace_room * FXT_FIGURES * sizeof(double));
	for (size_t i = 0; i < c->trace_room; i++)
		comparison_set_absent(comparison_values(item, i));
	return item;
}

void fxt_comparison_add(struct fxt_comparison *c, enum fxt_side side, const struct fxt_scan *scan,
        const struct fxt_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		const struct fxt_function *f = &functions->items[i];

		if (f->of_tracer || f->calls == 0)
			continue;
		struct fxt_compared *item = comparison_find(c, scan, f->name);
		double *values = comparison_values(item, c->trace_count);

		item->is_on[side] = true;
		for (enum fxt_figure figure = 0; figure < FXT_FIGURES; figure++)
			values[figure] = fxt_function_figure(f, scan, figure);
	}
	c->sides[c->trace_count++] = side;
	c->of_side[side]++;
}

/* ---- values of a side ---- */

/* Collects the values that a side's traces have. Returns their number. */
static size_t comparison_sample(const struct fxt_comparison *c, const struct fxt_compared *item,
        enum fxt_side side, enum fxt_figure figure, double *sample)
{
	size_t count = 0;

	for (size_t i = 0; i < c->trace_count; i++) {
		double value = comparison_values(item, i)[figure];

		if (c->sides[i] == side && !isnan(value))
			sample[count++] = value;
	}
	return count;
}

/* ---- what is tested ---- */

/* The sums over all functions, by trace, that shares refer to. The caller frees them. */
static double *comparison_sums(const struct fxt_comparison *c, enum fxt_figure figure)
{
	double *sums = fxt_allocate((c->trace_count + 1) * sizeof(*sums));

	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < c->trace_count; j++)
			sums[j] += comparison_values(
			        &c->items[i], j)[figure == FXT_CALLS ? FXT_CALLS : FXT_SELF];
	return sums;
}

/* The mean over traces of a function's share. */
static double comparison_share(const struct fxt_comparison *c, const struct fxt_compared *item,
        enum fxt_figure figure, const double *sums)
{
	enum fxt_figure part = fxt_figure_is_sum(figure) ? figure : FXT_TOTAL;
	double share = 0;

	for (size_t i = 0; i < c->trace_count; i++)
		share += sums[i] > 0 ? comparison_values(item, i)[part] / sums[i] : 0;
	return share / (double)c->trace_count;
}

/* Two runs of one program easily differ by a tenth. */
static bool comparison_is_small(double *samples[FXT_SIDES], size_t before, size_t after)
{
	double old = fxt_median(samples[FXT_BEFORE], before);

	return fabs(fxt_median(samples[FXT_AFTER], after) - old) < old / 10;
}

/* Sets the verdict that needs no test, or the p of a test and its direction. *least is the
 * least p it could have had. Counts in *untested the functions that a test of more traces
 * would have to tell apart. */
static void comparison_test(const struct fxt_comparison *c, struct fxt_compared *item, enum fxt_figure figure,
        double *samples[FXT_SIDES], double *least, size_t *untested)
{
	size_t before = comparison_sample(c, item, FXT_BEFORE, figure, samples[FXT_BEFORE]);
	size_t after = comparison_sample(c, item, FXT_AFTER, figure, samples[FXT_AFTER]);
	bool is_same = true;
	bool has_too_few = fxt_rank_least(c->of_side[FXT_BEFORE], c->of_side[FXT_AFTER]) > significant;

	for (size_t i = 0; i < before && is_same && after > 0; i++)
		is_same = samples[FXT_BEFORE][i] == samples[FXT_AFTER][0];
	for (size_t i = 0; i < after && is_same; i++)
		is_same = samples[FXT_AFTER][i] == samples[FXT_AFTER][0];
	*least = fxt_rank_least(before, after);
	if (before == 0 || after == 0) {
		item->difference = FXT_UNTESTED;
	} else if (is_same) {
		item->difference = has_too_few || *least <= significant ? FXT_SAME : FXT_UNTESTED;
	} else if (*least > significant) {
		++*untested;
		if (has_too_few)
			item->difference =
			        comparison_is_small(samples, before, after) ? FXT_SMALL : FXT_UNSURE;
	} else {
		struct fxt_rank rank = fxt_rank_test(samples[FXT_BEFORE], before, samples[FXT_AFTER], after);

		item->p = rank.p;
		item->difference = rank.is_above ? FXT_MORE : FXT_LESS;
	}
}

/* Corrects for the number of tests, and withdraws differences that may be chance. */
static void comparison_correct(struct fxt_comparison *c, const double *least)
{
	double *adjusted = fxt_allocate((c->count + 1) * sizeof(*adjusted));
	size_t tested = 0;

	for (size_t i = 0; i < c->count; i++)
		if (!isnan(c->items[i].p))
			adjusted[tested++] = c->items[i].p;
	fxt_rank_adjust(adjusted, tested);
	c->tested = tested;
	tested = 0;
	for (size_t i = 0; i < c->count; i++) {
		struct fxt_compared *item = &c->items[i];

		if (isnan(item->p))
			continue;
		item->adjusted = adjusted[tested++];
		if (item->adjusted > significant)
			item->difference =
			        least[i] * (double)c->tested > significant ? FXT_UNSURE : FXT_NOISE;
	}
	free(adjusted);
}

/* More traces test the same functions, and each further test makes chance more likely. */
static void comparison_count_needed(struct fxt_comparison *c, size_t untested)
{
	size_t tests = c->tested > 0 ? c->tested : untested;
	double most = significant / (double)(tests > 0 ? tests : 1);

	c->needed = 0;
	if (fxt_rank_least(c->of_side[FXT_BEFORE], c->of_side[FXT_AFTER]) > most)
		while (fxt_rank_least(c->needed, c->needed) > most)
			c->needed++;
}

void fxt_comparison_judge(struct fxt_comparison *c, enum fxt_figure figure)
{
	double *sums = comparison_sums(c, figure);
	double *least = fxt_allocate((c->count + 1) * sizeof(*least));
	double *samples[FXT_SIDES];
	size_t untested = 0;

	for (unsigned side = 0; side < FXT_SIDES; side++)
		samples[side] = fxt_allocate((c->trace_count + 1) * sizeof(double));
	for (size_t i = 0; i < c->count; i++) {
		struct fxt_compared *item = &c->items[i];

		item->p = item->adjusted = NAN;
		item->difference = FXT_UNTESTED;
		if (comparison_share(c, item, figure, sums) >= least_share)
			comparison_test(c, item, figure, samples, &least[i], &untested);
		for (unsigned side = 0; side < FXT_SIDES; side++)
			for (enum fxt_figure j = 0; j < FXT_FIGURES; j++)
				if (fxt_figures[j].compared)
					item->medians[side][j] = fxt_median(samples[side],
					        comparison_sample(c, item, side, j, samples[side]));
	}
	comparison_correct(c, least);
	comparison_count_needed(c, untested);
	free(samples[FXT_BEFORE]);
	free(samples[FXT_AFTER]);
	free(sums);
	free(least);
}

void fxt_comparison_free(struct fxt_comparison *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free((char *)c->items[i].name.data);
		free((char *)c->items[i].module.data);
		free((char *)c->items[i].file.data);
		free(c->items[i].values);
	}
	free(c->items);
	free(c->sides);
	fxt_index_free(&c->index);
	*c = (struct fxt_comparison){0};
}
