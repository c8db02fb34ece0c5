/*
 * The code that all commands share: their options, the choice of files, and the loop that
 * opens each. Runs on the main thread. It must not print to the standard output, except for
 * help.
 */
#include "commands.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "completion.h"
#include "named.h"
#include "reader/trace/cursor.h"
#include "reader/slices/nearest.h"
#include "reader/stats/figures.h"
#include "reader/trace/source.h"
#include "reader/trace/text.h"

void fxt_options_begin(void)
{
	optind = 0;
	opterr = 0;
}

/* Collects the short forms: the options with letters as their values. */
static void command_find_letters(const struct option *options, char letters[128])
{
	size_t count = 0;

	letters[count++] = ':';
	for (; options->name && count < 124; options++) {
		if (options->val >= 128 || options->val <= ' ')
			continue;
		letters[count++] = (char)options->val;
		if (options->has_arg == required_argument)
			letters[count++] = ':';
	}
	letters[count] = '\0';
}

/* Reports an unknown option, and suggests the one that was probably meant. */
static int command_unknown_option(const char *command, const char *given, const struct option *options)
{
	const char *meant = fxt_nearest_option(given, options);

	if (!meant)
		return fxt_bad_usage(command, "unknown option '%s'", given);
	return fxt_bad_usage(command, "unknown option '%s' (did you mean --%s?)", given, meant);
}

/* Prints what the figures of fxt report are, a line for each or for several together. */
static void command_print_figures(void)
{
	enum { INDENT = 9 };

	for (enum fxt_figure i = 0, next; i < FXT_FIGURES; i = next) {
		int column = printf("  %s", fxt_figures[i].title);

		for (next = i + 1; next < FXT_FIGURES && !fxt_figures[next].help; next++)
			if (fxt_figures[next].title)
				column += printf(", %s", fxt_figures[next].title);
		printf("%*s", column < INDENT - 2 ? INDENT - column : 2, "");
		for (const char *help = fxt_figures[i].help; *help; help++) {
			putchar(*help);
			if (*help == '\n')
				printf("%*s", INDENT, "");
		}
		putchar('\n');
	}
}

static void command_print_help(const char *help)
{
	for (; *help; help++) {
		if (*help == *FXT_HELP_FIGURES)
			command_print_figures();
		else if (*help == *FXT_HELP_SORTED)
			fputs(fxt_figure_names(FXT_TO_SORT, "name").text, stdout);
		else if (*help == *FXT_HELP_COMPARED)
			fputs(fxt_figure_names(FXT_TO_COMPARE, NULL).text, stdout);
		else if (*help == *FXT_HELP_METRICS)
			fputs(fxt_figure_names(FXT_TO_LIMIT, NULL).text, stdout);
		else
			putchar(*help);
	}
}

int fxt_option(int argc, char **argv, const struct option *options, const char *help)
{
	char letters[128];

	if (fxt_completion_is_asked(argc, argv)) {
		fxt_completion_print(options, help);
		exit(FXT_DONE);
	}
	command_find_letters(options, letters);
	int option = getopt_long(argc, argv, letters, options, NULL);

	if (option == 'h') {
		command_print_help(help);
		printf("\nfxt-%s(1) has more, with examples.\n", argv[0]);
		exit(FXT_DONE);
	}
	if (option == '?' && optopt == 0)
		exit(command_unknown_option(argv[0], argv[optind - 1], options));
	if (option == '?' && argv[optind - 1][0] == '-' && argv[optind - 1][1] == '-')
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

/* The action of a command on each file; one of the two is set. */
struct file_reader {
	int (*read_archive)(void *state, const char *name, const struct fxt_archive *archive);
	int (*read_source)(void *state, const char *name, const struct fxt_source *source);
	void *state;
	bool is_as_it_is; /* the archive unchanged: no names are added */
};

/* Opens one file and passes it to the reader; *status is the result. Returns 0, or -1
 * with one line in error[error_bytes]. */
static int command_read_file(
        const struct file_reader *reader, const char *name, int *status, char *error, unsigned error_bytes)
{
	struct fxt_archive archive;
	struct fxt_source source;

	if (reader->read_source) {
		if (fxt_named_source_open(&source, name, error, error_bytes) != 0)
			return -1;
		*status = reader->read_source(reader->state, name, &source);
		fxt_source_close(&source);
	} else {
		if ((reader->is_as_it_is ? fxt_archive_open : fxt_named_archive_open)(
		            &archive, name, error, error_bytes) != 0)
			return -1;
		*status = reader->read_archive(reader->state, name, &archive);
		fxt_archive_close(&archive);
	}
	return 0;
}

/* Checks that the default trace exists, for a command without a file. Reports it if it
 * does not. */
static bool command_has_usual(const char *command)
{
	if (access(FXT_USUAL_TRACE, F_OK) == 0)
		return true;
	fxt_bad_usage(command, "no trace file given, and there is no " FXT_USUAL_TRACE " here");
	return false;
}

const char *fxt_one_trace(int argc, char **argv)
{
	if (argc - optind > 1) {
		fxt_bad_usage(argv[0], "more than one trace file");
		return NULL;
	}
	if (optind < argc)
		return argv[optind];
	return command_has_usual(argv[0]) ? FXT_USUAL_TRACE : NULL;
}

static int command_each_file(
        const char *command, char **files, size_t count, const struct file_reader *reader)
{
	char *usual[] = {FXT_USUAL_TRACE};
	int worst = FXT_DONE;

	if (count == 0) {
		if (!command_has_usual(command))
			return FXT_FAILED;
		files = usual;
		count = 1;
	}
	for (size_t i = 0; i < count; i++) {
		char error[4096 + 256];
		int status = FXT_FAILED;

		if (command_read_file(reader, files[i], &status, error, sizeof(error)) != 0) {
			fflush(stdout);
			fprintf(stderr, "fxt: %s\n", error);
		}
		if (status > worst)
			worst = status;
	}
	return worst;
}

int fxt_each_archive(int argc, char **argv,
        int (*read)(void *state, const char *name, const struct fxt_archive *), void *state)
{
	const struct file_reader reader = {.read_archive = read, .state = state, .is_as_it_is = true};

	return command_each_file(argv[0], argv + optind, (size_t)(argc - optind), &reader);
}

int fxt_each_source(int argc, char **argv,
        int (*read)(void *state, const char *name, const struct fxt_source *), void *state)
{
	return fxt_each_source_of(argv[0], argv + optind, (size_t)(argc - optind), read, state);
}

int fxt_one_source(int argc, char **argv,
        int (*read)(void *state, const char *name, const struct fxt_source *), void *state)
{
	const char *trace = fxt_one_trace(argc, argv);

	return trace ? fxt_each_source_of(argv[0], (char **)&trace, 1, read, state) : FXT_FAILED;
}

int fxt_each_archive_of(const char *command, char **files, size_t count,
        int (*read)(void *state, const char *name, const struct fxt_archive *), void *state)
{
	return command_each_file(
	        command, files, count, &(struct file_reader){.read_archive = read, .state = state});
}

int fxt_each_source_of(const char *command, char **files, size_t count,
        int (*read)(void *state, const char *name, const struct fxt_source *), void *state)
{
	return command_each_file(
	        command, files, count, &(struct file_reader){.read_source = read, .state = state});
}

int fxt_report_unread(const char *name, uint64_t malformed, uint64_t unknown, const struct fxt_fault *fault)
{
	fflush(stdout);
	if (malformed > 0)
		fprintf(stderr, "fxt: %s: skipped %" PRIu64 " malformed record%s; see fxt check\n", name,
		        malformed, fxt_plural(malformed));
	if (unknown > 0)
		fprintf(stderr,
		        "fxt: %s: has %" PRIu64
		        " record%s of a kind that this fxt does not know; see fxt check\n",
		        name, unknown, fxt_plural(unknown));
	if (fault->reason)
		fprintf(stderr, "fxt: %s: offset 0x%" PRIx64 ": %s\n", name, fault->offset, fault->reason);
	return malformed > 0 || fault->reason ? FXT_BROKEN : FXT_DONE;
}
