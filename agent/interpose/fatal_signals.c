/* The handler of fatal signals, and the interposed functions that set, query or send such
 * signals. The handler runs on the thread that the signal hits, wherever that is: it must
 * not use libc. A handler that the program sets must never be replaced by ours. */
#include "fatal_signals.h"
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include "agent/base/attributes.h"
#include "agent/hook/events.h"
#include "agent/base/real.h"
#include "agent/base/symbols.h"
#include "writer/format/categories.h"

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

enum { FATAL_SIGNALS = sizeof(fatal_signals) / sizeof(*fatal_signals) };

/* The program's latest setting for each signal: always one that leaves it to the kernel. */
static struct sigaction fatal_asked[FATAL_SIGNALS];
static bool fatal_is_watched;

/* The index of a signal in the table; -1: it is none of these. */
static int fatal_index(int signal)
{
	for (int i = 0; i < FATAL_SIGNALS; i++)
		if (fatal_signals[i] == signal)
			return i;
	return -1;
}

/* ---- the signal comes ---- */

#ifndef SEGV_MTEAERR
#define SEGV_MTEAERR 8
#endif

/*
 * True if the processor raised the signal, so that the same instruction raises it again.
 * All others are delivered after their cause, or came from elsewhere. If the kernel gives
 * no reason, the thread may have been about to return from a handler, over a destroyed
 * frame: it would continue at an arbitrary place.
 */
static bool fatal_is_fault(const siginfo_t *info)
{
	switch (info->si_code > 0 && info->si_code != SI_KERNEL ? info->si_signo : 0) {
	case SIGSEGV:
		return info->si_code != SEGV_MTEAERR;
	case SIGBUS:
		return info->si_code != BUS_MCEERR_AO;
	case SIGFPE:
	case SIGILL:
		return true;
	default:
		return false;
	}
}

static bool fatal_has_sender(const siginfo_t *info)
{
	return info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE;
}

/* The calling thread's koid; without a slot it is the thread's number. */
static uint64_t fatal_koid(void)
{
	return agent_self.slot && !agent_is_borrower() ? agent_self.slot->koid : (uint64_t)sys_gettid();
}

static void fatal_note(const siginfo_t *info)
{
	struct fxt_fatal_signal *fatal = &agent_engine.control->fatal;
	uint32_t nobody = 0;

	if (!compare_exchange_acquire(&fatal->tid, &nobody, (uint32_t)sys_gettid()))
		return;
	fatal->koid = fatal_koid();
	fatal->ticks = fxt_clock_ticks(agent_engine.clock);
	fatal->code = info->si_code;
	fatal->address = info->si_code > 0 ? (uint64_t)(uintptr_t)info->si_addr : 0;
	fatal->sender = fatal_has_sender(info) ? (uint32_t)info->si_pid : 0;
	/* Release: a reader that sees the signal also sees what was written before it. */
	store_release(&fatal->signal, (uint32_t)info->si_signo);
}

/*
 * Runs with all signals blocked. It first sets SIG_DFL: SA_RESETHAND does that already,
 * except if another handler, set without our knowledge, calls this one. The kernel delivers
 * a signal that a thread sends to itself before the thread's next instruction. No use of
 * libc: the thread may be anywhere.
 */
static void fatal_handle(int signal, siginfo_t *info, void *context)
{
	/* Handler, flags, restorer and mask, in the kernel's layout. */
	static const uint64_t standard[4];

	(void)context;
	arch_system_call(SYS_rt_sigaction, signal, (long)standard, 0, 8, 0, 0);
	if (!agent_self.withheld && agent_is_own_process())
		fatal_note(info);
	if (!fatal_is_fault(info))
		arch_system_call(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), signal, (long)info, 0, 0);
}

/* ---- who handles it ---- */

static bool fatal_is_ours(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == fatal_handle;
}

/* Sets our handler if the program leaves the signal to the kernel. It runs on the thread's
 * signal stack, if there is one: the thread's own stack may be full. */
static void fatal_watch(int i)
{
	struct sigaction ours = {.sa_sigaction = fatal_handle,
	                         .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_RESTART},
	                 now;

	if (REAL(sigaction)(fatal_signals[i], NULL, &now) != 0 || now.sa_handler != SIG_DFL)
		return;
	fatal_asked[i] = now;
	sigfillset(&ours.sa_mask);
	REAL(sigaction)(fatal_signals[i], &ours, NULL);
}

void agent_fatal_signals_prepare(void)
{
	/* The runtime of Go asks the kernel itself for the handler of a signal, and calls
	 * that in turn. */
	if (agent_is_standalone || !fxt_category_is_enabled(agent_engine.control, "process") ||
	        agent_symbol_exists("_cgo_topofstack"))
		return;
	fatal_is_watched = true;
	for (int i = 0; i < FATAL_SIGNALS; i++)
		fatal_watch(i);
}

void agent_fatal_signals_withdraw(void)
{
	struct sigaction now;

	/* A vfork child has handlers of its own, and the memory of its parent. */
	if (fxt_engine_was_forked(&agent_engine) || agent_is_own_process())
		fatal_is_watched = false;
	for (int i = 0; i < FATAL_SIGNALS; i++)
		if (REAL(sigaction)(fatal_signals[i], NULL, &now) == 0 && fatal_is_ours(&now))
			REAL(sigaction)(fatal_signals[i], &fatal_asked[i], NULL);
}

/* ---- what the program asks ---- */

/* The program has left a signal to the kernel again. A vfork child cannot report to a
 * manager, and the stored settings are its parent's. */
static void fatal_watch_again(int i)
{
	if (fatal_is_watched && agent_is_own_process())
		fatal_watch(i);
}

/* `action` and `before` may be the same: some programs have the answer put in the place of
 * the question. */
static int fatal_sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
	bool is_standard = action && action->sa_handler == SIG_DFL;
	int i = fatal_index(signal), result = REAL(sigaction)(signal, action, before);

	if (i < 0 || result != 0)
		return result;
	if (before && fatal_is_ours(before))
		*before = fatal_asked[i];
	if (is_standard)
		fatal_watch_again(i);
	return result;
}

#define X(name)                                                                                \
	EXPORT int name(int signal, const struct sigaction *action, struct sigaction *before); \
	EXPORT int name(int signal, const struct sigaction *action, struct sigaction *before)  \
	{                                                                                      \
		return fatal_sigaction(signal, action, before);                                \
	}
X(sigaction)
X(__sigaction)
#undef X

void agent_fatal_signals_answer(long signal, void *kernel_action)
{
	struct {
		sighandler_t handler;
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} *before = kernel_action;
	int i = fatal_index((int)signal);

	if (i < 0 || !before || before->handler != (sighandler_t)(uintptr_t)fatal_handle)
		return;
	before->handler = fatal_asked[i].sa_handler;
	before->flags = (unsigned)fatal_asked[i].sa_flags;
	before->restorer = fatal_asked[i].sa_restorer;
	memcpy(&before->mask, &fatal_asked[i].sa_mask, sizeof(before->mask));
}

/* The return value of the older functions, which know only handlers. */
static sighandler_t fatal_answer(int signal, sighandler_t handler, sighandler_t before)
{
	int i = fatal_index(signal);

	if (i >= 0 && before != SIG_ERR && handler == SIG_DFL)
		fatal_watch_again(i);
	return before == (sighandler_t)(uintptr_t)fatal_handle ? SIG_DFL : before;
}

#define X(name)                                                                    \
	EXPORT sighandler_t name(int signal, sighandler_t handler)                 \
	{                                                                          \
		return fatal_answer(signal, handler, REAL(name)(signal, handler)); \
	}
X(signal)
X(ssignal)
X(bsd_signal)
X(sysv_signal)
X(__sysv_signal)
#undef X

typedef sighandler_t set_handler(int signal, sighandler_t handler);

/* Our sigset(): the header warns of its use. */
EXPORT set_handler fatal_sigset __asm__("sigset");

sighandler_t fatal_sigset(int signal, sighandler_t handler)
{
	set_handler *real = (set_handler *)agent_next_symbol("sigset");

	return fatal_answer(signal, handler, real(signal, handler));
}

/* ---- what the program sends ---- */

/* Sends a signal by `call`. The manager can see the signal during the call and, if it goes
 * to another process, from then on: once that process is dead, the manager looks for its
 * killer. */
#define FATAL_SEND(process, number, call)                                                    \
	({                                                                                   \
		bool is_told = (number) > 0 && (process) > 0 && agent_is_own_process();      \
		bool is_own = is_told && (process) == sys_getpid();                          \
		struct fxt_sent_signal *sent = is_told ? &agent_engine.control->sent : NULL; \
		if (is_told) {                                                               \
			store_relaxed(&sent->koid, fatal_koid());                            \
			store_release(&sent->word, fxt_sent_word((process), (number)));      \
		}                                                                            \
		int result = (call);                                                         \
		if (is_own)                                                                  \
			store_relaxed(&sent->word, 0);                                       \
		result;                                                                      \
	})

EXPORT int kill(pid_t process, int signal)
{
	return FATAL_SEND(process, signal, REAL(kill)(process, signal));
}

EXPORT int raise(int signal)
{
	return FATAL_SEND(sys_getpid(), signal, REAL(raise)(signal));
}
