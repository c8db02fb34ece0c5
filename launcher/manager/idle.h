/*
 * The recordings of a session that makes several (--start=idle), each with config and an
 * archive of its own. Between two recordings the processes are kept: their agents stay
 * connected to their memories, and only the pages of the memories are given back. Such a
 * process is REGISTERED (provider.h).
 *
 * fxt_session_begin_recording() begins a recording, and fxt_session_terminate() ends it.
 */
#ifndef FXT_LAUNCHER_MANAGER_IDLE_H
#define FXT_LAUNCHER_MANAGER_IDLE_H

#include <stdbool.h>
#include "memory.h"
#include "provider.h"

struct fxt_session;

/* Makes providers of the registered processes. The options say how to record, and the
 * archive must be open. Only from READY; fxt_recording_initialize() then leaves that
 * state. */
void fxt_session_begin_recording(struct fxt_session *session);

/* Ends all providers together with the recording. A process that does not stop takes part
 * in no later recording. */
void fxt_session_end_all(struct fxt_session *session);

/* Registers the process of a provider that ended with its recording, and the memory it is
 * recorded into. */
void fxt_session_register_again(
        struct fxt_session *session, struct fxt_provider *ended, struct fxt_memory *memory);

/* True if a recording that was to end has ended: no thread writes any more of its
 * providers' records. */
bool fxt_session_recording_has_ended(const struct fxt_session *session);

/* Forgets the recording after its trace is final: READY. */
void fxt_session_renew(struct fxt_session *session);

/* Forgets providers with ended processes, and the records of the others. */
void fxt_session_forget_ended(struct fxt_session *session);

#endif
