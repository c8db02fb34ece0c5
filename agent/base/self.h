/*
 * agent/ is libfxtagent.so, preloaded into a program to record its calls. It links nothing but libc,
 * allocates by mmap, calls the kernel directly, and changes nothing the program can see but one helper thread
 * and some memory.
 *
 * This is its ground, on which every other file of it stands: what a thread knows of itself, how it gets its
 * block and slot, and what is known of the process. The top is life.c, which alone knows all the others.
 *
 * Errors: the program must not notice that the agent failed. So a function that can fail returns false, NULL
 * or 0, leaves errno as it was, and its caller goes on without. Whoever gives up what the user asked for says
 * so in one notice (notice.h). A record that could not be written is counted where it was to be written, and
 * the trace tells of it. Error numbers (-errno of the kernel, errno values of the engine) stay within the
 * file that made the call. Only where something cannot be is there a check that ends the program, in debug
 * builds.
 */
#ifndef FXT_AGENT_SELF_H
#define FXT_AGENT_SELF_H

#include <stdbool.h>
#include <stdint.h>
#include "attributes.h"
#include "writer/chunk.h"
#include "writer/engine.h"
#include "writer/local_names.h"
#include "writer/shadow_stack.h"
#include "writer/strings.h"
#include "writer/threads.h"

/* Addresses. */
struct agent_range {
	uint64_t low, bytes;
};

/*
 * Why nothing of a thread is recorded although its process is: the kernel would kill it for what a record
 * takes. Such a thread has no block, and gets none: what it does is counted as lost.
 */
enum agent_withheld {
	AGENT_NOT_WITHHELD = 0,
	AGENT_NO_CLOCK,       /* for reading the clock (PR_SET_TSC), which its children may not read either */
	AGENT_NO_SYSTEM_CALL, /* for a system call, and for reading the clock (seccomp's strict mode) */
};

/* What a thread knows of itself. Initial-exec: a dynamic model would allocate at its first use, inside
 * malloc. */
struct agent_self {
	struct fxt_block *block;      /* NULL until the thread is attached */
	struct fxt_thread_slot *slot; /* valid whenever block is */
	uint64_t stack_low;           /* lowest address of the thread's own stack */
	uint64_t stack_bytes;         /* 0: not told, then all addresses are taken to be on it */
	uint64_t stack_end;           /* lowest address of it that can be used; below lie guard pages */
	struct fxt_block *nested;     /* for handlers inside a hook; NULL until there was one */
	struct agent_range signal_stacks[2];   /* the latest two that were set, the present one first */
	struct agent_coroutine *coroutine;     /* that it ran last (coroutines.h); NULL: its own stack */
	struct fxt_block *claimed;             /* a coroutine's that it works on; else NULL */
	struct agent_inheritance *inheritance; /* while it forks, and in a child until that is born again: the
	                                          calls it has open (inherited.h); else NULL */
	uint32_t patch_pause; /* for so many calls that are left out nobody asks whether they can be patched
	                         (patch.h) */
	bool forks_outside;   /* while it forks, and in a child until that is born again: it is in no hook */
	bool was_outside;     /* while it forks: the above before that, of a child that is not born again */
	uint8_t withheld;     /* enum agent_withheld */
	int owner;            /* the tid of whose this is, once threads may share it (agent_clones); else 0 */
};
extern HIDDEN __thread struct agent_self agent_self;

extern HIDDEN struct fxt_engine agent_engine;

/* Whether there is no manager, and this process writes its trace by itself. */
extern bool agent_is_standalone;

/* Whether there is recording, and of calls by which clock. Quiet until the constructor has run and once the
 * session ended. */
enum agent_recording {
	AGENT_WITHOUT_CALLS = -1, /* the session wants events of other categories only */
	AGENT_QUIET = 0,
	AGENT_BY_COUNTER = 1,
	AGENT_GENERAL = 2, /* below AGENT_BY_COUNTER no hook records, above it what the engine's clock is
	                        and whose block it is have to be asked for */
};
extern HIDDEN int32_t agent_recording;
/* 1: hooks whose call is not recorded note where they were called from (patch.h). */
extern HIDDEN uint32_t agent_notes;
/* What hooks go by, first at every call: agent_recording, but AGENT_GENERAL while none records and each is
 * to note that, and before the agent has begun. All in one word, so that it is one test. */
extern HIDDEN int32_t agent_hooks;

void agent_set_recording(enum agent_recording recording);
void agent_set_noting(bool is_noting);

/* The value for calls that are recorded. */
enum agent_recording agent_recording_of_calls(void);

/*
 * The agent begins in its constructor, which the loader runs before all others. It honours that wish of one
 * object only. Where another one has the place, the agent begins with the first call of a hook, the first
 * allocation or the first new thread. Calls of hooks before that are counted, and the trace tells them as
 * lost. Only resolvers of indirect functions make such calls, as the loader relocates, and threads that run
 * while another one begins.
 */
void agent_register_beginning(void (*begin)(void));

/* Begins, unless that has been done or it is too early. `is_ready`: the caller knows that it is not. Returns
 * whether the agent has begun. Keeps errno. */
bool agent_begin(bool is_ready);

/* A hook that finds no recording calls this. Before the agent has begun it touches nothing that has to be
 * relocated. */
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

/*
 * A stack offset: the distance of an address from the lowest one of the thread's own stack. As large as that
 * stack or larger: the address is elsewhere. Below the stack it wraps round to a huge one.
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

/* The calling thread runs on this stack, of which the addresses below `end` cannot be used. Called before the
 * thread's first call, since stack offsets count from `low`. */
void agent_set_stack(uint64_t low, uint64_t bytes, uint64_t end);

/*
 * The calling thread's block; gives it a slot if it has none. NULL: it cannot have one, for all slots are
 * taken or the process may make no system call any more; its calls are counted as lost.
 */
struct fxt_block *agent_attach(void);

/* Whether the kernel lets the calling thread read the counter. It takes that from its parent. */
bool agent_may_read_clock(void);

/* Whether nothing of the calling thread is recorded; a new one may have that from its creator. */
bool agent_is_withheld(void);

/* From now on nothing of the calling thread is recorded, which is in no hook and has no open call; or it is
 * again, in the place where it was. */
void agent_withhold(enum agent_withheld why);
void agent_withhold_no_more(void);

/*
 * The life of a thread:
 *
 *   UNATTACHED --agent_attach()--> OUTSIDE <--hook, claim--> IN_HOOK <--a handler's hook--> IN_HANDLER
 *        ^                            ^                         |                               |
 *        |                            '-- a handler jumps out: agent_leave_hook() --------------'
 *        '--agent_rebirth()-- FORKED <--- any of them: the kernel wipes the child's blocks
 *
 * No hook stores a state: it is read off what the hooks store anyway, so that it costs them nothing.
 */
enum agent_thread_state {
	AGENT_THREAD_UNATTACHED, /* it has no block, and nothing of it is recorded yet */
	AGENT_THREAD_OUTSIDE,    /* of hooks: its block is IDLE */
	AGENT_THREAD_IN_HOOK, /* or in a record of the agent's own: whoever comes now is a signal handler */
	AGENT_THREAD_IN_HANDLER, /* a handler came into a hook, and is itself in one: its block is `nested` */
	AGENT_THREAD_FORKED,     /* in a child whose engine is its parent's: nothing of it may be touched */
	AGENT_THREAD_BORROWER,   /* what is here is another thread's, which uses it: nothing may be touched */
};

/*
 * Whether the calling thread was made by a clone() that left it the thread-local storage of its creator: what
 * lies there, `agent_self` too, is the creator's, who goes on using it. Nothing of such a thread is recorded,
 * and its calls are counted as lost.
 */
static inline bool agent_is_borrower(void)
{
	return unlikely(agent_self.owner) && !fxt_engine_was_forked(&agent_engine) &&
	       sys_gettid() != agent_self.owner;
}

/* The calling thread is about to clone with these flags. If it lends what is here, its hooks ask whose it is
 * from now on. */
void agent_clones(unsigned long flags);

/* Of the calling thread. */
static inline enum agent_thread_state agent_thread_state(void)
{
	if (fxt_engine_was_forked(&agent_engine))
		return AGENT_THREAD_FORKED;
	if (agent_is_borrower())
		return AGENT_THREAD_BORROWER;
	if (!agent_self.block)
		return AGENT_THREAD_UNATTACHED;
	if (load_relaxed(&agent_self.block->busy) == FXT_IDLE)
		return AGENT_THREAD_OUTSIDE;
	return agent_self.nested && load_relaxed(&agent_self.nested->busy) != FXT_IDLE
	               ? AGENT_THREAD_IN_HANDLER
	               : AGENT_THREAD_IN_HOOK;
}

/*
 * Whether what the calling thread knows of itself agrees with its state, with its slots and with its shadow
 * stacks. Made with DEBUG=1 the agent asks at every state it enters on the slow path, and aborts with a
 * notice where the answer is no.
 */
bool agent_thread_is_valid(void);

#ifdef FXT_DEBUG
void agent_check_thread(void);
#else
static inline void agent_check_thread(void)
{
}
#endif

/* Whether this is the process that set the engine up: false in a forked child, and in a vfork child, which
 * shares the memory of its parent. */
bool agent_is_own_process(void);

/*
 * A forked child forgets its parent's engine and begins anew. Whoever finds fxt_engine_was_forked() calls
 * this, on the slow path; afterwards agent_self.block is NULL, and nothing is recorded if there is no session
 * for the child. What is forgotten, and in which order, stands in life.c, which registers it here so that
 * nothing below has to know it.
 */
void agent_rebirth(void);
void agent_register_rebirth(void (*begin_anew)(void), void (*detach)(void));

/*
 * Around a fork, in the process that forks and in its child. A hook that the fork interrupts, as it is made
 * by a signal handler, goes on in the child with what it knows of the parent's memory, perhaps behind all
 * tests that would tell it whose that is. So there the child has memory of its own instead, at once; and born
 * again it leaves alone what such a hook may write to. Of a fork that is not told of here the latter is done,
 * and what the hook writes until then comes to the parent. A child does not go on that runs a function on a
 * stack of its own instead.
 */
void agent_self_before_fork(bool child_goes_on);
void agent_self_in_parent(void);
void agent_self_in_child(void);

/* In a forked child, before agent_self_forget(): whether a hook of its parent's may be going on in it. */
static inline bool agent_continues_hook(void)
{
	return !agent_self.forks_outside;
}

/* Where the manager reads how many children and new images are not recorded: in the session's common memory.
 * NULL: nowhere. */
extern HIDDEN uint32_t *agent_untraced;

/* Who waits for code that is instrumented, as one function: it is called once, by the first call in the
 * process that is recorded from then on, before that. The caller's block is SLOW_PATH. In a forked child of a
 * process without such calls, by the child's first. */
void agent_await_call(void (*function)(void));
extern void (*agent_awaiting_call)(void);
void agent_tell_call(void);

/* The part of the above that is known here: the engine, and the calling thread's blocks. */
void agent_self_forget(void);

#endif
