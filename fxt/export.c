/*
 * fxt export: writes a trace in the format of another tool; fxt/export/ has the formats.
 * Runs on the main thread. It must never ignore a choice of calls that a format cannot
 * express: it refuses it.
 */
#include "fxt/export/export.h"

#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "named.h"
#include "options.h"
#include "output.h"
#include "reader/trace/source.h"
#include "reader/trace/text.h"

static const char help_begin[] = "usage: fxt export --to=FORMAT [OPTION]... [FILE]\n"
                                 "\n"
                                 "Writes a trace in the format of another tool:\n";
static const char help_end[] =
        "\n"
        "  -o, --output=OUT  the output; - is the standard output; compressed if it ends\n"
        "                    in .gz or .zst [FILE with another ending]\n"
        "  --cost=COST       folded: time, off-cpu, calls, peak, leaked, allocated or\n"
        "                    temporary [time]\n"
        "  --threads         folded, callgrind, pprof: each thread by itself, instead of\n"
        "                    each process\n"
        "\n"
        "Calls can be chosen for speedscope, firefox, folded, callgrind and pprof; other\n"
        "formats have all.\n" FXT_HELP_CHOICE FXT_HELP_FILE;

struct exporter {
	const char *name, *ending, *summary;
	unsigned properties;
	void (*run)(struct fxt_export *e);
};

static const struct exporter exporters[] = {
#define EXPORTER_ROW(name, ending, properties, summary) \
	{#name, ending, summary, properties, fxt_export_##name},
        FXT_EXPORTERS(EXPORTER_ROW)
#undef EXPORTER_ROW
};
enum { EXPORTERS = sizeof(exporters) / sizeof(*exporters) };

/* Compares names: a format's has hyphens where the function's has underscores. */
static bool export_is_named(const struct exporter *exporter, const char *name)
{
	size_t i = 0;

	while (name[i] && (exporter->name[i] == '_' ? '-' : exporter->name[i]) == name[i])
		i++;
	return name[i] == exporter->name[i];
}

static const struct exporter *export_named(const char *name)
{
	for (int i = 0; i < EXPORTERS; i++)
		if (export_is_named(&exporters[i], name))
			return &exporters[i];
	return NULL;
}

/* True if the format's output can have this name. */
static bool export_can_be(const struct exporter *exporter, const char *file)
{
	return !(exporter->properties & FXT_EXPORT_OF_FILES) ||
	       (strcmp(file, "-") != 0 && !fxt_ends_with(fxt_span(file), ".gz") &&
	               !fxt_ends_with(fxt_span(file), ".zst"));
}

static int export_trace(const struct exporter *exporter, const char *name, const char *file,
        const struct fxt_flame_wanted *wanted)
{
	struct fxt_source source;
	struct fxt_output out;
	struct fxt_export e = {.name = name, .source = &source, .wanted = *wanted, .file = file};
	char error[4096 + 256];

	if (fxt_named_source_open(&source, name, error, sizeof(error)) != 0) {
		fprintf(stderr, "fxt: %s\n", error);
		return FXT_FAILED;
	}
	if (exporter->properties & FXT_EXPORT_OF_FILES) {
		exporter->run(&e);
	} else if (fxt_output_open(&out, file, &source.file) == 0) {
		e.out = out.file;
		exporter->run(&e);
		if (e.status == FXT_FAILED)
			fxt_output_abandon(&out);
		else if (fxt_output_close(&out) != 0)
			e.status = FXT_FAILED;
	} else {
		e.status = FXT_FAILED;
	}
	fxt_source_close(&source);
	return e.status;
}

/* The help text, with a line for each format. */
static char *export_help(void)
{
	char *text;
	size_t bytes;
	FILE *help = fxt_memory_open(&text, &bytes);

	fputs(help_begin, help);
	for (int i = 0; i < EXPORTERS; i++) {
		const char *name = exporters[i].name;

		fputs("  ", help);
		for (const char *at = name; *at; at++)
			fputc(*at == '_' ? '-' : *at, help);
		fprintf(help, "%*s%s\n", 13 - (int)strlen(name), "", exporters[i].summary);
	}
	fputs(help_end, help);
	fxt_memory_close(help, &text);
	return text;
}

/* Options without a letter. */
enum { OPTION_TO = FXT_OPTION_OWN, OPTION_COST, OPTION_THREADS };

int fxt_command_export(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS_CHOICE,
	        {"output", required_argument, NULL, 'o'}, {"to", required_argument, NULL, OPTION_TO},
	        {"cost", required_argument, NULL, OPTION_COST},
	        {"threads", no_argument, NULL, OPTION_THREADS}, {0}};
	const struct exporter *exporter = NULL;
	struct fxt_flame_wanted wanted = {0};
	struct fxt_options chosen = {0};
	char *output = NULL, *help = export_help();
	int option, status;

	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1) {
		if (fxt_options_take(&chosen, argv[0], option))
			continue;
		if (option == OPTION_TO && !(exporter = export_named(optarg)))
			return fxt_bad_usage(argv[0], "no such format: '%s'", optarg);
		if (option == OPTION_COST && !fxt_flame_cost_named(optarg, &wanted.cost))
			return fxt_bad_usage(argv[0], "no such cost: '%s'", optarg);
		if (option == 'o')
			output = optarg;
		wanted.by_thread |= option == OPTION_THREADS;
	}
	free(help);
	if (fxt_flame_is_heap(wanted.cost) && !fxt_query_filter_is_all(&chosen.choice))
		return fxt_bad_usage(argv[0], "with a cost of the heap no calls can be chosen");
	if (exporter && !(exporter->properties & FXT_EXPORT_OF_CHOICE) &&
	        !fxt_query_filter_is_all(&chosen.choice))
		return fxt_bad_usage(argv[0], "this format always has all events: calls cannot be chosen");
	const char *trace = fxt_one_trace(argc, argv);

	if (!trace)
		return FXT_FAILED;
	wanted.choice = &chosen.choice;
	if (!exporter)
		return fxt_bad_usage(argv[0], "no format given: --to=FORMAT");
	char *usual = fxt_output_name(trace, exporter->ending);

	if (!export_can_be(exporter, output ? output : usual))
		return fxt_bad_usage(argv[0],
		        "this format cannot be compressed or written to the standard output; use -o NAME");
	status = export_trace(exporter, trace, output ? output : usual, &wanted);
	if (!output && status != FXT_FAILED && strcmp(usual, "-") != 0)
		printf("%s\n", usual);
	free(usual);
	return status;
}
