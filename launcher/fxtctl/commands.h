/*
 * The commands of fxtctl: each calls the session and shows what it says. Whatever goes wrong ends the process
 * (client.h).
 */
#ifndef FXT_LAUNCHER_FXTCTL_COMMANDS_H
#define FXT_LAUNCHER_FXTCTL_COMMANDS_H

#include <jansson.h>
#include <stdbool.h>
#include "symbolizer/selection.h"

/* What the command line says, set by main() before a command is called; NULL = nothing. */
struct fxtctl {
	const char *session, *file, *clear, *categories, *min_duration, *max_calls, *depth, *mode, *duration,
	        *muting_percent, *operand;
	bool json, write_results;
	json_t *triggers;   /* their texts */
	const char *remove; /* the number of one */
	json_t *patterns;   /* of functions: a list by the field of the protocol that it goes to */
};
extern struct fxtctl fxtctl;

/* Options that choose functions: take a pattern, an empty one being none at all; and those in a file. */
void fxtctl_take_pattern(enum fxt_selection_kind kind, const char *pattern);
void fxtctl_take_filter_file(const char *path);

/* An option that is a trigger. */
void fxtctl_take_trigger(const char *trigger);

/* What the options say of which calls are recorded, as fields of a call; the caller owns them. */
json_t *fxtctl_filter_params(void);

/* Names with a comma between two of them, as an array. */
json_t *fxtctl_category_names(const char *list);

/* A relative path is relative to the working directory of fxtctl, and the session has another. */
json_t *fxtctl_absolute_path(const char *file);

/* A text of a reply, as it may be shown: anything can stand in the names of processes and files. */
const char *fxtctl_string(const json_t *object, const char *key);

/* Shows a reply as it came, if --json was given. Returns whether it was. */
bool fxtctl_show_json(const json_t *object);

void fxtctl_list(void);
void fxtctl_status(void);
void fxtctl_providers(void);
void fxtctl_categories(void);
void fxtctl_start(void);
void fxtctl_stop(void);
void fxtctl_filter(void);
void fxtctl_trigger(void);
void fxtctl_snapshot(void);
void fxtctl_alert(void);
void fxtctl_watch(void);
void fxtctl_terminate(void);
void fxtctl_recover(void);
void fxtctl_record(void); /* record.c */

#endif
