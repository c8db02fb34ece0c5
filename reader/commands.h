/*
 * The subcommands of `fxt`, each in a file of its own. Each gets its own name as argv[0] and returns the exit
 * status: 0 done, 1 the trace is broken or breaks a rule, 2 wrong usage or a file that cannot be read or
 * written.
 */
#ifndef FXT_READER_COMMANDS_H
#define FXT_READER_COMMANDS_H

int fxt_command_dump(int argc, char **argv);
int fxt_command_check(int argc, char **argv);
int fxt_command_info(int argc, char **argv);
int fxt_command_report(int argc, char **argv);
int fxt_command_symbolize(int argc, char **argv); /* in symbolizer/ */

#endif
