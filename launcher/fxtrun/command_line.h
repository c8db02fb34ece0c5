/*
 * The command line of fxtrun: options, then the program and its arguments, which are not looked at. Options
 * of a project's file come before those of $FXT_OPTIONS, and both before those given: of two the later
 * counts.
 */
#ifndef FXT_LAUNCHER_FXTRUN_COMMAND_LINE_H
#define FXT_LAUNCHER_FXTRUN_COMMAND_LINE_H

#include <stddef.h>
#include "option_table.h"

/* Fills in *options, defaults where nothing is given. Reorders nothing; strings point into argv, or
 * hold until the next call. With
 * FXT_COMMAND_LINE_WRONG error[error_bytes] holds one line: what is wrong and what to do. */
enum fxt_command_line_result fxt_command_line_parse(
        struct fxt_options *options, int argc, char **argv, char *error, size_t error_bytes);

/* Prints what --help prints. */
void fxt_command_line_help(void);

#endif
