/*
 * The commands of fxtctl: each calls the session and shows what it says. Whatever goes wrong ends the process
 * (client.h).
 */
#ifndef FXT_LAUNCHER_FXTCTL_COMMANDS_H
#define FXT_LAUNCHER_FXTCTL_COMMANDS_H

#include <stdbool.h>

/* What the command line says, set by main() before a command is called; NULL = nothing. */
struct fxtctl {
	const char *session, *file, *clear, *categories, *operand;
	bool json, write_results;
};
extern struct fxtctl fxtctl;

void fxtctl_list(void);
void fxtctl_status(void);
void fxtctl_providers(void);
void fxtctl_categories(void);
void fxtctl_start(void);
void fxtctl_stop(void);
void fxtctl_snapshot(void);
void fxtctl_alert(void);
void fxtctl_watch(void);
void fxtctl_terminate(void);
void fxtctl_recover(void);

#endif
