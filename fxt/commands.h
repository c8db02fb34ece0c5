/*
 * fxt: reads, checks and finishes traces; one program, a command for each thing to do with a trace. fxt/ has
 * its main, a file for each command, and what commands share; all they know of traces is reader's and
 * symbolizer's. This is the first header to read.
 *
 * A command gets its own name as argv[0] and returns the exit status: 0 done, 1 the trace is broken or breaks
 * a rule, 2 wrong usage or a file that cannot be read or written. What it prints is for people and grep, on
 * the standard output; messages about failures go to the standard error, one line each, and name the file.
 */
#ifndef FXT_FXT_COMMANDS_H
#define FXT_FXT_COMMANDS_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

enum { FXT_DONE = 0, FXT_BROKEN = 1, FXT_FAILED = 2 };

/* The commands, in the order of the help: a new one is a row here and a file with its fxt_command_NAME(). */
#define FXT_COMMANDS(COMMAND)                                                     \
	COMMAND(report, "what the time was spent on, by function")                \
	COMMAND(tree, "the same, by who called whom")                             \
	COMMAND(diff, "what functions took before and after a change")            \
	COMMAND(slow, "the slowest calls of a function, and what made them slow") \
	COMMAND(why, "what one call spent its time on, and whom it waited for")   \
	COMMAND(last, "the moments before the end: open calls, waits, signals")   \
	COMMAND(replay, "calls in the order of time")                             \
	COMMAND(locks, "who waited for which lock, and who held it")              \
	COMMAND(sql, "any question at all, in SQL")                               \
	COMMAND(threads, "who ran, waited and was preempted, and for whom")       \
	COMMAND(heap, "what the memory was used for, by call path")               \
	COMMAND(flamegraph, "the calls, or the heap, as a picture: an SVG file")  \
	COMMAND(tui, "functions, call tree and timeline on the terminal")         \
	COMMAND(html, "all of these in one page, for a browser or a mail")        \
	COMMAND(suggest, "what to leave out the next time")                       \
	COMMAND(view, "opens a trace in the Perfetto viewer")                     \
	COMMAND(export, "a trace in the format of another tool")                  \
	COMMAND(cut, "a part of a trace, as a trace")                             \
	COMMAND(merge, "several traces on one timeline, as a trace")              \
	COMMAND(info, "what a trace holds: processes, threads, records, losses")  \
	COMMAND(dump, "every record, a line each")                                \
	COMMAND(check, "whether a trace keeps every rule of the format")          \
	COMMAND(symbolize, "replaces addresses by function names")

#define FXT_DECLARE_COMMAND(name, summary) int fxt_command_##name(int argc, char **argv);
FXT_COMMANDS(FXT_DECLARE_COMMAND)

/* ---- for commands ---- */

/* Begins to take options apart; optind is the first operand once fxt_option() returned -1. */
void fxt_options_begin(void);

/* getopt_long, for a table that has "help" with 'h'; an option whose value is a letter has that as its short
 * form. Prints `help` and exits with 0 when asked to; for an option that is not in the table, or lacks its
 * value, says so and exits with 2. */
int fxt_option(int argc, char **argv, const struct option *options, const char *help);

/* Tells how the command was used wrongly, and where help is. Returns FXT_FAILED. */
int fxt_bad_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct fxt_archive;
struct fxt_fault;
struct fxt_source;

/* What is read where no file is given. */
#define FXT_USUAL_TRACE "trace.fxt"

/* What a command's help says of that, at its end. */
#define FXT_HELP_FILE "\nFILE may be -, the standard input; without one, it is " FXT_USUAL_TRACE ".\n"

/* Runs `read` on each archive in turn, after opening it: as it is, for commands that are about records.
 * Returns the worst status. */
int fxt_each_archive(int argc, char **argv, int (*read)(const char *name, const struct fxt_archive *));

/* The same without mapping the file, nor holding what comes from a pipe in memory, and with the names of
 * functions (named.h). */
int fxt_each_source(int argc, char **argv, int (*read)(const char *name, const struct fxt_source *));

/* For these files, instead of a command line's operands; both with the names of functions. */
int fxt_each_archive_of(const char *command, char **files, size_t count,
        int (*read)(const char *name, const struct fxt_archive *));
int fxt_each_source_of(const char *command, char **files, size_t count,
        int (*read)(const char *name, const struct fxt_source *));

/* The one trace that a command takes: the operand, or the usual trace. NULL: there is none, or more than one,
 * which was told. */
const char *fxt_one_trace(int argc, char **argv);

/* As fxt_each_source(), of a command that takes one. */
int fxt_one_source(int argc, char **argv, int (*read)(const char *name, const struct fxt_source *));

/* Tells, if there is anything, what of an archive could not be read: `malformed` records inside, and all
 * behind a fault. Returns FXT_DONE or FXT_BROKEN. */
int fxt_tell_unread(const char *name, uint64_t malformed, const struct fxt_fault *fault);

#endif
