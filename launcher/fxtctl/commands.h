/*
 * The commands of fxtctl. Each one calls the session and shows the reply. Every error ends
 * the process (client.h).
 */
#ifndef FXT_LAUNCHER_FXTCTL_COMMANDS_H
#define FXT_LAUNCHER_FXTCTL_COMMANDS_H

#include <jansson.h>
#include <stdbool.h>
#include "symbolizer/record_filter.h"

/* The arguments of the command line. main() sets them before it calls a command; NULL = not
 * given. */
struct fxtctl {
	const char *session, *file, *clear, *categories, *min_duration, *max_calls, *depth, *mode, *duration,
	        *muting_percent, *operand;
	bool json, write_results;
	json_t *triggers;   /* the triggers' texts */
	const char *remove; /* number of a trigger */
	json_t *patterns;   /* patterns of functions: a list for each field of the protocol */
};
extern struct fxtctl fxtctl;

/* Options that choose functions: take a pattern (an empty one stands for none), or the
 * patterns of a file. */
void fxtctl_take_pattern(enum fxt_record_filter_kind kind, const char *pattern);
void fxtctl_take_filter_file(const char *path);

/* Takes a trigger option. */
void fxtctl_take_trigger(const char *trigger);

/* Returns the options about which calls are recorded, as fields of a call; the caller owns
 * them. */
json_t *fxtctl_filter_params(void);

/* Splits names at commas into an array. */
json_t *fxtctl_category_names(const char *list);

/* Makes a path absolute. A relative path is relative to the working directory of fxtctl,
 * and the session has another one. */
json_t *fxtctl_absolute_path(const char *file);

/* A text of a reply, made safe for display: names of processes and files may hold any
 * characters. */
const char *fxtctl_string(const json_t *object, const char *key);

/* Shows a reply unchanged if --json was given. Returns true if it was. */
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
