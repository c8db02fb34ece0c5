/*
 * fxt flamegraph: draws the time, or the memory, of a trace as a picture. Runs on the main
 * thread; reading walks the trace by several. The picture must say which boxes it lacks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "flame_svg.h"
#include "named.h"
#include "options.h"
#include "output.h"
#include "reader/trace/source.h"
#include "reader/trace/text.h"

static const char help[] = "usage: fxt flamegraph [OPTION]... [FILE]\n"
                           "\n"
                           "Draws a flame graph: one SVG file, for a browser, a mail or a page. A box is a\n"
                           "function as called from the boxes above it, as wide as its share. In a browser\n"
                           "a click on a box zooms to it, Escape goes back, and / searches.\n"
                           "\n"
                           "  -o, --output=OUT  the output; - is the standard output; compressed if it ends\n"
                           "                    in .gz or .zst [FILE with .svg for .fxt]\n"
                           "  --cost=COST       the width of a box:\n"
                           "                      time       time within the function (the default)\n"
                           "                      off-cpu    the part of it in which its thread was on no\n"
                           "                                 CPU, in a trace with context switches\n"
                           "                      calls      number of calls, with the calls inside them\n"
                           "                      peak, leaked, allocated, temporary  bytes of the heap, as\n"
                           "                                                          in fxt heap,\n"
                           "                                 in a trace recorded with fxtrun --heap\n"
                           "  --threads         each thread by itself, instead of each process\n"
                           "  --bottom-up       the functions by their own cost, and their callers below\n"
                           "                    them\n"
                           "  --against=OLD     colour by the change since another trace: red costs more,\n"
                           "                    blue less\n" FXT_HELP_CHOICE FXT_HELP_FOLD FXT_HELP_FILE;

/* The options, and the state while traces are read. */
struct flamegraph_command {
	struct fxt_flame_wanted wanted;
	struct fxt_options chosen;
	const char *output, *against;
};

/* ---- one trace, or two ---- */

static bool flamegraph_open(struct fxt_source *source, const char *name)
{
	char error[4096 + 256];

	if (fxt_named_source_open(source, name, error, sizeof(error)) == 0)
		return true;
	fprintf(stderr, "fxt: %s\n", error);
	return false;
}

static int flamegraph_read(struct flamegraph_command *c, struct fxt_flame_tree *tree, const char *name,
        struct fxt_source *source)
{
	if (!flamegraph_open(source, name))
		return FXT_FAILED;
	int status = fxt_flame_tree_read(tree, name, source, &c->wanted);

	if (status == FXT_FAILED)
		fxt_source_close(source);
	return status;
}

/* ---- the picture ---- */

static char *flamegraph_title(
        struct flamegraph_command *c, const struct fxt_flame_tree *tree, const char *name)
{
	static const char *const what[FXT_FLAME_COSTS] = {
	        [FXT_FLAME_TIME] = "",
	        [FXT_FLAME_OFF_CPU] = " off CPU",
	        [FXT_FLAME_CALLS] = "",
	        [FXT_FLAME_PEAK] = " at the peak",
	        [FXT_FLAME_LEAKED] = " leaked",
	        [FXT_FLAME_ALLOCATED] = " allocated",
	        [FXT_FLAME_TEMPORARY] = " temporary",
	};
	const char *base = strrchr(name, '/');
	char *title;

	if (asprintf(&title, "%s: %s%s%s%s%s", base && strcmp(name, "-") != 0 ? base + 1 : name,
	            fxt_flame_text(c->wanted.cost, (double)tree->paths.items[0].total).text,
	            what[c->wanted.cost], c->wanted.bottom_up ? ", bottom-up" : "",
	            c->against ? ", against " : "", c->against ? c->against : "") < 0)
		fxt_out_of_memory();
	return title;
}

static int flamegraph_write(struct flamegraph_command *c, const struct fxt_flame_tree *tree, const char *name,
        const struct fxt_source *source, const char *file)
{
	char *title = flamegraph_title(c, tree, name);
	struct fxt_output out;
	int failed = fxt_output_open(&out, file, &source->file);

	if (!failed) {
		fxt_flame_svg_write(out.file, tree, &c->wanted, title);
		failed = fxt_output_close(&out);
	}
	if (!failed && !out.is_standard)
		printf("%s: %s\n", file, title);
	free(title);
	return failed ? FXT_FAILED : FXT_DONE;
}

/* Draws a tree; `old` is the tree that it is compared with, or NULL. */
static int flamegraph_draw(struct flamegraph_command *c, struct fxt_flame_tree *tree, const char *name,
        const struct fxt_source *source, const struct fxt_flame_tree *old)
{
	char *file = fxt_output_name(name, "svg");

	if (old)
		fxt_flame_tree_compare(tree, old);
	if (!c->wanted.bottom_up)
		fxt_flame_tree_fold(tree);
	if (tree->paths.items[0].total == 0) {
		fprintf(stderr, "fxt: %s: nothing to be drawn: %s\n", name,
		        fxt_flame_lack(tree, c->wanted.cost));
		free(file);
		return FXT_FAILED;
	}
	int status = flamegraph_write(c, tree, name, source, c->output ? c->output : file);

	free(file);
	return status;
}

static int flamegraph_trace(struct flamegraph_command *c, const char *name)
{
	struct fxt_flame_tree tree, old;
	struct fxt_source source, old_source;
	int status = flamegraph_read(c, &tree, name, &source), drawn;

	if (status == FXT_FAILED)
		return FXT_FAILED;
	if (c->against) {
		int old_status = flamegraph_read(c, &old, c->against, &old_source);

		drawn = old_status == FXT_FAILED ? old_status
		                                 : flamegraph_draw(c, &tree, name, &source, &old);
		if (old_status != FXT_FAILED) {
			fxt_flame_tree_free(&old);
			fxt_source_close(&old_source);
		}
		status = old_status > status ? old_status : status;
	} else {
		drawn = flamegraph_draw(c, &tree, name, &source, NULL);
	}
	fxt_flame_tree_free(&tree);
	fxt_source_close(&source);
	return drawn > status ? drawn : status;
}

/* ---- the command ---- */

/* Options without a letter. */
enum { OPTION_COST = FXT_OPTION_OWN, OPTION_THREADS, OPTION_BOTTOM_UP, OPTION_AGAINST };

int fxt_command_flamegraph(int argc, char **argv)
{
	struct flamegraph_command command = {0}, *c = &command;
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS_CHOICE,
	        FXT_OPTIONS_FOLD, {"output", required_argument, NULL, 'o'},
	        {"cost", required_argument, NULL, OPTION_COST},
	        {"threads", no_argument, NULL, OPTION_THREADS},
	        {"bottom-up", no_argument, NULL, OPTION_BOTTOM_UP},
	        {"against", required_argument, NULL, OPTION_AGAINST}, {0}};
	int option;

	fxt_options_fold(&c->chosen);
	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1) {
		if (fxt_options_take(&c->chosen, argv[0], option))
			continue;
		if (option == OPTION_COST && !fxt_flame_cost_named(optarg, &c->wanted.cost))
			return fxt_bad_usage(argv[0], "no such cost: '%s'", optarg);
		if (option == 'o')
			c->output = optarg;
		if (option == OPTION_AGAINST)
			c->against = optarg;
		c->wanted.by_thread |= option == OPTION_THREADS;
		c->wanted.bottom_up |= option == OPTION_BOTTOM_UP;
	}
	if (fxt_flame_is_heap(c->wanted.cost) && !fxt_query_filter_is_all(&c->chosen.choice))
		return fxt_bad_usage(argv[0], "with a cost of the heap no calls can be chosen");
	const char *trace = fxt_one_trace(argc, argv);

	if (!trace)
		return FXT_FAILED;
	c->wanted.choice = &c->chosen.choice;
	return flamegraph_trace(c, trace);
}
