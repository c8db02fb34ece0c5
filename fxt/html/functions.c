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

/* Writes the times on the CPU and off it. */
static void functions_cpu(struct fxt_html *page, const struct fxt_function *f)
{
	uint64_t on = f->self_cpu[FXT_CPU_RUNNING];
	uint64_t off = f->self_cpu[FXT_CPU_RUNNABLE] + f->self_cpu[FXT_CPU_BLOCKED];

	if (fxt_function_has_self_cpu(f))
		fprintf(page->out, ",%" PRIu64 ",%" PRIu64, on, off);
	else
		fputs(",null,null", page->out);
}

static void functions_row(struct fxt_html *page, const struct fxt_function *f)
{
	fprintf(page->out, "[%" PRIu32 ",%d", fxt_html_name(&page->names, f->name), !f->of_tracer);
	for (enum fxt_figure i = 0; i < FXT_FIGURES; i++) {
		putc(',', page->out);
		fxt_json_number(page->out, fxt_function_figure(f, page->scan, i));
	}
	functions_cpu(page, f);
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

/* Writes the functions by name. Walkers that work side by side find them in any order, and
 * the same trace is to give the same page. */
void fxt_html_functions(struct fxt_html *page)
{
	const struct fxt_function **sorted = fxt_allocate(page->all.count * sizeof(*sorted));
	const char *before = "";

	fputs("\"functions\": {\"columns\": [\"name\", \"is_call\"", page->out);
	for (enum fxt_figure i = 0; i < FXT_FIGURES; i++)
		fprintf(page->out, ", \"%s\"", fxt_figure_names[i]);
	fputs(", \"on\", \"off\", \"open\", \"module\", \"file\", \"line\"],\n\"rows\": [", page->out);
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
