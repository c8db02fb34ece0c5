/*
 * Callgrind's profile format, version 1: for each function its own cost, and the cost of
 * its calls of each other function. (The section "Callgrind Format Specification" of
 * Valgrind's manual.)
 *
 * All costs are attributed to the function's first line: a trace has no line information
 * inside functions. A function inside a call of itself is exported as another function,
 * NAME'2, as Callgrind does with --separate-recs=2, so that a function's inclusive cost
 * counts no time twice.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "export.h"
#include "reader/trace/text.h"

/* A function, or the same function inside a call of itself. */
struct callgrind_function {
	uint32_t name;
	bool is_recursive;
	bool is_named; /* its name is in the file: its number is enough from then on */
	uint64_t self;
	uint32_t first_call; /* number plus 1 of the first edge from this function; edges
	                        form a list */
};

struct callgrind_call {
	uint32_t from, to, next;
	uint64_t calls, total;
};

struct callgrind {
	const struct fxt_flame_tree *tree;
	struct callgrind_function *functions;
	struct callgrind_call *calls;
	size_t function_count, function_room, call_count, call_room;
	struct fxt_index function_index, call_index;
	uint32_t *function_of; /* by node */
	uint32_t *files;       /* by string: number of the file with this name, 0: not
	                          named yet */
	size_t file_room;
	uint32_t file_count;
};

static uint32_t callgrind_function(struct callgrind *c, uint32_t name, bool is_recursive)
{
	uint32_t hash = fxt_hash_word((uint64_t)name << 1 | is_recursive);

	for (struct fxt_probe probe = fxt_probe(&c->function_index, hash);
	        fxt_probe_next(&c->function_index, &probe);)
		if (c->functions[probe.id].name == name &&
		        c->functions[probe.id].is_recursive == is_recursive)
			return probe.id;
	fxt_index_add(&c->function_index, hash, (uint32_t)c->function_count);
	fxt_make_room(c->functions, c->function_count, c->function_room);
	c->functions[c->function_count] =
	        (struct callgrind_function){.name = name, .is_recursive = is_recursive};
	return (uint32_t)c->function_count++;
}

static struct callgrind_call *callgrind_call(struct callgrind *c, uint32_t from, uint32_t to)
{
	uint32_t hash = fxt_hash_word((uint64_t)from << 32 | to);

	for (struct fxt_probe probe = fxt_probe(&c->call_index, hash);
	        fxt_probe_next(&c->call_index, &probe);)
		if (c->calls[probe.id].from == from && c->calls[probe.id].to == to)
			return &c->calls[probe.id];
	fxt_index_add(&c->call_index, hash, (uint32_t)c->call_count);
	fxt_make_room(c->calls, c->call_count, c->call_room);
	c->calls[c->call_count] =
	        (struct callgrind_call){.from = from, .to = to, .next = c->functions[from].first_call};
	c->functions[from].first_call = (uint32_t)c->call_count + 1;
	return &c->calls[c->call_count++];
}

static void callgrind_add(struct callgrind *c, uint32_t node, bool is_recursive)
{
	const struct fxt_paths *paths = &c->tree->paths;
	const struct fxt_path *path = &paths->items[node];
	uint32_t function = callgrind_function(c, path->name, is_recursive);

	c->function_of[node] = function;
	c->functions[function].self += path->self;
	if (paths->items[path->parent].kind == FXT_PATH_GROUP)
		return;
	struct callgrind_call *call = callgrind_call(c, c->function_of[path->parent], function);

	call->calls += path->calls;
	call->total += path->total;
}

/* Sums up the tree from callers to callees, and tracks which functions are open. */
static void callgrind_sum_up(struct callgrind *c)
{
	const struct fxt_paths *paths = &c->tree->paths;
	uint32_t *first = fxt_allocate(paths->count * sizeof(*first)),
	         *next = fxt_allocate(paths->count * sizeof(*next));
	uint32_t *open = fxt_allocate(c->tree->tables->string_count * sizeof(*open)), node;

	c->function_of = fxt_allocate(paths->count * sizeof(*c->function_of));
	for (uint32_t i = (uint32_t)paths->count; i-- > 1;) {
		next[i] = first[paths->items[i].parent];
		first[paths->items[i].parent] = i;
	}
	for (node = first[0]; node != 0;) {
		const struct fxt_path *path = &paths->items[node];

		if (path->kind != FXT_PATH_GROUP)
			callgrind_add(c, node, open[path->name]++ > 0);
		if (first[node] != 0) {
			node = first[node];
			continue;
		}
		for (; node != 0; node = paths->items[node].parent) {
			if (paths->items[node].kind != FXT_PATH_GROUP)
				open[paths->items[node].name]--;
			if (next[node] != 0)
				break;
		}
		node = next[node];
	}
	free(first);
	free(next);
	free(open);
}

/* Writes where a function begins, if the trace says. Returns the line, 0 if it is not
 * known. */
static uint32_t callgrind_write_file(FILE *out, struct callgrind *c, const char *key, uint32_t number)
{
	const struct fxt_origin *origin =
	        fxt_origins_next(&c->tree->scan.origins, c->functions[number].name, NULL);
	uint32_t file = origin ? origin->file : FXT_NOTHING;

	fxt_make_zeroed(c->files, c->file_room, file);
	bool is_new = c->files[file] == 0;

	if (is_new)
		c->files[file] = ++c->file_count;
	fprintf(out, "%s=(%" PRIu32 ")", key, c->files[file]);
	if (is_new) {
		fputc(' ', out);
		fxt_write_text(out, file == FXT_NOTHING ? fxt_span("???") : c->tree->tables->strings[file]);
	}
	fputc('\n', out);
	return origin && file != FXT_NOTHING ? origin->line : 0;
}

static void callgrind_write_name(FILE *out, struct callgrind *c, const char *key, uint32_t number)
{
	struct callgrind_function *f = &c->functions[number];

	fprintf(out, "%s=(%" PRIu32 ")", key, number + 1);
	if (!f->is_named) {
		fputc(' ', out);
		fxt_write_text(out, fxt_export_name(c->tree, f->name));
		if (f->is_recursive)
			fputs("'2", out);
	}
	fputc('\n', out);
	f->is_named = true;
}

static void callgrind_write(FILE *out, struct callgrind *c, const char *trace)
{
	uint64_t all = 0;

	for (size_t i = 0; i < c->function_count; i++)
		all += c->functions[i].self;
	fprintf(out, "# callgrind format\nversion: 1\ncreator: fxt " FXT_VERSION "\ncmd: ");
	fxt_write_text(out, fxt_span(trace));
	fprintf(out, "\npositions: line\nevent: ns : Nanoseconds\nevents: ns\nsummary: %" PRIu64 "\n\n", all);
	for (uint32_t i = 0; i < c->function_count; i++) {
		uint32_t line = callgrind_write_file(out, c, "fl", i);

		callgrind_write_name(out, c, "fn", i);
		fprintf(out, "%" PRIu32 " %" PRIu64 "\n", line, c->functions[i].self);
		for (uint32_t at = c->functions[i].first_call; at != 0; at = c->calls[at - 1].next) {
			const struct callgrind_call *call = &c->calls[at - 1];
			uint32_t begins = callgrind_write_file(out, c, "cfi", call->to);

			callgrind_write_name(out, c, "cfn", call->to);
			fprintf(out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32 " %" PRIu64 "\n", call->calls,
			        begins, line, call->total);
		}
		fputc('\n', out);
	}
}

void fxt_export_callgrind(struct fxt_export *e)
{
	struct fxt_flame_tree tree;
	struct callgrind c = {.tree = &tree};

	if (!fxt_export_tree(e, FXT_FLAME_TIME, &tree))
		return;
	callgrind_sum_up(&c);
	callgrind_write(e->out, &c, e->name);
	fxt_index_free(&c.function_index);
	fxt_index_free(&c.call_index);
	free(c.functions);
	free(c.calls);
	free(c.function_of);
	free(c.files);
	fxt_flame_tree_free(&tree);
}
