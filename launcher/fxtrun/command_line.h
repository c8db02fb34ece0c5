/*
 * The command line of fxtrun: options, then the program and its arguments, which are not
 * interpreted. Options of a project's file are read first, then those of $FXT_OPTIONS, then
 * those of the command line. If an option is given twice, the later one counts.
 */
#ifndef FXT_LAUNCHER_FXTRUN_COMMAND_LINE_H
#define FXT_LAUNCHER_FXTRUN_COMMAND_LINE_H

#include <stddef.h>
#include "launcher/option_table.h"

/* Fills in *options, with defaults for options not given. Does not reorder argv. Strings
 * point into argv, or are valid until the next call. With FXT_COMMAND_LINE_WRONG,
 * error[error_bytes] holds one line: the error and how to fix it. */
enum fxt_command_line_result fxt_command_line_parse(
        struct fxt_options *options, int argc, char **argv, char *error, size_t error_bytes);

/* Prints the text of --help. */
void fxt_command_line_help(void);

/* Prints the options for shells to complete (fxt_option_print_completion()). */
void fxt_command_line_completion(void);

#endif
