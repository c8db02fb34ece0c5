/*
 * fxt sql: answers questions about a trace in SQL; fxt/sql/ has the tables. Runs on the
 * main thread. A statement must never change the trace or open a file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "named.h"
#include "options.h"
#include "reader/trace/source.h"
#include "reader/trace/text.h"
#include "sql/database.h"
#include "sql/prompt.h"
#include "sql/statements.h"

static const char help[] =
        "usage: fxt sql [--json | --csv] [-v] [STATEMENT] [FILE]\n"
        "\n"
        "Runs SQL statements, in the dialect of SQLite, on a trace: nothing is imported,\n"
        "and nothing can be changed. Without a statement it reads statements from the\n"
        "standard input or the terminal.\n"
        "\n"
        "      --tables   the tables, their columns, and the meaning of each\n"
        "  -j, --json     the answer as a JSON document, --csv as CSV; see fxt(1)\n"
        "  -v, --verbose  how many bytes were read\n" FXT_HELP_FILE "\n"
        "  fxt sql 'select function, duration from calls order by duration desc limit 10'\n"
        "  fxt sql 'select * from waits_by_lock' other.fxt\n";

/* Reads all of the standard input. */
static char *sql_read_statements(void)
{
	char *text = NULL;
	size_t bytes = 0, room = 0;

	for (;;) {
		if (room - bytes < 2)
			text = fxt_resize(text, room = room ? 2 * room : 4096, 1);
		ssize_t got = read(STDIN_FILENO, text + bytes, room - bytes - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			perror("fxt sql: standard input");
		if (got <= 0)
			break;
		bytes += (size_t)got;
	}
	text[bytes] = '\0';
	return text;
}

/* Runs statements. Returns true if all succeeded. */
static bool sql_answer(struct fxt_sql_trace *trace, const char *statements)
{
	sqlite3 *database = fxt_sql_open(trace);
	bool succeeded = true;

	if (!database) {
		fprintf(stderr, "fxt sql: SQLite cannot be set up\n");
		return false;
	}
	if (statements) {
		fxt_print_trace(trace->name);
		succeeded = fxt_sql_run(database, statements);
	} else if (isatty(STDIN_FILENO)) {
		fxt_sql_prompt(database, trace);
	} else {
		char *text = sql_read_statements();

		fxt_print_trace(trace->name);
		succeeded = fxt_sql_run(database, text);
		free(text);
	}
	fxt_sql_close(database, trace);
	return succeeded;
}

static int sql_read(const char *name, const char *statements, bool is_verbose)
{
	struct fxt_source source;
	struct fxt_sql_trace trace;
	char error[4096 + 256];

	if (fxt_named_source_open(&source, name, error, sizeof(error)) != 0) {
		fprintf(stderr, "fxt: %s\n", error);
		return FXT_FAILED;
	}
	fxt_sql_trace_open(&trace, name, &source, NULL);
	bool succeeded = sql_answer(&trace, statements);
	int status = fxt_report_unread(name, trace.scan.malformed, trace.scan.unknown, &trace.scan.fault);
	int changed = fxt_report_changed(name, !trace.is_short);

	if (is_verbose) {
		fflush(stdout);
		fprintf(stderr,
		        "fxt sql: %s: %" PRIu64 " bytes read once, then %" PRIu64
		        " bytes for the statements\n",
		        name, source.bytes, trace.bytes_read);
	}
	fxt_sql_trace_close(&trace);
	fxt_source_close(&source);
	return !succeeded ? FXT_FAILED : changed > status ? changed : status;
}

/* True if a single operand is the trace rather than a statement. */
static bool sql_is_file(const char *operand)
{
	return strcmp(operand, "-") == 0 || access(operand, F_OK) == 0 || !strpbrk(operand, " \t\n;(");
}

int fxt_command_sql(int argc, char **argv)
{
	enum { TABLES = FXT_OPTION_OWN };
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS_FORMAT,
	        {"verbose", no_argument, NULL, 'v'}, {"tables", no_argument, NULL, TABLES}, {0}};
	struct fxt_options wanted = {0};
	const char *statements = NULL, *name = FXT_USUAL_TRACE;
	bool wants_tables = false, is_verbose = false;
	int option, status = FXT_DONE;

	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1) {
		if (fxt_options_take(&wanted, argv[0], option))
			continue;
		is_verbose |= option == 'v';
		wants_tables |= option == TABLES;
	}
	if (argc - optind > 2)
		return fxt_bad_usage(argv[0], "at most one statement and one file; '%s' is one too many",
		        argv[optind + 2]);
	if (optind < argc && !(argc - optind == 1 && sql_is_file(argv[optind])))
		statements = argv[optind++];
	if (optind < argc)
		name = argv[optind];
	else if (!wants_tables && access(name, F_OK) != 0)
		return fxt_bad_usage(
		        argv[0], "no trace file given, and there is no " FXT_USUAL_TRACE " here");
	if (!statements && strcmp(name, "-") == 0)
		return fxt_bad_usage(
		        argv[0], "the standard input cannot be both the trace and the statements");
	fxt_print_begin(argv[0], wanted.format);
	if (wants_tables)
		fxt_sql_print_tables(NULL);
	else
		status = sql_read(name, statements, is_verbose);
	fxt_print_end();
	return status;
}
