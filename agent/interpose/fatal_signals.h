/*
 * Signals by which a thread ends its whole process: a fault, abort(). The kernel tells the parent which
 * signal it was, and nobody which thread it came to, or at which address. So where the program has left such
 * a signal to the kernel, a handler of ours writes that down in the control memory and has the signal come
 * once more, to the kernel: the program dies of it where it was, with the registers, the code and the core it
 * would have died with. What the program asks of these signals it is answered as if we were not there, and a
 * handler that it sets takes the place of ours.
 *
 *   the kernel's --agent_fatal_signals_prepare()--> ours --the program sets a handler--> the program's
 *        ^                                          |  ^                                      |
 *        |-- the signal comes (SA_RESETHAND) -------|  '--- the program sets SIG_DFL ---------'
 *        '-- agent_fatal_signals_withdraw() --------'
 *
 * Signals that come from outside as a rule (SIGTERM) are left alone: a handler could not end the process as
 * the kernel does.
 */
#ifndef FXT_AGENT_FATAL_SIGNALS_H
#define FXT_AGENT_FATAL_SIGNALS_H

/* Once, in the constructor, if there is a manager to tell and the session records processes. */
void agent_fatal_signals_prepare(void);

/* Gives them back to the kernel for good: a program that confines itself may have forbidden what our handler
 * needs. */
void agent_fatal_signals_withdraw(void);

/* What the system call rt_sigaction has answered, NULL being nothing, becomes what the program had asked. */
void agent_fatal_signals_answer(long signal, void *kernel_action);

#endif
