/*
 * What the manager commands: beginning and ending of recording (writer/shared.h, enum fxt_session_command). A
 * session command lies in shared memory and is carried out by the helper thread; the one found at birth by
 * the thread that is being born, so that nothing of the program comes before it.
 *
 * The other way goes an alert: a program declares `void fxt_alert(const char *) __attribute__((weak))` and
 * calls it if it is there. While nothing is recorded it does nothing.
 */
#ifndef FXT_AGENT_SESSION_COMMAND_H
#define FXT_AGENT_SESSION_COMMAND_H

#include "helper.h"

/* Carries out the latest session command unless that was done. At birth, then by the helper thread only. */
void agent_session_command_carry_out(void);

/* The helper's job where there is a manager: carries out session commands. */
struct agent_helper_job agent_session_command_job(void);

/* Whether more may come. */
bool agent_session_command_may_come(void);

/* In a forked child, whose commands lie in control memory of its own and are counted anew. */
void agent_session_command_forget(void);

#endif
