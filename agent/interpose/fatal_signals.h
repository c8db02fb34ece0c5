/*
 * Signals by which a thread ends its whole process: a fault, abort(). The kernel tells the
 * parent only which signal it was, not which thread received it or at which address.
 * Therefore we set a handler for each such signal that the program has left to the kernel.
 * The handler writes these facts into the control memory and has the signal raised once
 * more, now for the kernel. The program dies at the same place, with the registers, the
 * code and the core that it would have had without us. If the program asks how these
 * signals are handled, the answer is the same as without us. A handler that it sets
 * replaces ours.
 *
 *   the kernel's --agent_fatal_signals_prepare()--> ours --the program sets a handler--> program's
 *        ^                                          |  ^                                    |
 *        |-- the signal comes (SA_RESETHAND) -------|  '--- the program sets SIG_DFL -------'
 *        '-- agent_fatal_signals_withdraw() --------'
 *
 * Signals that usually come from outside (SIGTERM) are left alone: a handler could not end
 * the process as the kernel does.
 */
#ifndef FXT_AGENT_FATAL_SIGNALS_H
#define FXT_AGENT_FATAL_SIGNALS_H

/* Once, in the constructor. Does nothing without a manager, or if the session does not
 * record processes. */
void agent_fatal_signals_prepare(void);

/* Gives these signals back to the kernel for good. A program that confines itself may have
 * forbidden the system calls that our handler needs. */
void agent_fatal_signals_withdraw(void);

/* Corrects the answer of the system call rt_sigaction: if it names our handler, it becomes
 * what the program had asked for. `kernel_action` may be NULL. */
void agent_fatal_signals_answer(long signal, void *kernel_action);

#endif
