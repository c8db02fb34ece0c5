#include "page.h"

#include <inttypes.h>
#include <stdlib.h>
#include "fxt/json.h"

static void functions_reference(struct fxt_html *page, uint32_t string)
{
	if (string == FXT_NOTHING)
		fputs(",null", page->out);
	else
		fprintf(page->out, ",%" PRIu32, fxt_html_name(&page->names, string));
}

/* Writes where a function comes from, as far as the trace says. */
static void functions_origin(struct fxt_html *page, const struct fxt_function *f)
{
	const struct fxt_origin *origin = fxt_origins_next(&page->scan->origins, f->name, NULL);

	if (!origin) {
		fputs(",null,null,0", page->out);
		return;
	}
	functions_reference(page, origin->module);
	functions_reference(page, origin->file);
	fprintf(page->out, ",%" PRIu32, origin->line);
}

static void functions_row(struct fxt_html *page, const struct fxt_function *f)
{
	fprintf(page->out, "[%" PRIu32 ",%d", fxt_html_name(&page->names, f->name), !f->of_tracer);
	for (enum fxt_figure i = 0; i < FXT_FIGURES; i++) {
		if (!fxt_figures[i].hint)
			continue;
		putc(',', page->out);
		fxt_json_number(page->out, fxt_function_figure(f, page->scan, i));
	}
	fprintf(page->out, ",%" PRIu64, f->open);
	functions_origin(page, f);
	putc(']', page->out);
}

static int functions_compare(const void *left, const void *right)
{
	const struct fxt_function *a = *(const struct fxt_function *const *)left;
	const struct fxt_function *b = *(const struct fxt_function *const *)right;

	return a->name != b->name ? (a->name > b->name) - (a->name < b->name)
	                          : (a->of_tracer > b->of_tracer) - (a->of_tracer < b->of_tracer);
}

/* Writes the columns of the table that people see, besides the name. */
static void functions_figures(struct fxt_html *page)
{
	const char *before = "";

	for (enum fxt_figure i = 0; i < FXT_FIGURES; i++) {
		const struct fxt_figure_row *figure = &fxt_figures[i];

		if (!figure->hint || (figure->needs_switches && !page->times->has_switches))
			continue;
		fprintf(page->out,
		        "%s{\"key\": \"%s\", \"title\": \"%s\", \"hint\": \"%s\", \"less\": \"%s\", "
		        "\"bar\": %d, \"is_count\": %d}",
		        before, figure->name, figure->title, figure->hint,
		        figure->hidden ? figure->hidden : "", figure->has_bar, figure->is_count);
		before = ",\n";
	}
}

/* Writes the functions by name. Walkers that work side by side find them in any order, and
 * the same trace is to give the same page. */
void fxt_html_functions(struct fxt_html *page)
{
	const struct fxt_function **sorted = fxt_allocate(page->all.count * sizeof(*sorted));
	const char *before = "";

	fputs("\"functions\": {\"figures\": [", page->out);
	functions_figures(page);
	fputs("],\n\"columns\": [\"name\", \"is_call\"", page->out);
	for (enum fxt_figure i = 0; i < FXT_FIGURES; i++)
		if (fxt_figures[i].hint)
			fprintf(page->out, ", \"%s\"", fxt_figures[i].name);
	fputs(", \"open\", \"module\", \"file\", \"line\"],\n\"rows\": [", page->out);
	for (size_t i = 0; i < page->all.count; i++)
		sorted[i] = &page->all.items[i];
	if (page->all.count > 0)
		qsort(sorted, page->all.count, sizeof(*sorted), functions_compare);
	for (size_t i = 0; i < page->all.count; i++) {
		if (sorted[i]->calls == 0)
			continue;
		fputs(before, page->out);
		functions_row(page, sorted[i]);
		before = ",\n";
	}
	free(sorted);
	fputs("]}", page->out);
}
