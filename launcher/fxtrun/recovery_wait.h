/*
 * The supervisor's actions while it waits to finish the trace of a killed manager: it
 * passes signals on to the program, and answers at the control socket that it was handed.
 */
#ifndef FXT_LAUNCHER_FXTRUN_RECOVERY_WAIT_H
#define FXT_LAUNCHER_FXTRUN_RECOVERY_WAIT_H

#include "recovery.h"

/* Waits until the program has ended (with --decouple, all recorded processes), until a
 * signal ends the session, or until a client requests the trace; that client is then
 * recovery->client. */
void fxt_recovery_wait(struct fxt_recovery *recovery, int signals);

/* Sends the result to that client and hangs up; other clients get no answer any more. */
void fxt_recovery_reply(struct fxt_recovery *recovery, bool is_there);

#endif
