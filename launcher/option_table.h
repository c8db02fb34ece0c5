/*
 * The options of a recording, one row each. A row serves the options of fxtrun and fxtctl,
 * the fields of a controller's configuration, and the parameters of its other calls. A new
 * option is a new row, plus a reader if its value has a form of its own.
 */
#ifndef FXT_LAUNCHER_OPTION_TABLE_H
#define FXT_LAUNCHER_OPTION_TABLE_H

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include "launcher/options.h"

/* The request of a command line. */
enum fxt_command_line_result {
	FXT_COMMAND_LINE_RUN,
	FXT_COMMAND_LINE_HELP,
	FXT_COMMAND_LINE_VERSION,
	FXT_COMMAND_LINE_BUILD,
	FXT_COMMAND_LINE_WRONG,
};

#define FXT_OPTIONS_MAX 64

/* Commands of fxtctl, and the calls of the control socket that they make. */
enum fxtctl_taker {
	FXTCTL_START = 1,     /* StartTracing */
	FXTCTL_STOP = 2,      /* StopTracing */
	FXTCTL_FILTER = 4,    /* SetFilter */
	FXTCTL_TRIGGER = 8,   /* SetTrigger */
	FXTCTL_RECORD = 16,   /* InitializeTracing */
	FXTCTL_SNAPSHOT = 32, /* Snapshot */
	FXTCTL_ANY = 64,
};

/* The readers return NULL, or a description of the error; what they filled in is unusable
 * then. */
struct fxt_option {
	const char *name;     /* NULL: a field of a configuration only */
	const char *argument; /* as --help shows it; NULL = no argument */
	const char *help;     /* of fxtrun; NULL: fxtrun has no such option */
	char letter;          /* 0 = none */

	/* fxtrun: each row uses one of set, number, words, is_flag and result; none of
	 * these: it takes a pattern of this kind. */
	const char *(*set)(struct fxt_options *options, const char *value);
	const char *(*number)(const char *value, uint64_t *number);
	enum fxt_record_filter_kind kind;
	const char *const *words; /* the value is one of these; its index is stored in an
	                           * enum */
	size_t word_count;
	bool is_flag;                        /* sets a bool to true */
	bool is_optional;                    /* the argument is optional; it is then shown
	                                      * with its = */
	bool is_for_command_line;            /* an output or an action: not allowed in a
	                                      * project's file */
	size_t member;                       /* offset of that number, enum or bool in struct
	                                      * fxt_options */
	enum fxt_command_line_result result; /* if not RUN, nothing behind this option is
	                                      * read */

	/* fxtctl: its commands that take the option, and its text there. `write` makes a
	 * field of the call's parameters of the value. */
	unsigned takers;
	const char *fxtctl_help;
	const char *(*write)(json_t *params, const char *field, const char *value);

	/* The control socket: the field of a configuration; `field_of_call` is that of any
	 * other call, if it has another name there. A field without a reader belongs to the
	 * filter (control/filter_params.h). */
	const char *field, *field_of_call;
	const char *(*read)(json_t *value, struct fxt_options *options);
};

extern const struct fxt_option fxt_option_table[];
extern const unsigned fxt_option_count;

/* The options of a program as getopt_long(3) wants them. A long option returns
 * FXT_OPTION_LONG plus the index of its row; a short one its letter, which is less. */
#define FXT_OPTION_LONG 256
struct fxt_getopt {
	char letters[2 + 2 * FXT_OPTIONS_MAX + 1];
	struct option options[FXT_OPTIONS_MAX + 1];
};
void fxt_getopt_fill(struct fxt_getopt *tables, bool is_fxtctl);

/* The option that getopt_long() returned; NULL: none. */
const struct fxt_option *fxt_option_of(int value);

/* The field of a call of this kind that an option sets. */
static inline const char *fxt_option_field(const struct fxt_option *option, unsigned taker)
{
	return option->field_of_call && taker != FXTCTL_RECORD ? option->field_of_call : option->field;
}

/* True if a call of this kind has a field of that name. */
bool fxt_option_has_field(unsigned taker, const char *field);

/* Reads an array of categories; NULL = none. Categories too many for a session are an
 * error, as is a bad name. */
const char *fxt_option_read_categories(json_t *value, struct fxt_categories *categories);

/* The same for categories beside those of a session, which leave room for so many bytes.
 * The protocol discards the categories that find no room. */
const char *fxt_option_read_more_categories(
        json_t *value, size_t room, struct fxt_categories *categories, size_t *discarded);

/* Splits names at commas into a field. */
const char *fxt_option_write_categories(json_t *params, const char *field, const char *names);

/* Prints an option as --help shows it. Returns the number of characters. */
int fxt_option_print(const struct fxt_option *option);

/*
 * Prints an option for shells to complete (completion/), and each of its words: a line has
 * the word, the argument as --help shows it, and what it does, separated by tabs. An option
 * with a letter has a line for that, too.
 */
void fxt_option_print_completion(const struct fxt_option *option, const char *help);

/* Prints text in lines that begin in column `indent`; the first one follows `column`
 * characters that were printed already. */
void fxt_help_print(const char *text, int column, int indent);

#endif
