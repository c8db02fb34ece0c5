#include "page.h"

#include <stdlib.h>
#include "fxt/embedded.h"
#include "fxt/flame_svg.h"
#include "fxt/xml.h"

FXT_EMBED(html_page, "fxt/html/page.html");
FXT_EMBED(html_style, "fxt/html/page.css");
FXT_EMBED(html_page_script, "fxt/html/page.js");
FXT_EMBED(html_lanes_script, "fxt/html/lanes.js");
FXT_EMBED(html_colours_script, "fxt/html/colours.js");
FXT_EMBED(html_said_script, "fxt/html/said.js");
FXT_EMBED(html_timeline_script, "fxt/html/timeline.js");
FXT_EMBED(html_selection_script, "fxt/html/selection.js");
FXT_EMBED(html_slow_script, "fxt/html/slow.js");
FXT_EMBED(html_locks_script, "fxt/html/locks.js");
FXT_EMBED(html_heap_script, "fxt/html/heap.js");
FXT_EMBED(html_functions_script, "fxt/html/functions.js");

/* ---- what is put into the page ---- */

static void page_title(struct fxt_html *page)
{
	fxt_xml_write(page->out, fxt_span(page->title));
}

static void page_style(struct fxt_html *page)
{
	fprintf(page->out, "<style>\n%s</style>", html_style);
}

static void page_flame_graph(struct fxt_html *page)
{
	struct fxt_flame_text all =
	        fxt_flame_text(page->wanted->cost, (double)page->tree->paths.items[0].total);

	fxt_flame_svg_write(page->out, page->tree, page->wanted, all.text);
}

static void page_data(struct fxt_html *page)
{
	static void (*const parts[])(struct fxt_html *) = {fxt_html_summary, fxt_html_timeline,
	        fxt_html_functions, fxt_html_slow, fxt_html_locks, fxt_html_heap};

	fputs("<script type=\"application/json\" id=\"data\">{", page->out);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		parts[i](page);
		fputs(",\n", page->out);
	}
	fputs("\"names\": ", page->out);
	fxt_html_names_write(page->out, &page->names, &page->scan->tables);
	fputs("}</script>", page->out);
}

static void page_scripts(struct fxt_html *page)
{
	const char *const scripts[] = {html_page_script, html_lanes_script, html_colours_script,
	        html_said_script, html_timeline_script, html_selection_script, html_slow_script,
	        html_functions_script, html_locks_script, html_heap_script};

	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
		fprintf(page->out, "<script>\n%s</script>\n", scripts[i]);
}

/* ---- the page ---- */

static const struct {
	const char *comment;
	void (*write)(struct fxt_html *page);
} insertions[] = {
        {"<!-- title -->", page_title},
        {"<!-- style -->", page_style},
        {"<!-- flame graph -->", page_flame_graph},
        {"<!-- data -->", page_data},
        {"<!-- scripts -->", page_scripts},
};

/* Inserts the part that replaces the comment at the beginning of the text. Returns false
 * if there is none. */
static bool page_insert(struct fxt_html *page, const char **text)
{
	for (size_t i = 0; i < sizeof(insertions) / sizeof(*insertions); i++) {
		size_t bytes = strlen(insertions[i].comment);

		if (strncmp(*text, insertions[i].comment, bytes) == 0) {
			insertions[i].write(page);
			*text += bytes;
			return true;
		}
	}
	return false;
}

void fxt_html_write(struct fxt_html *page)
{
	for (const char *text = html_page; *text;)
		if (*text != '<' || !page_insert(page, &text))
			putc(*text++, page->out);
}
