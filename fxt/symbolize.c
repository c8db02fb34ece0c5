#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "commands.h"
#include "reader/trace/text.h"
#include "symbolizer/rewrite.h"

static const char help[] = "usage: fxt symbolize [-o OUT] FILE\n"
                           "\n"
                           "Replaces the addresses of functions in FILE by their demangled names, and adds\n"
                           "their source lines. Programs and libraries are looked for where they were when\n"
                           "the trace was recorded, and debug files where debuggers look; they must have\n"
                           "the recorded build IDs. A function without a name is shown as module+0x1234.\n"
                           "FILE is replaced once the new trace is complete.\n"
                           "\n"
                           "  -o, --output=OUT  leave FILE as it is and write to OUT; FILE may then be -,\n"
                           "                    the standard input; compressed if its name ends in .zst\n";

int fxt_command_symbolize(int argc, char **argv)
{
	static const struct option options[] = {
	        {"help", no_argument, NULL, 'h'}, {"output", required_argument, NULL, 'o'}, {0}};
	struct fxt_rewrite_options rewriting = {.without_room = true, .symbols = true, .heap_profiles = true};
	struct fxt_rewrite_result result;
	char error[4096 + 256];
	const char *output = NULL;
	int option;

	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1)
		output = optarg;
	if (argc - optind != 1)
		return fxt_bad_usage(
		        argv[0], optind == argc ? "no trace file given" : "more than one trace file");
	const char *file = argv[optind];

	struct fxt_span name = fxt_span(file);

	if (!output && strcmp(file, "-") == 0)
		return fxt_bad_usage(argv[0], "the standard input needs -o OUT");
	if (!output && fxt_ends_with(name, ".gz"))
		return fxt_bad_usage(argv[0], "a trace that gzip has compressed needs -o OUT");
	rewriting.compressed = fxt_ends_with(fxt_span(output ? output : file), ".zst");
	if (fxt_rewrite_copy(file, output ? output : file, &rewriting, &result, error, sizeof(error)) != 0) {
		fprintf(stderr, "fxt: %s\n", error);
		return FXT_FAILED;
	}
	if (result.unknown > 0)
		fprintf(stderr, "fxt: %s: no name is known for %" PRIu64 " of %" PRIu64 " functions\n", file,
		        result.unknown, result.functions);
	return fxt_report_unread(file, 0, result.records_unknown, &result.fault);
}
