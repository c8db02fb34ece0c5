/*
 * fxt: reads, checks and finishes traces. It is one program with a command for each thing
 * to do with a trace. fxt/ has its main, a file for each command, and the code that
 * commands share. All knowledge of traces is in reader/ and symbolizer/. This is the first
 * header to read.
 *
 * A command gets its own name as argv[0] and returns the exit status: 0 done, 1 the trace
 * is broken or breaks a rule, 2 wrong usage or a file that cannot be read or written. Its
 * output, on the standard output, is for people and grep. Messages about failures go to the
 * standard error, one line each, and name the file.
 */
#ifndef FXT_FXT_COMMANDS_H
#define FXT_FXT_COMMANDS_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

enum { FXT_DONE = 0, FXT_BROKEN = 1, FXT_FAILED = 2 };

/* The commands, in the order of the help. To add one, add a row here and a file with its
 * fxt_command_NAME(). */
#define FXT_COMMANDS(COMMAND)                                                       \
	COMMAND(report, "where the time went, by function")                         \
	COMMAND(tree, "the same, by call path")                                     \
	COMMAND(diff, "functions before and after a change")                        \
	COMMAND(slow, "the slowest calls of a function, and what made them slow")   \
	COMMAND(why, "where one call spent its time, and for whom it waited")       \
	COMMAND(last, "the moments before the end: open calls, waits, signals")     \
	COMMAND(replay, "calls in the order of time")                               \
	COMMAND(locks, "who waited for which lock, and who held it")                \
	COMMAND(counters, "the values of counters over time")                       \
	COMMAND(sql, "queries in SQL")                                              \
	COMMAND(threads, "who ran, waited and was preempted, and for whom")         \
	COMMAND(processes, "the processes: who began whom, how long, which failed") \
	COMMAND(heap, "memory use: peak, leaks, call paths")                        \
	COMMAND(flamegraph, "the calls, or the heap, as a picture: an SVG file")    \
	COMMAND(tui, "functions, call tree and timeline on the terminal")           \
	COMMAND(html, "all of these in one page, for a browser or a mail")          \
	COMMAND(suggest, "what to exclude the next time")                           \
	COMMAND(view, "opens a trace in the Perfetto viewer")                       \
	COMMAND(export, "a trace in the format of another tool")                    \
	COMMAND(cut, "a part of a trace, as a trace of its own")                    \
	COMMAND(merge, "several traces on one timeline, as a trace")                \
	COMMAND(info, "what a trace holds: processes, threads, records, losses")    \
	COMMAND(dump, "every record, a line each")                                  \
	COMMAND(check, "whether a trace keeps every rule of the format")            \
	COMMAND(symbolize, "replaces addresses by function names")

#define FXT_DECLARE_COMMAND(name, summary) int fxt_command_##name(int argc, char **argv);
FXT_COMMANDS(FXT_DECLARE_COMMAND)

/* ---- for commands ---- */

/* Starts option parsing. After fxt_option() has returned -1, optind is the first
 * operand. */
void fxt_options_begin(void);

/* In a command's help, these stand for the figures of a function (reader/stats/figures.h):
 * what each is, and the names of those that tables are sorted by, that are compared, and
 * that have limits. */
#define FXT_HELP_FIGURES  "\1"
#define FXT_HELP_SORTED   "\2"
#define FXT_HELP_COMPARED "\3"
#define FXT_HELP_METRICS  "\4"

/* As getopt_long(), for a table that has "help" with 'h'. An option with a letter as its
 * value has that letter as its short form. Prints `help` and exits with 0 if help is
 * asked for. Reports an option that is not in the table or lacks its value, and exits
 * with 2. */
int fxt_option(int argc, char **argv, const struct option *options, const char *help);

/* Reports wrong usage of the command and points to its help. Returns FXT_FAILED. */
int fxt_bad_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct fxt_archive;
struct fxt_fault;
struct fxt_source;

/* The trace that is read if no file is given. */
#define FXT_USUAL_TRACE "trace.fxt"

/* The last lines of a command's help, about this default. */
#define FXT_HELP_FILE "\nFILE may be -, the standard input; without one, it is " FXT_USUAL_TRACE ".\n"

/* Opens each archive in turn and runs `read` on it, with the command's state. The archive
 * is passed unchanged, for commands about records. Returns the worst status. */
int fxt_each_archive(int argc, char **argv,
        int (*read)(void *state, const char *name, const struct fxt_archive *), void *state);

/* As above, but does not map the file or hold a pipe's contents in memory, and adds the
 * names of functions (named.h). */
int fxt_each_source(int argc, char **argv,
        int (*read)(void *state, const char *name, const struct fxt_source *), void *state);

/* As above, for the given files instead of a command line's operands. Both add the names
 * of functions. */
int fxt_each_archive_of(const char *command, char **files, size_t count,
        int (*read)(void *state, const char *name, const struct fxt_archive *), void *state);
int fxt_each_source_of(const char *command, char **files, size_t count,
        int (*read)(void *state, const char *name, const struct fxt_source *), void *state);

/* Returns the one trace that a command takes: the operand or, if there is none, the
 * default trace. Returns NULL, after reporting it, if there is no trace or more than
 * one. */
const char *fxt_one_trace(int argc, char **argv);

/* As fxt_each_source(), for a command that takes one trace. */
int fxt_one_source(int argc, char **argv,
        int (*read)(void *state, const char *name, const struct fxt_source *), void *state);

/* Reports any part of an archive that could not be read: `malformed` records inside, and
 * everything after a fault. Returns FXT_DONE or FXT_BROKEN. Records of an unknown kind are
 * reported too, and break nothing: readers skip them, and what copies a trace keeps
 * them. */
int fxt_report_unread(const char *name, uint64_t malformed, uint64_t unknown, const struct fxt_fault *fault);

#endif
