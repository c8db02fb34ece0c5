/*
 * agent/ is libfxtagent.so, preloaded into a program to record its calls. It links nothing
 * but libc, allocates by mmap, and calls the kernel directly. The program can see no change
 * except one helper thread and some memory.
 *
 * This folder is its base, used by all other files of agent/: the state of a thread, how it
 * gets its writer and slot, and the state of the process. The top is life.c, the only file
 * that knows all the others.
 *
 * Errors: the program must not notice that the agent failed. A function that can fail
 * returns false, NULL or 0 and leaves errno as it was, and its caller continues without the
 * result. A function that gives up something the user asked for says so in one notice
 * (notice.h). A record that could not be written is counted at the place of the failed
 * write, and the trace reports it. Error numbers (-errno of the kernel, errno values of the
 * engine) stay within the file that made the call. A check that ends the program exists
 * only for impossible states, in debug builds.
 */
#ifndef FXT_AGENT_SELF_H
#define FXT_AGENT_SELF_H

#include <stdbool.h>
#include <stdint.h>
#include "attributes.h"
#include "writer/engine/chunk.h"
#include "writer/engine/engine.h"
#include "writer/engine/local_names.h"
#include "writer/engine/shadow_stack.h"
#include "writer/engine/strings.h"
#include "writer/engine/threads.h"

/* A range of addresses. */
struct agent_range {
	uint64_t low, bytes;
};

/*
 * Why a thread is not recorded although its process is: the kernel would kill it for the
 * operations that a record needs. Such a thread has no writer and gets none; its calls are
 * counted as lost.
 */
enum agent_withheld {
	AGENT_NOT_WITHHELD = 0,
	/* for reading the clock (PR_SET_TSC); its children may not read it either */
	AGENT_NO_CLOCK,
	/* for a system call, and for reading the clock (seccomp's strict mode) */
	AGENT_NO_SYSTEM_CALL,
};

/* The agent's state of one thread. Initial-exec: a dynamic model would allocate at its
 * first use, inside malloc. */
struct agent_self {
	struct fxt_thread_writer *writer; /* NULL until the thread is attached */
	struct fxt_thread_slot *slot;     /* valid whenever writer is */
	uint64_t stack_low;               /* lowest address of the thread's own stack */
	uint64_t stack_bytes;             /* 0: unknown, then all addresses count as on it */
	uint64_t stack_end;               /* its lowest usable address; below lie guard pages */
	/* of a part of its stack, the one that it used last (agent/hook/returns.h); NULL:
	 * none yet */
	struct agent_returns *returns;
	/* for handlers inside a hook; NULL until there was one */
	struct fxt_thread_writer *nested;
	/* the latest two that were set, the present one first */
	struct agent_range signal_stacks[2];
	/* the one that it ran last (coroutines.h); NULL: its own stack */
	struct agent_coroutine *coroutine;
	/* the writer of the coroutine that it works on; else NULL */
	struct fxt_thread_writer *claimed;
	/* idle: kept for the next hook that is left (preempted.h); NULL: there is none, or
	 * it is `writer` now */
	struct fxt_thread_writer *other;
	/* the signal mask that agent_release() restores, ^ SYS_NO_MASK; 0: none */
	uint64_t claim_mask;
	/* while it forks, and in a child until its rebirth: the calls it has open
	 * (inherited.h); else NULL */
	struct agent_inheritance *inheritance;
	/* the writer that the slow path last pushed a frame in (arguments.h) */
	struct fxt_thread_writer *entered;
	/* the call with planned arguments that ends now (arguments.h): its function, and
	 * the registers of its result; all 0: there is none, or its result is not known */
	struct agent_result {
		uint64_t function, general, vector;
	} result;
	/* the beginning of a line that it writes to a log (logs.h); NULL: it has none yet */
	struct agent_line *line;
	/* the number of excluded calls until a hook next asks whether a call can be patched
	 * (patch.h) */
	uint32_t patch_pause;
	/* while it forks, and in a child until its rebirth: it is in no hook */
	bool forks_outside;
	/* while it forks: the previous value of forks_outside, for a child that is not
	 * reborn */
	bool was_outside;
	uint8_t withheld; /* enum agent_withheld */
	/* the tid of the owner of this struct, once threads may share it (agent_clones);
	 * else 0 */
	int owner;
};
extern HIDDEN __thread struct agent_self agent_self;

extern HIDDEN struct fxt_engine agent_engine;

/* Whether there is no manager, and this process writes its trace by itself. */
extern bool agent_is_standalone;

/* Whether the session records, and which clock times the calls. It is AGENT_QUIET until the
 * constructor has run and after the session ended. */
enum agent_recording {
	AGENT_WITHOUT_CALLS = -1, /* the session wants events of other categories only */
	AGENT_QUIET = 0,
	AGENT_BY_COUNTER = 1,
	/* below AGENT_BY_COUNTER no hook records, above it a hook must look up the engine's
	 * clock and the owner of the writer */
	AGENT_GENERAL = 2,
};
extern HIDDEN int32_t agent_recording;
/* 1: hooks of calls that are not recorded note their call site (patch.h). */
extern HIDDEN uint32_t agent_notes;
/* The value that hooks test first at every call. It equals agent_recording, except that it
 * is AGENT_GENERAL while no call is recorded and each is to be noted, and before the agent
 * has begun. One word makes it one test. */
extern HIDDEN int32_t agent_hooks;

void agent_set_recording(enum agent_recording recording);
void agent_set_noting(bool is_noting);

/* While the process may not read its clock, hooks record nothing and count each call as
 * lost. Does nothing if nothing is recorded. agent_set_recording() ends the counting too. */
void agent_begin_counting(void);
void agent_end_counting(void);
extern HIDDEN uint32_t agent_counts_only; /* 1: hooks count */

/* Call this once the agent has begun. Hooks then return early if nothing is recorded. Until
 * then agent_hooks sends them to the slow path, which finds out whether the agent has
 * begun. */
void agent_set_begun(void);

/* The value while calls are recorded. */
enum agent_recording agent_recording_of_calls(void);

/* 1: hooks and claims (claim.h) block signals. Otherwise a handler could interrupt them and
 * run other code of the thread before they go on (preempted.h). Set once. */
extern HIDDEN uint32_t agent_hooks_block_signals;
void agent_block_signals_in_hooks(void);

/*
 * The agent begins in its constructor, which the loader runs before all others. The loader
 * does this for one object only. If another object has that place, the agent begins with
 * the first call of a hook, the first allocation or the first new thread. Earlier calls of
 * hooks are counted, and the trace reports them as lost. Such calls come only from
 * resolvers of indirect functions, while the loader relocates, and from threads that run
 * while another one begins the agent.
 */
void agent_register_beginning(void (*begin)(void));

/* Begins, unless that has been done or it is too early. `is_ready`: the caller knows that
 * it is not too early. Returns whether the agent has begun. Keeps errno. */
bool agent_begin(bool is_ready);

/* A hook that finds no recording calls this. Before the agent has begun, this touches
 * nothing that has to be relocated. */
enum agent_call {
	AGENT_CALL_RECORDED, /* the agent begins with this call */
	AGENT_CALL_NOT_RECORDED,
	AGENT_CALL_TOO_EARLY, /* the call is counted */
};
enum agent_call agent_begin_with_call(void);
extern HIDDEN uint32_t agent_has_begun;

static inline bool agent_records_calls(void)
{
	return load_relaxed(&agent_recording) >= AGENT_BY_COUNTER;
}

/* Whether a call that is not recorded counts as lost. */
static inline bool agent_counts_calls(void)
{
	return agent_records_calls() || load_relaxed(&agent_counts_only);
}

/*
 * A stack offset: the distance of an address from the lowest address of the thread's own
 * stack. An offset not less than that stack's size means that the address is elsewhere. For
 * an address below the stack the offset wraps round to a huge value.
 */
static inline uint64_t agent_stack_offset(uint64_t address)
{
	return address - agent_self.stack_low;
}

/* The address at a stack offset. */
static inline uint64_t agent_stack_address(uint64_t stack_offset)
{
	return stack_offset + agent_self.stack_low;
}

/* The lowest address of all threads' stacks; the heap below needs no look at them. */
extern HIDDEN uint64_t agent_lowest_stack;

/* The calling thread runs on this stack. Its addresses below `end` cannot be used. Called
 * before the thread's first call, since stack offsets count from `low`. */
void agent_set_stack(uint64_t low, uint64_t bytes, uint64_t end);

/*
 * Returns the calling thread's writer, and gives the thread a slot if it has none. NULL: it
 * cannot have one, because all slots are taken or the process may make no system call any
 * more. Its calls are then counted as lost.
 */
struct fxt_thread_writer *agent_attach(void);

/*
 * For a detach (agent/process/attach.h). Once the first was called, each thread that gets a
 * slot is noted. The second lets all of them forget their slots, while none is in a hook
 * and none records; the memory of this process is open (agent/patch/code.h).
 */
void agent_note_threads(void);
void agent_forget_threads(bool (*read)(uint64_t address, void *bytes, size_t count),
        bool (*write)(uint64_t address, const void *bytes, size_t count));

/* Whether the kernel lets the calling thread read the counter. A thread inherits this from
 * its parent. */
bool agent_may_read_clock(void);

/* Whether the calling thread is withheld. A new thread may inherit this from its
 * creator. */
bool agent_is_withheld(void);

/* The first withholds the calling thread, which is in no hook and has no open call: nothing
 * of it is recorded from now on. The second ends that, and the thread records again in the
 * slot that it had. */
void agent_withhold(enum agent_withheld why);
void agent_withhold_no_more(void);

/*
 * The life of a thread:
 *
 *   UNATTACHED --agent_attach()--> OUTSIDE <--hook, claim--> IN_HOOK <--a handler's hook--> IN_HANDLER
 *        ^                            ^                         |                               |
 *        |                            '-- a handler jumps out: agent_leave_hook() --------------'
 *        '--agent_rebirth()-- FORKED <--- any of them: the kernel wipes the child's writers
 *
 * No hook stores a state: it is read off what the hooks store anyway, so that it costs them
 * nothing.
 */
enum agent_thread_state {
	AGENT_THREAD_UNATTACHED, /* it has no writer, and nothing of it is recorded yet */
	AGENT_THREAD_OUTSIDE,    /* outside of hooks: its writer is IDLE */
	/* or in a record of the agent's own: any hook now is a signal handler's */
	AGENT_THREAD_IN_HOOK,
	/* a handler came into a hook, and is itself in one: its writer is `nested` */
	AGENT_THREAD_IN_HANDLER,
	/* in a child with its parent's engine: none of its data may be touched */
	AGENT_THREAD_FORKED,
	/* the state here belongs to another thread, which uses it: do not touch it */
	AGENT_THREAD_BORROWER,
};

/*
 * Whether the calling thread was made by a clone() that left it its creator's thread-local
 * storage. All data there, including `agent_self`, belongs to the creator, which goes on
 * using it. Nothing of such a thread is recorded, and its calls are counted as lost.
 */
static inline bool agent_is_borrower(void)
{
	return unlikely(agent_self.owner) && !fxt_engine_was_forked(&agent_engine) &&
	       sys_gettid() != agent_self.owner;
}

/* The calling thread is about to clone with these flags. If the new thread will share its
 * thread-local storage, hooks check the owner from now on. */
void agent_clones(unsigned long flags);

/* The state of the calling thread. */
static inline enum agent_thread_state agent_thread_state(void)
{
	if (fxt_engine_was_forked(&agent_engine))
		return AGENT_THREAD_FORKED;
	if (agent_is_borrower())
		return AGENT_THREAD_BORROWER;
	if (!agent_self.writer)
		return AGENT_THREAD_UNATTACHED;
	if (load_relaxed(&agent_self.writer->busy) == FXT_IDLE)
		return AGENT_THREAD_OUTSIDE;
	return agent_self.nested && load_relaxed(&agent_self.nested->busy) != FXT_IDLE
	               ? AGENT_THREAD_IN_HANDLER
	               : AGENT_THREAD_IN_HOOK;
}

/* Whether the calling thread is in a hook: the caller is a signal handler, then. */
static inline bool agent_is_in_hook(void)
{
	enum agent_thread_state state = agent_thread_state();

	return state == AGENT_THREAD_IN_HOOK || state == AGENT_THREAD_IN_HANDLER;
}

/*
 * Whether the calling thread's `agent_self` agrees with its state, its slots and its shadow
 * stacks. Built with DEBUG=1 the agent checks this at every state that it enters on the
 * slow path, and aborts with a notice if the check fails.
 */
bool agent_thread_is_valid(void);

#ifdef FXT_DEBUG
void agent_check_thread(void);
#else
static inline void agent_check_thread(void)
{
}
#endif

/* Whether this is the process that set the engine up. False in a forked child, and in a
 * vfork child, which shares its parent's memory. */
bool agent_is_own_process(void);

/*
 * A forked child forgets its parent's engine and begins anew. A caller that finds
 * fxt_engine_was_forked() calls this, on the slow path. Afterwards agent_self.writer is
 * NULL, and nothing is recorded if there is no session for the child. life.c has the list
 * of forgotten state and its order. It registers the functions here, so that nothing below
 * has to know them.
 */
void agent_rebirth(void);
void agent_register_rebirth(void (*begin_anew)(void), void (*detach)(void));

/*
 * Around a fork, in the process that forks and in its child.
 *
 * A signal handler may fork inside a hook. In the child that hook continues with its
 * knowledge of the parent's memory, perhaps after all tests that would detect the fork.
 * Therefore the child gets memory of its own at once. After its rebirth it leaves alone all
 * memory that such a hook may write to. After a fork without these calls the child only
 * leaves that memory alone. Whatever the hook writes before the rebirth reaches the parent.
 *
 * `child_goes_on` is false for a child that runs a function on a stack of its own instead.
 */
void agent_self_before_fork(bool child_goes_on);
void agent_self_in_parent(void);
void agent_self_in_child(void);

/* In a forked child, before agent_self_forget(): whether a hook of its parent's may
 * continue in it. */
static inline bool agent_continues_hook(void)
{
	return !agent_self.forks_outside;
}

/* The manager reads here how many children and new images are not recorded. It lies in the
 * session's common memory. NULL: there is none. */
extern HIDDEN uint32_t *agent_untraced;

/* Registers a function that waits for instrumented code. It is called once, before the
 * first recorded call in the process from then on. The caller's writer is SLOW_PATH. In a
 * forked child of a process without such calls, the child's first call calls it. */
void agent_await_call(void (*function)(void));
extern void (*agent_awaiting_call)(void);
void agent_report_call(void);

/* The part of the rebirth that belongs here: the engine, and the calling thread's
 * writers. */
void agent_self_forget(void);

#endif
