/*
 * The options that all questions to a trace share: what of it they are about, and how the answer is printed.
 * And the loop over the files, for commands that answer by walking over each.
 *
 *   static struct fxt_options wanted;
 *
 *   static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS, {"sort", ...},
 * {0}};
 *
 *   while ((option = fxt_option(argc, argv, options, help)) != -1)
 *           if (!fxt_options_take(&wanted, argv[0], option))
 *                   switch (option) ...
 *   return fxt_each_scan(argc, argv, &wanted, answer);
 */
#ifndef FXT_FXT_OPTIONS_H
#define FXT_FXT_OPTIONS_H

#include "commands.h"
#include "reader/slices/choice.h"
#include "table.h"

struct fxt_options {
	struct fxt_choice choice;
	enum fxt_format format;
	uint64_t limit;                           /* rows of a table; 0: not given */
	const struct fxt_scan_listener *listener; /* that each scan tells, or NULL */
};

/* Values of options that have no letter, from here on; a command's own begin behind them. A value that is a
 * letter is the option's short form. */
enum { FXT_OPTION_CHOICE = 256, FXT_OPTION_CSV = FXT_OPTION_CHOICE + FXT_CHOICES, FXT_OPTION_OWN };

/* Rows of a command's table. */
#define FXT_OPTIONS_CHOICE                                                                            \
	{"process", required_argument, NULL, 'p'}, {"thread", required_argument, NULL, 't'},          \
	        {"function", required_argument, NULL, 'f'}, {"module", required_argument, NULL, 'm'}, \
	        {"file", required_argument, NULL, FXT_OPTION_CHOICE + FXT_CHOOSE_FILE},               \
	        {"under", required_argument, NULL, 'u'},                                              \
	        {"time", required_argument, NULL, FXT_OPTION_CHOICE + FXT_CHOOSE_TIME},               \
	{                                                                                             \
		"min", required_argument, NULL, FXT_OPTION_CHOICE + FXT_CHOOSE_MIN                    \
	}

#define FXT_OPTIONS_FORMAT                               \
	{"json", no_argument, NULL, 'j'},                \
	{                                                \
		"csv", no_argument, NULL, FXT_OPTION_CSV \
	}

#define FXT_OPTIONS_LIMIT                             \
	{                                             \
		"limit", required_argument, NULL, 'n' \
	}

#define FXT_OPTIONS FXT_OPTIONS_CHOICE, FXT_OPTIONS_FORMAT, FXT_OPTIONS_LIMIT

/* What a command's help says of them. */
#define FXT_HELP_CHOICE                                                                                  \
	"\nWhat of a trace, everything if nothing is chosen; NAME is a GLOB or a /regex/:\n"             \
	"  -p, --process=NAME   the processes of this name, or number\n"                                 \
	"  -t, --thread=NAME    the same, threads\n"                                                     \
	"  -f, --function=NAME  these functions; a C++ name may be given without its parameters\n"       \
	"                       and namespaces\n"                                                        \
	"  -m, --module=NAME    the functions of this program or library\n"                              \
	"      --file=NAME      the functions of this source file\n"                                     \
	"  -u, --under=NAME     what happens inside calls of these functions\n"                          \
	"      --time=FROM..TO  this part of the time since the trace's start, as 1.5s..1600ms, 2s..;\n" \
	"                       'last 2s'; 'during NAME', from the first to the last call of a\n"        \
	"                       function; 'during NAME:K', in its K-th longest call\n"                   \
	"      --min=DURATION   calls that took so long at least, as 20us\n"                             \
	"  Of a call that is partly in the time, that part counts.\n"

#define FXT_HELP_FORMAT                                                                      \
	"\n  -j, --json           the answer as a JSON document, --csv as CSV; see fxt(1)\n" \
	"On a terminal, lines are cut to its width, and go through $PAGER.\n"

/* Takes over an option, if it is one of the above. Ends the program with 2 for a value that is wrong. */
bool fxt_options_take(struct fxt_options *options, const char *command, int option);

/* Takes all options of a command that has no others than these. */
void fxt_options_take_all(struct fxt_options *options, int argc, char **argv, const char *help);

/* The rows of a table to be printed. */
static inline uint64_t fxt_options_limit(const struct fxt_options *options, uint64_t usual)
{
	return options->limit > 0 ? options->limit : usual;
}

/*
 * Scans each file in turn, applies the choice, and has it answered, between fxt_print_begin() and
 * fxt_print_end(). `answer` returns a status, fxt_tell_changed() for what a walk returned. What the scan
 * could not read is told. Returns the worst status. The choice is freed.
 */
int fxt_each_scan(int argc, char **argv, struct fxt_options *options,
        int (*answer)(const char *name, struct fxt_scan *scan));

/* Tells what is wrong with a trace, in a line that may have names of it. */
void fxt_tell_name(const char *name, const char *error);

/* Tells if a trace could not be read again as a whole. Returns FXT_DONE or FXT_BROKEN. */
int fxt_tell_changed(const char *name, bool is_whole);

/* Why a trace may have fewer calls than there were, beside those that the tracer was told to leave out; NULL:
 * it has all. */
const char *fxt_lacks_calls(const struct fxt_scan *scan);

/* The same for those of one function, by the id of its name. */
const char *fxt_lacks_calls_of(const struct fxt_scan *scan, uint32_t name);

/* How many calls there are, for people: "≥ " before it if there may be more. */
struct fxt_count_text {
	char text[32];
};
struct fxt_count_text fxt_calls_text(const struct fxt_scan *scan, uint64_t calls);

/* Notes about what a trace does not have that happened: lost, overwritten, cut, unfinished; and the facts. */
void fxt_print_missing(const struct fxt_scan *scan);

#endif
