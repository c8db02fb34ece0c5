/*
 * The providers of a session (session.h): making a provider of a process, and ending one.
 * admission.h decides whether a process becomes a provider, and idle.h handles it between
 * two recordings.
 */
#ifndef FXT_LAUNCHER_MANAGER_PROVIDERS_H
#define FXT_LAUNCHER_MANAGER_PROVIDERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "provider.h"
#include "recording.h"

struct fxt_session;

/* Sets the config for providers from the options; they hold until changed. */
void fxt_session_take_config(struct fxt_session *session);

/* Counts a process that runs untraced; prints a message for the first one. */
void fxt_session_refuse(
        struct fxt_session *session, const struct fxt_archive_provider *who, pid_t pid, const char *reason);

/* The koid of the parent of process `pid`; 0 if the parent is not in the trace. */
uint64_t fxt_session_parent_koid(const struct fxt_session *session, pid_t pid);

/* Makes room for another provider, zeroed. It belongs to the caller until the caller
 * increments session->count. NULL: no memory. */
struct fxt_provider *fxt_session_new_provider(struct fxt_session *session);

/* Makes a provider of a process: gives it its settings and starts its thread. Returns 0, or
 * an errno value: it was not started. */
int fxt_session_enlist(struct fxt_session *session, struct fxt_provider *provider);

/* Stops watching its process. */
void fxt_session_forget_process(struct fxt_session *session, struct fxt_provider *provider);

/* Ends a provider, unless its end is known already. An aborted provider may even be joined
 * by this call. */
void fxt_session_end_provider(
        struct fxt_session *session, struct fxt_provider *provider, enum fxt_ending ending);

/* Called by the watch of a provider's process. */
void fxt_session_process_is_gone(struct fxt_watch *watch, void *session);

/*
 * While a snapshot waits, the session holds back the ends of processes from the threads of
 * their providers, so that the rest of each process stays in its memory. Afterwards it
 * reports the ends held back. Without this, the snapshot might wait forever: it cannot
 * begin while the rest of any provider is being taken, and processes may come and go all
 * the time.
 */
void fxt_session_note_snapshot(struct fxt_session *session, enum fxt_snapshot_stage stage);

#endif
