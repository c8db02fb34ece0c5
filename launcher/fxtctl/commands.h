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
	const char *session, *file, *clear, *categories, *min_duration, *max_calls, *depth, *operand;
	bool json, write_results;
	json_t *patterns; /* of functions: a list by the field of the protocol that it goes to */
};
extern struct fxtctl fxtctl;

/* Options that choose functions: take a pattern, an empty one being none at all; and those in a file. */
void fxtctl_take_pattern(enum fxt_selection_kind kind, const char *pattern);
void fxtctl_take_filter_file(const char *path);

void fxtctl_list(void);
void fxtctl_status(void);
void fxtctl_providers(void);
void fxtctl_categories(void);
void fxtctl_start(void);
void fxtctl_stop(void);
void fxtctl_filter(void);
void fxtctl_snapshot(void);
void fxtctl_alert(void);
void fxtctl_watch(void);
void fxtctl_terminate(void);
void fxtctl_recover(void);

#endif
