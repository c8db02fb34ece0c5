/*
 * The manager's commands: recording begins and ends (writer/shared/shared.h, enum
 * fxt_session_command). A session command lies in shared memory, and the helper thread
 * carries it out. The command found at birth is carried out by the starting thread, before
 * any code of the program.
 *
 * An alert goes the other way. A program declares `void fxt_alert(const char *)
 * __attribute__((weak))` and calls it if it exists. It does nothing while nothing is
 * recorded.
 */
#ifndef FXT_AGENT_SESSION_COMMAND_H
#define FXT_AGENT_SESSION_COMMAND_H

#include "helper.h"

void fxt_alert(const char *name);

/* Carries out the latest session command unless that was done. At birth, later only in the
 * helper thread. */
void agent_session_command_carry_out(void);

/* The helper's job with a manager: carries out session commands. */
struct agent_helper_job agent_session_command_job(void);

/* True if more commands may come. */
bool agent_session_command_may_come(void);

/* In a forked child: its commands lie in control memory of its own and are counted anew. */
void agent_session_command_forget(void);

#endif
