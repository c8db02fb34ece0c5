/*
 * The options that all queries of a trace share: the choice of a part of the trace, and the
 * output format. Also the loop over the files, for commands that answer by walking each.
 *
 *   struct fxt_options wanted = {0};
 *
 *   static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS,
 *           {"sort", ...}, {0}};
 *
 *   while ((option = fxt_option(argc, argv, options, help)) != -1)
 *           if (!fxt_options_take(&wanted, argv[0], option))
 *                   switch (option) ...
 *   return fxt_each_scan(argc, argv, &wanted, answer, state);
 */
#ifndef FXT_FXT_OPTIONS_H
#define FXT_FXT_OPTIONS_H

#include "commands.h"
#include "reader/slices/query_filter.h"
#include "table.h"

struct fxt_options {
	struct fxt_query_filter choice;
	enum fxt_format format;
	uint64_t limit;                           /* rows of a table; 0: not given */
	const struct fxt_scan_listener *listener; /* called by each scan, or NULL */
};

/* The values of options without a letter start here; a command's own start after them.
 * If the value is a letter, it is the option's short form. */
enum {
	FXT_OPTION_CHOICE = 256,
	FXT_OPTION_CSV = FXT_OPTION_CHOICE + FXT_CHOICES,
	FXT_OPTION_MARKDOWN,
	FXT_OPTION_LIBRARY,
	FXT_OPTION_FULL_NAMES,
	FXT_OPTION_OWN
};

/* Entries for a command's table of options. */
#define FXT_OPTIONS_CHOICE                                                                            \
	{"process", required_argument, NULL, 'p'}, {"thread", required_argument, NULL, 't'},          \
	        {"function", required_argument, NULL, 'f'}, {"module", required_argument, NULL, 'm'}, \
	        {"file", required_argument, NULL, FXT_OPTION_CHOICE + FXT_CHOOSE_FILE},               \
	        {"under", required_argument, NULL, 'u'},                                              \
	        {"time", required_argument, NULL, FXT_OPTION_CHOICE + FXT_CHOOSE_TIME},               \
	        {"min", required_argument, NULL, FXT_OPTION_CHOICE + FXT_CHOOSE_MIN},                 \
	{                                                                                             \
		"where", required_argument, NULL, FXT_OPTION_CHOICE + FXT_CHOOSE_WHERE                \
	}

#define FXT_OPTIONS_FORMAT                               \
	{"json", no_argument, NULL, 'j'},                \
	{                                                \
		"csv", no_argument, NULL, FXT_OPTION_CSV \
	}

/* For commands whose answer belongs on a page, too. */
#define FXT_OPTIONS_MARKDOWN                                       \
	{                                                          \
		"markdown", no_argument, NULL, FXT_OPTION_MARKDOWN \
	}

#define FXT_OPTIONS_LIMIT                             \
	{                                             \
		"limit", required_argument, NULL, 'n' \
	}

/* For commands that fold the C++ library (fxt_options_fold()). */
#define FXT_OPTIONS_FOLD                                               \
	{"library", no_argument, NULL, FXT_OPTION_LIBRARY},            \
	{                                                              \
		"full-names", no_argument, NULL, FXT_OPTION_FULL_NAMES \
	}

#define FXT_OPTIONS FXT_OPTIONS_CHOICE, FXT_OPTIONS_FORMAT, FXT_OPTIONS_LIMIT

/* The threads that are shown one by one to people; a server has thousands of coroutines.
 * JSON and CSV have all. */
enum { FXT_THREADS_SHOWN = 20 };

/* The text about these options in a command's help. */
#define FXT_HELP_CHOICE                                                                      \
	"\nThe part of the trace, by default all of it; NAME is a GLOB or a /regex/:\n"      \
	"  -p, --process=NAME   the processes of this name, or number\n"                     \
	"  -t, --thread=NAME    the same, threads\n"                                         \
	"  -f, --function=NAME  these functions; a C++ name may lack its parameters and\n"   \
	"                       namespaces\n"                                                \
	"  -m, --module=NAME    the functions of this program or library\n"                  \
	"      --file=NAME      the functions of this source file\n"                         \
	"  -u, --under=NAME     what happens inside calls of these functions\n"              \
	"      --time=FROM..TO  this part of the time since the trace's start, as\n"         \
	"                       1.5s..1600ms, 2s..; 'last 2s'; 'during NAME', from the\n"    \
	"                       first to the last call of a function; 'during NAME:K', in\n" \
	"                       its K-th longest call\n"                                     \
	"      --min=DURATION   calls that took at least this long, as 20us\n"               \
	"      --where=CONDITION  calls with such arguments, as 'status>=500, path~*.c';\n"  \
	"                       operators: = != < <= > >= and ~ with a GLOB\n"               \
	"  A call that is partly in the time counts with that part.\n"

#define FXT_HELP_FOLD                                                                         \
	"\nThe C++ library's own functions (std::) count as part of their callers, and its\n" \
	"names are shortened, as std::string:\n"                                              \
	"      --library        show them; -f, -m and --file show those that they choose\n"   \
	"      --full-names     names with all template arguments; --json and --csv have\n"   \
	"                       them always\n"

#define FXT_HELP_MARKDOWN "\n      --markdown       tables in Markdown, as for the summary of a CI service\n"

#define FXT_HELP_FORMAT                                                                      \
	"\n  -j, --json           the answer as a JSON document, --csv as CSV; see fxt(1)\n" \
	"On a terminal, lines are fitted into its width, and go through $PAGER.\n"

/* Takes an option if it is one of the above, and returns true then. Ends the program
 * with status 2 if its value is wrong. */
bool fxt_options_take(struct fxt_options *options, const char *command, int option);

/* The command folds the C++ library and shortens its names, unless options say otherwise.
 * To be called before options are taken. */
static inline void fxt_options_fold(struct fxt_options *options)
{
	options->choice.folds_library = options->choice.shortens_names = true;
}

/* Takes all options of a command that has no others. */
void fxt_options_take_all(struct fxt_options *options, int argc, char **argv, const char *help);

/* The number of rows of a table to print. */
static inline uint64_t fxt_options_limit(const struct fxt_options *options, uint64_t usual)
{
	return options->limit > 0 ? options->limit : usual;
}

/*
 * Scans each file in turn, applies the choice, and calls `answer`, between
 * fxt_print_begin() and fxt_print_end(). `answer` gets the command's state, and returns a
 * status: for a walk, the one that fxt_report_changed() returns. Reports what the scan
 * could not read. Returns the worst status. Frees the choice.
 */
int fxt_each_scan(int argc, char **argv, struct fxt_options *options,
        int (*answer)(void *state, const char *name, struct fxt_scan *scan), void *state);

/* Reports what is wrong with a trace, in a line that may have names from the trace. */
void fxt_report_name(const char *name, const char *error);

/* Reports it if a trace could not be read again as a whole. Returns FXT_DONE or
 * FXT_BROKEN. */
int fxt_report_changed(const char *name, bool is_whole);

/* The reason why a trace may have fewer calls than happened, besides the calls that the
 * tracer left out on request; NULL: it has all. */
const char *fxt_lacks_calls(const struct fxt_scan *scan);

/* As above, for the calls of one function, by the id of its name. */
const char *fxt_lacks_calls_of(const struct fxt_scan *scan, uint32_t name);

/* A number of calls for people: "≥ " before it if there may be more. */
struct fxt_count_text {
	char text[32];
};
struct fxt_count_text fxt_calls_text(const struct fxt_scan *scan, uint64_t calls);

/* Prints notes about what happened and is not in the trace: lost, overwritten, cut,
 * unfinished; and the facts. */
void fxt_print_missing(const struct fxt_scan *scan);

#endif
