/*
 * Folded stacks: one line for each call path with its own cost, "main;parse;read 1234".
 * This is the input format of flamegraph.pl; speedscope and other tools read it too.
 *
 * Deep recursion is folded. A folded frame keeps the function's plain name, so that tools
 * still sum up by function, and lines of two traces still compare.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "export.h"
#include "reader/trace/text.h"

/* Replaces semicolons in a name, because a semicolon ends a name. */
static void folded_write_name(FILE *out, struct fxt_span name)
{
	while (name.bytes > 0) {
		const char *semicolon = memchr(name.data, ';', name.bytes);
		size_t bytes = semicolon ? (size_t)(semicolon - name.data) : name.bytes;

		fxt_write_text(out, (struct fxt_span){name.data, bytes});
		if (semicolon)
			fputc(',', out);
		bytes += semicolon != NULL;
		name.data += bytes;
		name.bytes -= bytes;
	}
}

static void folded_write_path(FILE *out, const struct fxt_flame_tree *tree, uint32_t node)
{
	uint32_t *path = NULL;
	size_t depth = 0, room = 0;

	for (uint32_t at = node; at != 0; at = tree->paths.items[at].parent) {
		fxt_make_room(path, depth, room);
		path[depth++] = tree->paths.items[at].name;
	}
	while (depth > 0) {
		folded_write_name(out, fxt_export_name(tree, path[--depth]));
		fputc(depth > 0 ? ';' : ' ', out);
	}
	free(path);
}

void fxt_export_folded(struct fxt_export *e)
{
	struct fxt_flame_tree tree;

	if (!fxt_export_folded_tree(e, e->wanted.cost, &tree))
		return;
	if (tree.paths.items[0].total == 0)
		fprintf(stderr, "fxt: %s: nothing to be written: %s\n", e->name,
		        fxt_flame_lack(&tree, e->wanted.cost));
	for (uint32_t i = 1; i < tree.paths.count; i++) {
		if (tree.paths.items[i].self == 0)
			continue;
		folded_write_path(e->out, &tree, i);
		fprintf(e->out, "%" PRIu64 "\n", tree.paths.items[i].self);
	}
	fxt_flame_tree_free(&tree);
}
