#include "commands.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "reader/cursor.h"
#include "reader/source.h"
#include "reader/text.h"

void fxt_options_begin(void)
{
	optind = 0;
	opterr = 0;
}

int fxt_option(int argc, char **argv, const struct option *options, const char *help)
{
	int option = getopt_long(argc, argv, ":h", options, NULL);

	if (option == 'h') {
		fputs(help, stdout);
		exit(FXT_DONE);
	}
	if (option == '?' && optopt == 0)
		exit(fxt_bad_usage(argv[0], "unknown option '%s'", argv[optind - 1]));
	if (option == '?' && argv[optind - 1][1] == '-')
		exit(fxt_bad_usage(argv[0], "option '%s' takes no value", argv[optind - 1]));
	if (option == '?')
		exit(fxt_bad_usage(argv[0], "unknown option '-%c'", optopt));
	if (option == ':')
		exit(fxt_bad_usage(argv[0], "option '%s' needs a value", argv[optind - 1]));
	return option;
}

int fxt_bad_usage(const char *command, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	fprintf(stderr, "fxt %s: ", command);
	vfprintf(stderr, format, values);
	fprintf(stderr, "; see fxt %s --help\n", command);
	va_end(values);
	return FXT_FAILED;
}

int fxt_each_archive(int argc, char **argv, int (*read)(const char *name, const struct fxt_archive *))
{
	int worst = FXT_DONE;

	if (optind == argc)
		return fxt_bad_usage(argv[0], "no trace file given");
	for (; optind < argc; optind++) {
		struct fxt_archive archive;
		char error[4096 + 256];
		int status = FXT_FAILED;

		if (fxt_archive_open(&archive, argv[optind], error, sizeof(error)) == 0) {
			status = read(argv[optind], &archive);
			fxt_archive_close(&archive);
		} else {
			fflush(stdout);
			fprintf(stderr, "fxt: %s\n", error);
		}
		if (status > worst)
			worst = status;
	}
	return worst;
}

int fxt_each_source(int argc, char **argv, int (*read)(const char *name, const struct fxt_source *))
{
	int worst = FXT_DONE;

	if (optind == argc)
		return fxt_bad_usage(argv[0], "no trace file given");
	for (; optind < argc; optind++) {
		struct fxt_source source;
		char error[4096 + 256];
		int status = FXT_FAILED;

		if (fxt_source_open(&source, argv[optind], error, sizeof(error)) == 0) {
			status = read(argv[optind], &source);
			fxt_source_close(&source);
		} else {
			fflush(stdout);
			fprintf(stderr, "fxt: %s\n", error);
		}
		if (status > worst)
			worst = status;
	}
	return worst;
}

int fxt_tell_unread(const char *name, uint64_t malformed, const struct fxt_fault *fault)
{
	fflush(stdout);
	if (malformed > 0)
		fprintf(stderr, "fxt: %s: left out what is malformed, %" PRIu64 " record%s; see fxt check\n",
		        name, malformed, fxt_plural(malformed));
	if (fault->reason)
		fprintf(stderr, "fxt: %s: offset 0x%" PRIx64 ": %s\n", name, fault->offset, fault->reason);
	return malformed > 0 || fault->reason ? FXT_BROKEN : FXT_DONE;
}
