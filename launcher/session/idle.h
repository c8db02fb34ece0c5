/*
 * The recordings of a lasting session (--start=idle): it has several, each with terms and an archive of its
 * own. What is kept between two of them is the processes: their agents stay connected to their memories,
 * whose pages are given back. Such a process is REGISTERED (provider.h).
 *
 * A recording is begun by fxt_session_begin_recording(), and ends by fxt_session_terminate().
 */
#ifndef FXT_LAUNCHER_SESSION_LASTING_H
#define FXT_LAUNCHER_SESSION_LASTING_H

#include <stdbool.h>
#include "memory.h"
#include "provider.h"

struct fxt_session;

/* The options say how to record, and the archive is there: the processes that are registered become
 * providers. Only from READY, which the session then leaves by fxt_recording_initialize(). */
void fxt_session_begin_recording(struct fxt_session *session);

/* All providers are to end with the recording. A process that does not stop takes part in no other one. */
void fxt_session_end_all(struct fxt_session *session);

/* Registers the process of a provider that has ended with its recording, and what it is recorded into. */
void fxt_session_register_again(
        struct fxt_session *session, struct fxt_provider *ended, struct fxt_memory *memory);

/* Whether a recording that was to end has: no thread writes any more of what its providers left. */
bool fxt_session_recording_has_ended(const struct fxt_session *session);

/* Forgets the recording, whose trace is final: READY. */
void fxt_session_renew(struct fxt_session *session);

/* Forgets providers whose processes have ended, and of others what was recorded. */
void fxt_session_forget_ended(struct fxt_session *session);

#endif
