/*
 * Lays out a flame graph and writes it as SVG: order and place of the boxes, texts,
 * colours, warnings. Runs on the main thread. It must escape every name, because names come
 * from the archive.
 */
#include "flame_svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "embedded.h"
#include "reader/trace/text.h"
#include "xml.h"

FXT_EMBED(flame_script, "fxt/flamegraph.js");
FXT_EMBED(flame_style, "fxt/flamegraph.css");

#define WIDTH      1200
#define ROW        18
#define HEADER     48
#define TEXT_WIDTH 30 /* a narrower box has no room for text */
#define HUES       8

enum place { NOT_DRAWN, TOO_NARROW, DRAWN };

/* The children of a node that are too narrow to be drawn: the last ones, beside each
 * other. */
struct narrow {
	uint64_t x, total;
	uint32_t boxes;
};

struct layout {
	const struct fxt_paths *paths;
	uint32_t *order;  /* nodes, grouped by parent, the heaviest first */
	uint64_t *x;      /* by node: left edge in units of cost */
	uint64_t *next_x; /* by node: left edge of its next child */
	uint32_t *depth;
	uint8_t *place; /* by node: enum place */
	struct narrow *narrow;
	uint64_t narrowest;
	uint64_t narrow_boxes, narrow_total;
	uint32_t deepest;
};

/* ---- where boxes are ---- */

static const struct fxt_flame_tree *sorted_tree;

static int flame_compare(const void *left, const void *right)
{
	const struct fxt_path *a = &sorted_tree->paths.items[*(const uint32_t *)left];
	const struct fxt_path *b = &sorted_tree->paths.items[*(const uint32_t *)right];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	const struct fxt_span *strings = sorted_tree->tables->strings;
	int by_name = fxt_spans_compare(strings[a->name], strings[b->name]);

	return by_name ? by_name : (int)a->kind - (int)b->kind;
}

static void flame_omit(struct layout *l, struct narrow *narrow, uint32_t node)
{
	uint64_t total = l->paths->items[node].total;

	if (narrow->boxes++ == 0)
		narrow->x = l->x[node];
	narrow->total += total;
	l->narrow_total += total;
	if (narrow->total >= l->narrowest && l->depth[node] > l->deepest)
		l->deepest = l->depth[node];
}

/* Places a node, after its parent. */
static enum place flame_place(struct layout *l, uint32_t node)
{
	const struct fxt_path *path = &l->paths->items[node];

	if (path->total == 0 || l->place[path->parent] != DRAWN)
		return path->total == 0 ? NOT_DRAWN : l->place[path->parent];
	if (path->total < l->narrowest) {
		flame_omit(l, &l->narrow[path->parent], node);
		return TOO_NARROW;
	}
	return DRAWN;
}

/*
 * Puts the sorted nodes level by level, the children of one parent together. Walkers that
 * work side by side number the nodes in any order; without this step the same trace could
 * give the boxes in another order.
 */
static void flame_order_by_level(uint32_t *order, const struct fxt_paths *paths)
{
	uint32_t *sorted = fxt_allocate(paths->count * sizeof(*sorted));
	/* child; 0: there is none */
	uint32_t *first = fxt_allocate(paths->count * sizeof(*first));
	size_t end = 1;

	memcpy(sorted, order, paths->count * sizeof(*sorted));
	for (uint32_t i = (uint32_t)paths->count - 1; i > 0; i--)
		first[paths->items[sorted[i]].parent] = i;
	for (size_t at = 0; at < end; at++)
		for (uint32_t i = first[order[at]];
		        i > 0 && i < paths->count && paths->items[sorted[i]].parent == order[at]; i++)
			order[end++] = sorted[i];
	free(first);
	free(sorted);
}

static void flame_lay_out(struct layout *l, const struct fxt_flame_tree *tree)
{
	size_t count = tree->paths.count;

	*l = (struct layout){.paths = &tree->paths,
	        .narrowest = tree->paths.items[0].total / WIDTH,
	        .order = fxt_allocate(count * sizeof(*l->order)),
	        .x = fxt_allocate(count * sizeof(*l->x)),
	        .next_x = fxt_allocate(count * sizeof(*l->next_x)),
	        .depth = fxt_allocate(count * sizeof(*l->depth)),
	        .place = fxt_allocate(count * sizeof(*l->place)),
	        .narrow = fxt_allocate(count * sizeof(*l->narrow))};
	for (uint32_t i = 0; i < count; i++)
		l->order[i] = i;
	sorted_tree = tree;
	if (count > 1) {
		qsort(l->order + 1, count - 1, sizeof(*l->order), flame_compare);
		flame_order_by_level(l->order, &tree->paths);
	}
	l->place[0] = DRAWN;
	/* A parent's number is lower than its children's, so parents are placed first. */
	for (size_t i = 1; i < count; i++) {
		uint32_t node = l->order[i];
		const struct fxt_path *path = &l->paths->items[node];

		l->x[node] = l->next_x[node] = l->next_x[path->parent];
		l->next_x[path->parent] += path->total;
		l->depth[node] = l->depth[path->parent] + 1;
		l->place[node] = (uint8_t)flame_place(l, node);
		l->narrow_boxes += l->place[node] == TOO_NARROW;
		if (l->place[node] == DRAWN && l->depth[node] > l->deepest)
			l->deepest = l->depth[node];
	}
}

static void flame_free_layout(struct layout *l)
{
	free(l->order);
	free(l->x);
	free(l->next_x);
	free(l->depth);
	free(l->place);
	free(l->narrow);
}

/* ---- text ---- */

struct fxt_flame_text fxt_flame_text(enum fxt_flame_cost cost, double value)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	struct fxt_flame_text result;
	unsigned unit = 0;

	if (fxt_flame_is_time(cost)) {
		snprintf(result.text, sizeof(result.text), "%s", fxt_time_text(value).text);
	} else if (cost == FXT_FLAME_CALLS) {
		snprintf(result.text, sizeof(result.text), "%.0f call%s", value, value == 1 ? "" : "s");
	} else {
		while (unit < 4 && value >= 1023.95) {
			value /= 1024;
			unit++;
		}
		snprintf(result.text, sizeof(result.text), "%.*f %s", unit > 0, value, units[unit]);
	}
	return result;
}

static void flame_write_change(FILE *out, enum fxt_flame_cost cost, uint64_t before, uint64_t now)
{
	double change = (double)now - (double)before;

	fprintf(out, "; was %s", fxt_flame_text(cost, (double)before).text);
	if (before > 0 && now != before)
		fprintf(out, ", %+.1f %%", 100 * change / (double)before);
}

static void flame_write_title(FILE *out, const struct fxt_flame_tree *tree, enum fxt_flame_cost cost,
        uint32_t node, struct fxt_span name)
{
	const struct fxt_path *path = &tree->paths.items[node];
	uint64_t all = tree->paths.items[0].total;

	fputs("<title>", out);
	fxt_xml_write(out, name);
	fprintf(out, "\n%s, %.2f %%", fxt_flame_text(cost, (double)path->total).text,
	        all > 0 ? 100 * (double)path->total / (double)all : 0);
	if (path->self != path->total && path->self > 0)
		fprintf(out, "; itself %s", fxt_flame_text(cost, (double)path->self).text);
	if (path->calls > 0 && cost != FXT_FLAME_CALLS)
		fprintf(out, "; %" PRIu64 " %s%s", path->calls, fxt_flame_is_heap(cost) ? "block" : "call",
		        fxt_plural(path->calls));
	if (path->open > 0)
		fprintf(out, ", %" PRIu64 " not ended", path->open);
	if (path->levels > 0)
		fprintf(out, "; up to %" PRIu32 " inside each other", path->levels);
	if (tree->before)
		flame_write_change(out, cost, tree->before[node], path->total);
	fputs("</title>", out);
}

/* ---- colours ---- */

/* The hue of a name is the same in every picture, whatever else it shows. */
static unsigned flame_hue(struct fxt_span name)
{
	uint32_t hash = 2166136261;

	for (size_t i = 0; i < name.bytes && name.data[i] != '(' && name.data[i] != '<'; i++)
		hash = (hash ^ (unsigned char)name.data[i]) * 16777619;
	return (hash ^ hash >> 15) % HUES;
}

/* The change as a level from -4, reduced to less than a half, to 4, more than doubled. A
 * thousandth of all is no change. */
static int flame_change(uint64_t before, uint64_t now, uint64_t all)
{
	uint64_t more = now > before ? now : before, less = now > before ? before : now;

	if (more == less || more - less < all / 1000)
		return 0;
	int steps = 1 + (int)(6 * (double)(more - less) / (double)more);

	steps = steps > 4 ? 4 : steps;
	return now > before ? steps : -steps;
}

static void flame_write_class(
        FILE *out, const struct fxt_flame_tree *tree, uint32_t node, struct fxt_span name)
{
	const struct fxt_path *path = &tree->paths.items[node];

	if (tree->before) {
		int change = flame_change(tree->before[node], path->total, tree->paths.items[0].total);

		fprintf(out, "%c%d", change > 0 ? 'm' : change < 0 ? 'l' : 'e', abs(change));
	} else if (path->kind == FXT_PATH_CALL) {
		fprintf(out, "h%u", flame_hue(name));
	} else {
		fputs(path->kind == FXT_PATH_OTHER ? "o" : "g", out);
	}
}

/* ---- boxes ---- */

static void flame_write_place(FILE *out, double x, unsigned y, double share)
{
	fprintf(out, " x=\"%.5g%%\" y=\"%u\" width=\"%.5g%%\" height=\"%d\"", 100 * x, y, 100 * share, ROW);
}

static void flame_write_box(FILE *out, const struct fxt_flame_tree *tree, enum fxt_flame_cost cost,
        const struct layout *l, uint32_t node)
{
	const struct fxt_path *path = &tree->paths.items[node];
	double all = (double)tree->paths.items[0].total;
	double share = all > 0 ? (double)path->total / all : 1, x = all > 0 ? (double)l->x[node] / all : 0;
	struct fxt_span name = node == 0 ? fxt_span("all") : tree->tables->strings[path->name];

	fputs("<svg class=\"b ", out);
	flame_write_class(out, tree, node, name);
	fputs(share * WIDTH < TEXT_WIDTH ? " n\"" : "\"", out);
	flame_write_place(out, x, HEADER + ROW * l->depth[node], share);
	if (l->narrow[node].total > 0)
		fprintf(out, " data-narrow=\"%" PRIu64 "\"", l->narrow[node].total);
	fprintf(out, " data-total=\"%" PRIu64 "\" data-self=\"%" PRIu64 "\" data-calls=\"%" PRIu64 "\"",
	        path->total, path->self, path->calls);
	if (tree->before)
		fprintf(out, " data-before=\"%" PRIu64 "\"", tree->before[node]);
	fputs(">", out);
	flame_write_title(out, tree, cost, node, name);
	fputs("<rect width=\"100%\" height=\"100%\"/><text x=\"4\" y=\"13\">", out);
	fxt_xml_write(out, name);
	if (path->levels > 0)
		fprintf(out, " x %" PRIu32, path->levels);
	fputs("</text></svg>\n", out);
}

/* Draws the narrow boxes below a node as one box: otherwise their width would look like
 * the node's own time. */
static void flame_write_narrow(FILE *out, enum fxt_flame_cost cost, const struct layout *l, uint32_t node)
{
	const struct narrow *narrow = &l->narrow[node];
	double all = (double)l->paths->items[0].total, share = (double)narrow->total / all;

	fputs("<svg class=\"narrow\"", out);
	flame_write_place(out, (double)narrow->x / all, HEADER + ROW * (l->depth[node] + 1), share);
	fprintf(out,
	        "><title>%" PRIu32 " box%s too narrow to be drawn\n%s, %.2f %%</title>"
	        "<rect width=\"100%%\" height=\"100%%\"/></svg>\n",
	        narrow->boxes, narrow->boxes == 1 ? "" : "es",
	        fxt_flame_text(cost, (double)narrow->total).text, 100 * share);
}

/* Writes what a reader must know to trust the picture. */
static void flame_write_warnings(FILE *out, const struct fxt_flame_tree *tree, const struct layout *l)
{
	fputs("<text class=\"warning\" x=\"4\" y=\"37\">", out);
	if (tree->records_lost > 0)
		fprintf(out, "%s%" PRIu64 " record%s missing. ", fxt_tables_least(tree->tables),
		        tree->records_lost, tree->records_lost == 1 ? " is" : "s are");
	if (!tree->is_finished)
		fputs("The trace is unfinished. ", out);
	if (tree->is_recovered)
		fputs("The trace was recovered: processes that came later are missing. ", out);
	if (tree->scan.cut.what)
		fputs("The trace is a part of another one. ", out);
	if (tree->scan.elided_sums.calls > 0)
		fprintf(out, "Calls %s (fxtrun --min-duration, --max-calls). ",
		        fxt_elided_sums_text(
		                &tree->scan.elided_sums, fxt_scan_ns(&tree->scan, tree->scan.elided_sums.own))
		                .text);
	if (tree->recursion > 0)
		fprintf(out,
		        "<tspan class=\"note\">Recursion deeper than %d calls is folded: at most %" PRIu32
		        " levels into one box. </tspan>",
		        FXT_RECURSION_LEVELS, tree->recursion);
	if (l->narrow_boxes > 0)
		fprintf(out,
		        "<tspan class=\"note\">Too narrow to be drawn: %" PRIu64 " box%s, %.2f %%.</tspan>",
		        l->narrow_boxes, l->narrow_boxes == 1 ? "" : "es",
		        100 * (double)l->narrow_total / (double)l->paths->items[0].total);
	fputs("</text>\n", out);
}

void fxt_flame_svg_write(FILE *out, const struct fxt_flame_tree *tree, const struct fxt_flame_wanted *wanted,
        const char *title)
{
	struct layout l;

	flame_lay_out(&l, tree);
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame %s\" width=\"%d\" height=\"%u\">\n"
	        "<title>",
	        fxt_flame_is_heap(wanted->cost) ? "heap" : "time", WIDTH, HEADER + ROW * (l.deepest + 1) + 8);
	fxt_xml_write(out, fxt_span(title));
	fprintf(out, "</title>\n<style>\n%s</style>\n", flame_style);
	fputs("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
	      "<text class=\"title\" x=\"4\" y=\"18\">",
	        out);
	fxt_xml_write(out, fxt_span(title));
	fputs("</text>\n", out);
	flame_write_warnings(out, tree, &l);
	for (size_t i = 0; i < tree->paths.count; i++)
		if (l.place[l.order[i]] == DRAWN)
			flame_write_box(out, tree, wanted->cost, &l, l.order[i]);
	for (size_t i = 0; i < tree->paths.count; i++)
		if (l.narrow[l.order[i]].boxes > 0 && l.narrow[l.order[i]].total >= l.narrowest)
			flame_write_narrow(out, wanted->cost, &l, l.order[i]);
	fprintf(out, "<script>//<![CDATA[\n%s//]]></script>\n</svg>\n", flame_script);
	flame_free_layout(&l);
}
