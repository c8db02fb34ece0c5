/*
 * The commands of fxtctl. Each one calls the session and shows the reply. Every error ends
 * the process (client.h).
 */
#ifndef FXT_LAUNCHER_FXTCTL_COMMANDS_H
#define FXT_LAUNCHER_FXTCTL_COMMANDS_H

#include <jansson.h>
#include <stdbool.h>

/* The command line. main() sets it before it calls a command; NULL = not given. */
struct fxtctl {
	const char *session, *duration, *operand;
	bool json;
	json_t *params; /* the other options, as fields of the command's call */
};
extern struct fxtctl fxtctl;

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
void fxtctl_attach(void);
void fxtctl_detach(void);
void fxtctl_alert(void);
void fxtctl_watch(void);
void fxtctl_terminate(void);
void fxtctl_recover(void);
void fxtctl_record(void); /* record.c */

#endif
