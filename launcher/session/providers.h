/*
 * The providers of a session (session.h): how a process comes to be one, and how one ends. Whether it is to
 * be one at all, admission.h decides; what becomes of it between two recordings, idle.h.
 */
#ifndef FXT_LAUNCHER_SESSION_PROVIDERS_H
#define FXT_LAUNCHER_SESSION_PROVIDERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "provider.h"
#include "recording.h"

struct fxt_session;

/* Has providers told what the options say, until it is changed. */
void fxt_session_take_terms(struct fxt_session *session);

/* A process runs untraced, which is counted, and of the first one said. */
void fxt_session_refuse(
        struct fxt_session *session, const struct fxt_archive_provider *who, pid_t pid, const char *reason);

/* The koid of the process that began the process `pid`; 0 if that is not in the trace. */
uint64_t fxt_session_parent_koid(const struct fxt_session *session, pid_t pid);

/* Room for one provider more, zeroed, which is the caller's until it makes session->count one higher. NULL:
 * no memory. */
struct fxt_provider *fxt_session_new_provider(struct fxt_session *session);

/* Makes a provider of a process: it is told how to record, and its thread begins. Returns 0, or an errno
 * value: it does not. */
int fxt_session_enlist(struct fxt_session *session, struct fxt_provider *provider);

/* Nothing more is to be learnt of its process. */
void fxt_session_forget_process(struct fxt_session *session, struct fxt_provider *provider);

/* Ends a provider, unless its end is known already; one that was aborted may even be joined. */
void fxt_session_end_provider(
        struct fxt_session *session, struct fxt_provider *provider, enum fxt_ending ending);

/* Called by the watch of a provider's process. */
void fxt_session_process_is_gone(struct fxt_watch *watch, void *session);

/*
 * While a snapshot waits the session does not tell the threads of providers that their processes have ended,
 * so that what these left stays in their memories; then it tells what it put off. The snapshot has to wait
 * until no provider's rest is being taken, which might never be so while processes come and go.
 */
void fxt_session_note_snapshot(struct fxt_session *session, enum fxt_snapshot_stage stage);

#endif
