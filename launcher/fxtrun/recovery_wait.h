/*
 * What the job does while it waits to finish the trace of a recorder that was killed: passes signals on to
 * the program, and answers at the control socket, which it was handed.
 */
#ifndef FXT_LAUNCHER_FXTRUN_RECOVERY_WAIT_H
#define FXT_LAUNCHER_FXTRUN_RECOVERY_WAIT_H

#include "recovery.h"

/* Until the program has ended, with --decouple all that is recorded; or the session is told to end by a
 * signal; or a client asks for the trace, who is recovery->client then. */
void fxt_recovery_wait(struct fxt_recovery *recovery, int signals);

/* Tells that client what became of the trace, and hangs up; others are not answered any more. */
void fxt_recovery_reply(struct fxt_recovery *recovery, bool is_there);

#endif
