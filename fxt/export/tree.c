#include "export.h"

#include <inttypes.h>
#include "fxt/commands.h"

bool fxt_export_tree(struct fxt_export *e, enum fxt_flame_cost cost, struct fxt_flame_tree *tree)
{
	struct fxt_flame_wanted wanted = e->wanted;

	wanted.cost = cost;
	int status = fxt_flame_tree_read(tree, e->name, e->source, &wanted);

	if (status > e->status)
		e->status = status;
	return status != FXT_FAILED;
}

bool fxt_export_folded_tree(struct fxt_export *e, enum fxt_flame_cost cost, struct fxt_flame_tree *tree)
{
	if (!fxt_export_tree(e, cost, tree))
		return false;
	fxt_flame_tree_fold(tree);
	if (tree->recursion > 0 && !e->tells_folded) {
		fprintf(stderr,
		        "fxt: %s: recursion deeper than %d calls is folded: up to %" PRIu32
		        " calls of a function inside each other are one frame\n",
		        e->name, FXT_RECURSION_LEVELS, tree->recursion);
		e->tells_folded = true;
	}
	return true;
}

struct fxt_span fxt_export_name(const struct fxt_flame_tree *tree, uint32_t name)
{
	struct fxt_span text = tree->tables->strings[name];

	return text.bytes > 0 ? text : fxt_span("(no name)");
}
