/*
 * pprof's profile: a message Profile of profile.proto. Each call path is a sample with
 * several values: its calls and its own time; and, if the heap was recorded, the bytes it
 * allocated, those live at the peak, and those never freed. Two samples may have the same
 * functions, one with the values of calls and one with those of the heap: readers add them
 * up. Deep recursion is folded, which a comment says (pprof -comments).
 */
#include <inttypes.h>
#include <stdlib.h>
#include "export.h"
#include "perfetto/protobuf.h"

/* Fields of the messages. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_DURATION = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
};

enum { VALUES = 5 }; /* calls, time, and for a heap: allocated, peak, leaked */

/* The first strings. Strings of the trace follow, each when it is first used. */
enum {
	TEXT_NONE,
	TEXT_CALLS,
	TEXT_COUNT,
	TEXT_TIME,
	TEXT_NS,
	TEXT_ALLOCATED,
	TEXT_BYTES,
	TEXT_PEAK,
	TEXT_LEAKED,
	TEXT_GROUP,
	TEXTS
};
static const char *const texts[TEXTS] = {
        "", "calls", "count", "time", "nanoseconds", "allocated", "bytes", "peak", "leaked", "of"};

struct pprof {
	FILE *out;
	struct fxt_message profile, part, inner, line, sample; /* what is not written yet */
	uint32_t *number_of; /* by string id of the tree: the number of its text, or 0 */
	uint64_t strings;    /* number so far */
	unsigned values;     /* of each sample */
};

static void pprof_write(struct pprof *p)
{
	if (p->profile.bytes > 0)
		fwrite(p->profile.data, 1, p->profile.bytes, p->out);
	p->profile.bytes = 0;
}

static void pprof_string(struct pprof *p, struct fxt_span text)
{
	fxt_message_bytes(&p->profile, PROFILE_STRING, text.data, text.bytes);
	p->strings++;
}

static void pprof_type(struct pprof *p, uint64_t type, uint64_t unit)
{
	fxt_message_number(&p->part, TYPE_TYPE, type);
	fxt_message_number(&p->part, TYPE_UNIT, unit);
	fxt_message_message(&p->profile, PROFILE_SAMPLE_TYPE, &p->part);
}

/* Returns the number of a node's name. The first time, also writes a function and a
 * location with this number. */
static uint64_t pprof_function(struct pprof *p, const struct fxt_flame_tree *tree, uint32_t node)
{
	uint32_t name = tree->paths.items[node].name;
	uint32_t *number = &p->number_of[name];

	if (*number != 0)
		return *number;
	*number = (uint32_t)p->strings;
	pprof_string(p, fxt_export_name(tree, name));
	fxt_message_number(&p->part, FUNCTION_ID, *number);
	fxt_message_number(&p->part, FUNCTION_NAME, *number);
	fxt_message_message(&p->profile, PROFILE_FUNCTION, &p->part);
	fxt_message_number(&p->part, LOCATION_ID, *number);
	fxt_message_number(&p->line, LINE_FUNCTION, *number);
	fxt_message_message(&p->part, LOCATION_LINE, &p->line);
	fxt_message_message(&p->profile, PROFILE_LOCATION, &p->part);
	return *number;
}

static void pprof_sample(
        struct pprof *p, const struct fxt_flame_tree *tree, uint32_t node, const uint64_t *values)
{
	uint64_t group = 0;

	for (uint32_t at = node; at != 0; at = tree->paths.items[at].parent) {
		uint64_t number = pprof_function(p, tree, at);

		if (tree->paths.items[at].kind == FXT_PATH_GROUP)
			group = number;
		else
			fxt_message_varint(&p->inner, number);
	}
	fxt_message_message(&p->sample, SAMPLE_LOCATION, &p->inner);
	for (unsigned i = 0; i < p->values; i++)
		fxt_message_varint(&p->inner, values[i]);
	fxt_message_message(&p->sample, SAMPLE_VALUE, &p->inner);
	if (group > 0) {
		fxt_message_number(&p->inner, LABEL_KEY, TEXT_GROUP);
		fxt_message_number(&p->inner, LABEL_TEXT, group);
		fxt_message_message(&p->sample, SAMPLE_LABEL, &p->inner);
	}
	fxt_message_message(&p->profile, PROFILE_SAMPLE, &p->sample);
	pprof_write(p);
}

/* True if the trace has the category "heap": then this name is a string of the trace. */
static bool pprof_has_heap(const struct fxt_tables *tables)
{
	for (size_t i = 0; i < tables->string_count; i++)
		if (fxt_span_is(tables->strings[i], "heap"))
			return true;
	return false;
}

static void pprof_begin(struct pprof *p, bool has_heap)
{
	for (unsigned i = 0; i < TEXTS; i++)
		pprof_string(p, fxt_span(texts[i]));
	pprof_type(p, TEXT_CALLS, TEXT_COUNT);
	pprof_type(p, TEXT_TIME, TEXT_NS);
	if (has_heap) {
		pprof_type(p, TEXT_ALLOCATED, TEXT_BYTES);
		pprof_type(p, TEXT_PEAK, TEXT_BYTES);
		pprof_type(p, TEXT_LEAKED, TEXT_BYTES);
	}
	p->values = has_heap ? VALUES : 2;
	fxt_message_number(&p->profile, PROFILE_DEFAULT_TYPE, TEXT_TIME);
}

static void pprof_comment(struct pprof *p, uint32_t levels)
{
	char text[128];

	snprintf(text, sizeof(text),
	        "recursion deeper than %d calls is folded: up to %" PRIu32 " levels into one frame",
	        FXT_RECURSION_LEVELS, levels);
	fxt_message_number(&p->profile, PROFILE_COMMENT, p->strings);
	pprof_string(p, fxt_span(text));
}

/* Returns false if there is no heap to export. */
static bool pprof_calls(struct pprof *p, struct fxt_export *e)
{
	struct fxt_flame_tree tree;

	if (!fxt_export_folded_tree(e, FXT_FLAME_TIME, &tree))
		return false;
	pprof_begin(p, pprof_has_heap(tree.tables));
	p->number_of = fxt_allocate(tree.tables->string_count * sizeof(*p->number_of));
	fxt_message_number(
	        &p->profile, PROFILE_DURATION, fxt_scan_ns(&tree.scan, tree.scan.end - tree.scan.start));
	if (tree.recursion > 0)
		pprof_comment(p, tree.recursion);
	for (uint32_t i = 1; i < tree.paths.count; i++)
		if (tree.paths.items[i].kind != FXT_PATH_GROUP)
			pprof_sample(p, &tree, i,
			        (uint64_t[VALUES]){tree.paths.items[i].calls, tree.paths.items[i].self});
	free(p->number_of);
	fxt_flame_tree_free(&tree);
	return p->values == VALUES;
}

/* Writes one cost of the heap: its value, and zeros for the others. */
static void pprof_heap(struct pprof *p, struct fxt_export *e, enum fxt_flame_cost cost, unsigned value)
{
	struct fxt_flame_tree tree;
	uint64_t values[VALUES] = {0};

	if (!fxt_export_folded_tree(e, cost, &tree))
		return;
	p->number_of = fxt_allocate(tree.tables->string_count * sizeof(*p->number_of));
	for (uint32_t i = 1; i < tree.paths.count; i++) {
		values[value] = tree.paths.items[i].self;
		if (values[value] > 0)
			pprof_sample(p, &tree, i, values);
	}
	free(p->number_of);
	fxt_flame_tree_free(&tree);
}

void fxt_export_pprof(struct fxt_export *e)
{
	struct pprof p = {.out = e->out};

	if (pprof_calls(&p, e)) {
		pprof_heap(&p, e, FXT_FLAME_ALLOCATED, 2);
		pprof_heap(&p, e, FXT_FLAME_PEAK, 3);
		pprof_heap(&p, e, FXT_FLAME_LEAKED, 4);
	}
	pprof_write(&p);
	free(p.profile.data);
	free(p.part.data);
	free(p.inner.data);
	free(p.line.data);
	free(p.sample.data);
}
