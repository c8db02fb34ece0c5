/*
 * Settles which strings of a trace mean one function, and gives functions of one name texts
 * that differ (namesakes.h). Runs once, after the scan, on the thread that reads the trace.
 * Must take little time for thousands of namesakes, and must never trust a path's length.
 */
#include "namesakes.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "text.h"

/* The features that may tell functions of one name apart. */
enum part { NONE, MODULE, MODULE_PATH, FILE_NAME, FILE_PATH, OFFSET };

/* The first of these that no namesake shares is shown. */
static const enum part labels[][2] = {
        {MODULE, NONE},
        {FILE_NAME, NONE},
        {MODULE, FILE_NAME},
        {OFFSET, NONE},
        {MODULE_PATH, NONE},
        {FILE_PATH, NONE},
        {MODULE_PATH, FILE_PATH},
        {MODULE_PATH, OFFSET},
};
#define LABELS (sizeof(labels) / sizeof(*labels))

/* One of several functions with a name. */
struct namesake {
	struct fxt_identity *identity;
	const struct fxt_tables *tables;
	const enum part *label; /* NULL: not found yet */
	unsigned candidate;     /* the label that is being tried */
};

/* ---- which are one function ---- */

static int namesakes_by_function(const void *left, const void *right)
{
	const struct fxt_identity *a = *(struct fxt_identity *const *)left,
	                          *b = *(struct fxt_identity *const *)right;
	uint64_t at_a = a->file == FXT_NOTHING ? a->offset : 0, at_b = b->file == FXT_NOTHING ? b->offset : 0;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (at_a > at_b) - (at_a < at_b);
}

/* ---- what tells them apart ---- */

struct fxt_span fxt_path_base(struct fxt_span path)
{
	const char *slash = path.bytes > 0 ? memrchr(path.data, '/', path.bytes) : NULL;
	size_t before = slash ? (size_t)(slash + 1 - path.data) : 0;

	return (struct fxt_span){path.data + before, path.bytes - before};
}

static struct fxt_span namesakes_text(const struct namesake *n, enum part part)
{
	uint32_t id = part == MODULE || part == MODULE_PATH ? n->identity->module : n->identity->file;
	struct fxt_span path = id == FXT_NOTHING ? fxt_span("") : n->tables->strings[id];

	/* No system has such paths, and comparing them again and again would take long. */
	if (path.bytes > PATH_MAX)
		path.bytes = 0;
	return part == MODULE || part == FILE_NAME ? fxt_path_base(path) : path;
}

static int namesakes_compare_part(const struct namesake *a, const struct namesake *b, enum part part)
{
	uint64_t at_a = a->identity->offset, at_b = b->identity->offset;

	if (part == NONE)
		return 0;
	if (part == OFFSET)
		return (at_a > at_b) - (at_a < at_b);
	return fxt_spans_compare(namesakes_text(a, part), namesakes_text(b, part));
}

static int namesakes_by_label(const void *left, const void *right)
{
	const struct namesake *a = left, *b = right;
	const enum part *label = labels[a->candidate];
	int by_first = namesakes_compare_part(a, b, label[0]);

	return by_first ? by_first : namesakes_compare_part(a, b, label[1]);
}

static bool namesakes_has_part(const struct namesake *n, enum part part)
{
	return part == NONE ||
	       (part == OFFSET ? n->identity->offset != 0 : namesakes_text(n, part).bytes > 0);
}

/* Gives a label to those whose label no other has. Returns how many still have none. */
static size_t namesakes_try_label(struct namesake *all, size_t count, unsigned candidate)
{
	const enum part *label = labels[candidate];
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		all[i].candidate = candidate;
	qsort(all, count, sizeof(*all), namesakes_by_label);
	for (size_t i = 0; i < count; i++) {
		bool is_shared = (i > 0 && namesakes_by_label(&all[i - 1], &all[i]) == 0) ||
		                 (i + 1 < count && namesakes_by_label(&all[i], &all[i + 1]) == 0);

		if (!all[i].label && !is_shared && namesakes_has_part(&all[i], label[0]) &&
		        namesakes_has_part(&all[i], label[1]))
			all[i].label = label;
		left += !all[i].label;
	}
	return left;
}

static void namesakes_put(FILE *out, struct fxt_span text)
{
	fwrite(text.data, 1, text.bytes, out);
}

static void namesakes_put_part(FILE *out, const struct namesake *n, enum part part)
{
	if (part == OFFSET)
		fprintf(out, "0x%" PRIx64, n->identity->offset);
	else if (part != NONE)
		namesakes_put(out, namesakes_text(n, part));
}

static void namesakes_write(FILE *out, const struct namesake *n)
{
	namesakes_put(out, n->tables->strings[n->identity->name]);
	fputs(" [", out);
	namesakes_put_part(out, n, n->label[0]);
	if (n->label[1] != NONE)
		fputc(' ', out);
	namesakes_put_part(out, n, n->label[1]);
	fputc(']', out);
}

/* The most bytes that the text with this label can have. */
static uint64_t namesakes_bytes(const struct namesake *n)
{
	uint64_t bytes = n->tables->strings[n->identity->name].bytes + sizeof(" [0x0123456789abcdef ]");

	for (unsigned i = 0; i < 2; i++)
		if (n->label[i] != NONE && n->label[i] != OFFSET)
			bytes += namesakes_text(n, n->label[i]).bytes;
	return bytes;
}

static void namesakes_label(struct fxt_tables *t, struct namesake *all, size_t count, uint64_t *most_bytes)
{
	for (unsigned i = 0; i < LABELS; i++)
		if (namesakes_try_label(all, count, i) == 0)
			break;
	for (size_t i = 0; i < count; i++) {
		struct fxt_identity *identity = all[i].identity;
		size_t bytes;

		if (!all[i].label || namesakes_bytes(&all[i]) > *most_bytes)
			continue;
		*most_bytes -= namesakes_bytes(&all[i]);

		FILE *out = fxt_memory_open(&identity->text, &bytes);

		namesakes_write(out, &all[i]);
		fxt_memory_close(out, &identity->text);
		t->strings[identity->id] = (struct fxt_span){identity->text, bytes};
		/* Whoever looks the text up finds the function. */
		fxt_index_add(&t->string_index, fxt_hash_bytes(identity->text, bytes), identity->id);
	}
}

/* Settles the functions of one name, which are in the order of namesakes_by_function().
 * has_span: spans have the name too. */
static void namesakes_of_name(
        struct fxt_tables *t, struct fxt_identity **same, size_t count, uint64_t *most_bytes, bool has_span)
{
	struct namesake *all = fxt_resize(NULL, count, sizeof(*all));
	size_t functions = 0;

	for (size_t i = 0; i < count; i++) {
		if (i == 0 || namesakes_by_function(&same[i - 1], &same[i]) != 0)
			all[functions++] = (struct namesake){.identity = same[i], .tables = t};
		t->settled[same[i]->id] = all[functions - 1].identity->id;
	}
	if (functions > 1 || has_span)
		namesakes_label(t, all, functions, most_bytes);
	for (size_t i = 0; functions == 1 && !has_span && i < count; i++)
		t->settled[same[i]->id] = same[i]->name;
	free(all);
}

/* ---- spans ---- */

/* Counts the functions and spans of each name, by string; the caller frees the result. */
static uint32_t *namesakes_count(const struct fxt_tables *t)
{
	uint32_t *counts = fxt_allocate(t->string_count * sizeof(*counts));

	for (size_t i = 0; i < t->identity_count; i++)
		counts[t->identities[i].name]++;
	for (size_t i = 0; i < t->span_count; i++)
		counts[t->spans[i].name]++;
	return counts;
}

static void namesakes_settle_spans(struct fxt_tables *t, uint64_t most_bytes)
{
	uint32_t *counts = namesakes_count(t);
	bool *is_shared = fxt_allocate(t->span_count + 1);

	for (size_t i = 0; i < t->span_count; i++)
		is_shared[i] = counts[t->spans[i].name] > 1;
	fxt_tables_settle_spans(t, is_shared, most_bytes);
	free(is_shared);
	free(counts);
}

/* ---- the tables ---- */

static void namesakes_settle_providers(struct fxt_tables *t)
{
	for (size_t i = 0; i < t->provider_count; i++) {
		struct fxt_index_table *strings = &t->providers[i]->strings;
		struct fxt_index_entry entry;

		for (uint32_t at = 0; fxt_index_table_next(strings, &at, &entry);)
			fxt_index_table_set(strings, entry.index, t->settled[entry.id]);
	}
}

static void namesakes_settle_functions(struct fxt_tables *t, uint64_t *most_bytes)
{
	struct fxt_identity **order = fxt_resize(NULL, t->identity_count, sizeof(*order));
	bool *has_span = fxt_allocate(t->string_count);
	size_t count = t->identity_count, next;

	for (size_t i = 0; i < t->span_count; i++)
		has_span[t->spans[i].name] = true;
	for (size_t i = 0; i < count; i++)
		order[i] = &t->identities[i];
	qsort(order, count, sizeof(*order), namesakes_by_function);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count && order[next]->name == order[i]->name;)
			next++;
		namesakes_of_name(t, order + i, next - i, most_bytes, has_span[order[i]->name]);
	}
	free(has_span);
	free(order);
}

void fxt_namesakes_settle(struct fxt_tables *t, struct fxt_origins *origins, uint64_t most_bytes)
{
	if (t->span_count > 0)
		namesakes_settle_spans(t, most_bytes / 2);
	if (t->identity_count == 0)
		return;
	most_bytes -= most_bytes / 2;
	fxt_origins_identify(origins, t);
	t->settled = fxt_resize(NULL, t->string_count, sizeof(*t->settled));
	for (uint32_t i = 0; i < t->string_count; i++)
		t->settled[i] = i;
	namesakes_settle_functions(t, &most_bytes);
	namesakes_settle_providers(t);
	fxt_origins_settle(origins, t);
}
