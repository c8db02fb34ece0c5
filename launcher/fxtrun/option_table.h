/*
 * The options of fxtrun, a row each: what they are called, what --help says of them, and what they do to
 * struct fxt_options. A new option is a row here, and a setter if its value is of a form of its own.
 */
#ifndef FXT_LAUNCHER_FXTRUN_OPTION_TABLE_H
#define FXT_LAUNCHER_FXTRUN_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include "launcher/options.h"

/* What a command line asks for. */
enum fxt_command_line_result {
	FXT_COMMAND_LINE_RUN,
	FXT_COMMAND_LINE_HELP,
	FXT_COMMAND_LINE_VERSION,
	FXT_COMMAND_LINE_WRONG,
};

#define FXT_OPTIONS_MAX 64

/* Of set, words, is_flag and result each row has one. */
struct fxt_option {
	const char *name;
	const char *argument; /* as --help shows it; NULL = takes none */
	const char *help;
	char letter; /* 0 = none */
	/* Stores the value. Returns NULL, or what is wrong with it; the options are of no use then. */
	const char *(*set)(struct fxt_options *options, const char *value);
	const char *const *words; /* the value is one of these; its index goes to an enum */
	size_t word_count;
	bool is_flag;                        /* a bool becomes true */
	bool is_optional;                    /* the argument, which then is shown with its = */
	bool is_for_command_line;            /* an output or an action: not for a project's file */
	size_t member;                       /* where that enum or bool is in struct fxt_options */
	enum fxt_command_line_result result; /* if not RUN, nothing after this option is looked at */
};

extern const struct fxt_option fxt_option_table[];
extern const unsigned fxt_option_count;

#endif
