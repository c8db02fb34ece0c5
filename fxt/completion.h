/*
 * Completions of fxt's command line for shells: commands and options, with their help.
 * The scripts in completion/ read it. fxt --completion prints the commands, and
 * fxt COMMAND --completion the options. A line has three fields, separated by tabs: the
 * word, the name of its argument as --help shows it, and what it does.
 */
#ifndef FXT_FXT_COMPLETION_H
#define FXT_FXT_COMPLETION_H

#include <getopt.h>
#include <stdbool.h>

/* True if the command line asks for these lines. */
bool fxt_completion_is_asked(int argc, char **argv);

/* Prints the options of a command, with the text that its help has for each. */
void fxt_completion_print(const struct option *options, const char *help);

#endif
