/*
 * fxt diff: compares the figures of functions before and after a change, and says which
 * differences are noise. The main thread prints. It must give no verdict that too few
 * traces cannot support.
 */
#include "diff_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/text.h"

static const char help[] =
        "usage: fxt diff [OPTION]... BEFORE [AFTER]\n"
        "       fxt diff [OPTION]... BEFORE... -- AFTER...\n"
        "\n"
        "Compares functions before and after a change, the largest changes first: the\n"
        "self time and its change, then the change of the calls, of the time within\n"
        "them, and of one call. Functions are the same if their names are.\n"
        "\n"
        "Two runs always differ. With several traces a side, as many as the note below\n"
        "the table asks for, a rank test finds differences that are more than chance:\n"
        "  more, less  a change\n"
        "  noise       chance makes such differences; more traces may show more\n"
        "  unsure      too few traces for so many functions\n"
        "  same        equal in all traces\n"
        "  -           not tested: less than a hundredth of the whole, or on one side\n"
        "              only\n"
        "With fewer traces a difference is small if it is less than a tenth of what it\n"
        "was before, and else unsure. Numbers are medians of the traces.\n"
        "\n"
        "  -c, --compare=KEY    compared, tested and sorted by; self if not given:\n"
        "                       " FXT_HELP_COMPARED "\n"
        "  -n, --limit=N        the first N functions\n" FXT_HELP_CHOICE FXT_HELP_MARKDOWN FXT_HELP_FORMAT
        "\nWithout AFTER, it is trace.fxt. One of the files may be -, the standard input.\n";

static const char *const verdicts[] = {[FXT_SAME] = "same",
        [FXT_SMALL] = "small",
        [FXT_NOISE] = "noise",
        [FXT_UNSURE] = "unsure",
        [FXT_LESS] = "less",
        [FXT_MORE] = "more"};

/* ---- functions ---- */

/* The options, and the state while traces are read. */
struct diff_command {
	struct fxt_options wanted;
	struct fxt_diff_inputs sides;
	enum fxt_figure compared; /* the figure that is tested, and that the table is
                                    sorted by */
};

/* The amount of a function's change; a side without the function counts as 0. */
static double diff_distance(struct diff_command *d, const struct fxt_compared *f)
{
	double before = f->medians[FXT_BEFORE][d->compared], after = f->medians[FXT_AFTER][d->compared];

	return fabs((isnan(after) ? 0 : after) - (isnan(before) ? 0 : before));
}

/* Sorts changes first, then by the amount of change. */
static int diff_compare(const void *left, const void *right, void *state)
{
	struct diff_command *d = state;
	const struct fxt_compared *a = left, *b = right;
	bool is_a = a->difference >= FXT_LESS, is_b = b->difference >= FXT_LESS;
	double from_a = diff_distance(d, a), from_b = diff_distance(d, b);

	if (is_a != is_b)
		return is_a ? -1 : 1;
	if (from_a != from_b)
		return from_a > from_b ? -1 : 1;
	return fxt_spans_compare(a->name, b->name);
}

static struct fxt_cell diff_number(double number)
{
	return isnan(number) ? fxt_cell_unknown() : fxt_cell_number(number);
}

static struct fxt_cell diff_change(const struct fxt_compared *f, enum fxt_figure figure)
{
	double before = f->medians[FXT_BEFORE][figure], after = f->medians[FXT_AFTER][figure];

	if (before == after)
		return fxt_cell_number(0);
	return before == 0 ? fxt_cell_unknown() : diff_number((after - before) / before);
}

/* Three columns for each figure that is compared, and those of diff_columns() behind
 * them. */
enum { REST_COLUMNS = 5, COLUMNS_MAX = 3 * FXT_FIGURES + REST_COLUMNS };

/* Lists the figures of a row: the compared one is first. Returns their number. */
static unsigned diff_figures(struct diff_command *d, enum fxt_figure figures[FXT_FIGURES])
{
	unsigned count = 0;

	figures[count++] = d->compared;
	for (enum fxt_figure i = 0; i < FXT_FIGURES; i++)
		if (i != d->compared && fxt_figures[i].compared)
			figures[count++] = i;
	return count;
}

/* People see both values of the compared figure, and the changes of all figures. Returns
 * the number of columns. */
static size_t diff_columns(struct diff_command *d, struct fxt_column columns[COLUMNS_MAX])
{
	const struct fxt_column rest[REST_COLUMNS] = {{"verdict", "verdict", FXT_COLUMN_TEXT, 0},
	        {"name", "function", FXT_COLUMN_TEXT, 0}, {"only", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
	        {"p", "", FXT_COLUMN_SHARE, FXT_COLUMN_DATA},
	        {"adjusted_p", "", FXT_COLUMN_SHARE, FXT_COLUMN_DATA}};
	enum fxt_figure figures[FXT_FIGURES];
	unsigned count = diff_figures(d, figures);

	for (unsigned i = 0; i < count; i++) {
		const struct fxt_figure_row *figure = &fxt_figures[figures[i]];
		enum fxt_column_kind kind = figure->is_count ? FXT_COLUMN_COUNT : FXT_COLUMN_TIME;
		uint8_t rank = i == 0 ? 0 : FXT_COLUMN_DATA;

		columns[3 * i] = (struct fxt_column){figure->before_key, "before", kind, rank};
		columns[3 * i + 1] = (struct fxt_column){figure->after_key, "after", kind, rank};
		columns[3 * i + 2] = (struct fxt_column){figure->change_key, i == 0 ? "change" : figure->name,
		        FXT_COLUMN_SHARE, i == 0 ? 0 : figure->compared_rank};
	}
	memcpy(columns + 3 * count, rest, sizeof(rest));
	return 3 * count + REST_COLUMNS;
}

static void diff_row(struct diff_command *d, const struct fxt_compared *f)
{
	static const char *const remarks[FXT_SIDES] = {" (only before)", " (only after)"};
	enum fxt_figure figures[FXT_FIGURES];
	unsigned count = diff_figures(d, figures);
	struct fxt_cell cells[COLUMNS_MAX], *rest = cells + 3 * count;

	for (unsigned i = 0; i < count; i++) {
		cells[3 * i] = diff_number(f->medians[FXT_BEFORE][figures[i]]);
		cells[3 * i + 1] = diff_number(f->medians[FXT_AFTER][figures[i]]);
		cells[3 * i + 2] = diff_change(f, figures[i]);
	}
	rest[0] = verdicts[f->difference] ? fxt_cell_text(fxt_span(verdicts[f->difference]))
	                                  : fxt_cell_unknown();
	rest[1] = fxt_cell_text(f->name);
	rest[2] = fxt_cell_unknown();
	rest[3] = diff_number(f->p);
	rest[4] = diff_number(f->adjusted);
	for (unsigned i = 0; i < FXT_SIDES; i++) {
		if (f->is_on[!i])
			continue;
		rest[1].remark = fxt_span(remarks[i]);
		rest[2] = fxt_cell_text(fxt_span(fxt_side_names[i]));
	}
	fxt_table_row(cells);
}

/* ---- the answer ---- */

static void diff_print_needed(struct diff_command *d)
{
	const struct fxt_comparison *c = &d->sides.comparison;

	if (c->needed > 0 && c->tested == 0)
		fxt_print_note(
		        "no verdict: %zu trace%s before and %zu after cannot tell a change from noise; "
		        "%zu on each side can: BEFORE... -- AFTER...",
		        c->of_side[FXT_BEFORE], fxt_plural(c->of_side[FXT_BEFORE]), c->of_side[FXT_AFTER],
		        c->needed);
	else if (c->needed > 0)
		fxt_print_note(
		        "%zu trace%s before and %zu after are too few to tell a change of one among %zu "
		        "functions from noise; %zu on each side can, or choose fewer with --function",
		        c->of_side[FXT_BEFORE], fxt_plural(c->of_side[FXT_BEFORE]), c->of_side[FXT_AFTER],
		        c->tested, c->needed);
}

static void diff_print_notes(struct diff_command *d)
{
	const struct fxt_comparison *c = &d->sides.comparison;

	diff_print_needed(d);
	fxt_diff_inputs_print_missing(&d->sides);
	fxt_print_fact("functions", (double)c->count);
	fxt_print_fact("functions_tested", (double)c->tested);
	fxt_print_fact("traces_before", (double)c->of_side[FXT_BEFORE]);
	fxt_print_fact("traces_after", (double)c->of_side[FXT_AFTER]);
	fxt_print_fact_text("compared", fxt_span(fxt_figures[d->compared].name));
}

static void diff_print(struct diff_command *d)
{
	struct fxt_comparison *c = &d->sides.comparison;
	struct fxt_column columns[COLUMNS_MAX];
	uint64_t left = fxt_options_limit(&d->wanted, UINT64_MAX);

	fxt_comparison_judge(c, d->compared);
	qsort_r(c->items, c->count, sizeof(*c->items), diff_compare, d);
	fxt_print_trace(d->sides.traces[d->sides.count - 1].name);
	fxt_print_line("%s of %zu function%s, medians of %zu trace%s before and %zu after",
	        fxt_figures[d->compared].compared, c->count, fxt_plural(c->count), c->of_side[FXT_BEFORE],
	        fxt_plural(c->of_side[FXT_BEFORE]), c->of_side[FXT_AFTER]);
	if (c->needed > 0 && c->tested == 0)
		fxt_print_line("so few traces do not tell a change from noise: a difference is small, "
		               "less than a tenth, or unsure");
	fxt_diff_inputs_print(&d->sides);
	size_t column_count = diff_columns(d, columns);

	fxt_table_begin("functions", NULL, columns, column_count);
	for (size_t i = 0; i < c->count && i < left; i++)
		diff_row(d, &c->items[i]);
	fxt_table_end();
	diff_print_notes(d);
}

static int diff_answer(struct diff_command *d, char *command, char **before, size_t before_count,
        char **after, size_t after_count)
{
	int status = fxt_diff_inputs_read(
	        &d->sides, &d->wanted, command, before, before_count, after, after_count);

	if (status != FXT_FAILED) {
		fxt_print_begin("diff", d->wanted.format);
		diff_print(d);
		fxt_print_end();
	}
	fxt_diff_inputs_free(&d->sides);
	return status;
}

/* ---- the command ---- */

static bool diff_set_figure(struct diff_command *d, const char *name)
{
	return fxt_figure_named(fxt_span(name), FXT_TO_COMPARE, &d->compared);
}

/* The index of the "--" between the inputs; argc if there is none. */
static int diff_border(int argc, char **argv)
{
	int border = 1;

	while (border < argc && strcmp(argv[border], "--") != 0)
		border++;
	return border;
}

int fxt_command_diff(int argc, char **argv)
{
	struct diff_command command = {0}, *d = &command;
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS,
	        FXT_OPTIONS_MARKDOWN, {"compare", required_argument, NULL, 'c'}, {0}};
	int option, status = FXT_DONE, border = diff_border(argc, argv);
	bool has_boundary = border < argc;

	d->compared = FXT_SELF;
	fxt_options_begin();
	while (status == FXT_DONE && (option = fxt_option(border, argv, options, help)) != -1)
		if (!fxt_options_take(&d->wanted, argv[0], option) && !diff_set_figure(d, optarg))
			status = fxt_bad_usage(argv[0], "cannot compare '%s'", optarg);
	int operands = border - optind, before = !has_boundary && operands == 2 ? 1 : operands;
	char **after = argv + (has_boundary ? border + 1 : optind + before);

	if (status == FXT_DONE && operands == 0)
		status = fxt_bad_usage(argv[0], "no earlier trace is given");
	else if (status == FXT_DONE && !has_boundary && operands > 2)
		status = fxt_bad_usage(
		        argv[0], "which of %d traces are the earlier ones? BEFORE... -- AFTER...", operands);
	if (status == FXT_DONE)
		status = diff_answer(
		        d, argv[0], argv + optind, (size_t)before, after, (size_t)(argv + argc - after));
	fxt_query_filter_free(&d->wanted.choice);
	return status;
}
