/*
 * The options of fxtrun, one row each: their names, their text in --help, and their effect
 * on struct fxt_options. A new option is a new row, plus a setter if its value has a form
 * of its own.
 */
#ifndef FXT_LAUNCHER_FXTRUN_OPTION_TABLE_H
#define FXT_LAUNCHER_FXTRUN_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include "launcher/options.h"

/* The request of a command line. */
enum fxt_command_line_result {
	FXT_COMMAND_LINE_RUN,
	FXT_COMMAND_LINE_HELP,
	FXT_COMMAND_LINE_VERSION,
	FXT_COMMAND_LINE_WRONG,
};

#define FXT_OPTIONS_MAX 64

/* Each row uses one of set, words, is_flag and result. */
struct fxt_option {
	const char *name;
	const char *argument; /* as --help shows it; NULL = no argument */
	const char *help;
	char letter; /* 0 = none */
	/* Stores the value. Returns NULL, or a description of the error; the options are
	 * unusable then. */
	const char *(*set)(struct fxt_options *options, const char *value);
	const char *const *words; /* the value is one of these; its index is stored in an
	                           * enum */
	size_t word_count;
	bool is_flag;                        /* sets a bool to true */
	bool is_optional;                    /* the argument is optional; it is then shown
	                                      * with its = */
	bool is_for_command_line;            /* an output or an action: not allowed in a
	                                      * project's file */
	size_t member;                       /* offset of that enum or bool in struct
	                                      * fxt_options */
	enum fxt_command_line_result result; /* if not RUN, nothing behind this option is
	                                      * read */
};

extern const struct fxt_option fxt_option_table[];
extern const unsigned fxt_option_count;

#endif
