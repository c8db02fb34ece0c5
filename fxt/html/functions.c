#include "page.h"

#include <inttypes.h>
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

void fxt_html_functions(struct fxt_html *page)
{
	const char *before = "";

	fputs("\"functions\": {\"columns\": [\"name\", \"is_call\"", page->out);
	for (enum fxt_figure i = 0; i < FXT_FIGURES; i++)
		fprintf(page->out, ", \"%s\"", fxt_figure_names[i]);
	fputs(", \"on\", \"off\", \"open\", \"module\", \"file\", \"line\"],\n\"rows\": [", page->out);
	for (size_t i = 0; i < page->all.count; i++) {
		if (page->all.items[i].calls == 0)
			continue;
		fputs(before, page->out);
		functions_row(page, &page->all.items[i]);
		before = ",\n";
	}
	fputs("]}", page->out);
}
