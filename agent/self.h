/*
 * The agent: libfxtagent.so, preloaded into a program to record its calls. It links nothing but libc,
 * allocates by mmap, calls the kernel directly, and changes nothing the program can see but one helper thread
 * and some memory.
 *
 * Birth: the constructor connects to the manager (or becomes a standalone recorder) and starts the engine. A
 * forked child is born again at its first call, from zeros the kernel left it (see writer/engine.h). Death
 * needs no help: a manager takes what remains from shared memory.
 */
#ifndef FXT_AGENT_SELF_H
#define FXT_AGENT_SELF_H

#include <stdbool.h>
#include <stdint.h>
#include "writer/chunk.h"
#include "writer/engine.h"
#include "writer/strings.h"
#include "writer/threads.h"

/* What a thread knows of itself. Initial-exec: a dynamic model would allocate at its first use, inside
 * malloc. */
struct agent_self {
	struct fxt_block *block;      /* NULL until the thread's first call */
	struct fxt_thread_slot *slot; /* valid whenever block is */
	uint64_t stack_low;           /* lowest address of the thread's own stack */
	uint64_t stack_bytes;         /* 0: not told, then all addresses are taken to be on it */
	uint64_t stack_end;           /* lowest address of it that can be used */
	struct fxt_block *nested;     /* for handlers inside a hook; NULL until there was one */
};
extern __thread struct agent_self agent_self;

extern struct fxt_engine agent_engine;

/* Whether hooks record, and by which clock: one test for both, first at every call. Quiet until the
 * constructor has run and once the session ended. */
enum agent_recording {
	AGENT_WITHOUT_CALLS = -1, /* the session wants events of other categories only */
	AGENT_QUIET = 0,
	AGENT_BY_COUNTER = 1,
	AGENT_BY_MONOTONIC = 2, /* below AGENT_BY_COUNTER no hook records, above it another clock is read */
};
extern int32_t agent_recording;

static inline bool agent_records_calls(void)
{
	return load_relaxed(&agent_recording) >= AGENT_BY_COUNTER;
}

/* ---- agent.c ---- */

/* The calling thread's block; gives it a slot if it has none. NULL: it cannot have one. */
struct fxt_block *agent_attach(void);

/* Called out of line in a forked child: forgets the parent's engine and begins anew. */
void agent_reborn(void);

/* The end of a standalone recording: the file is written. */
void agent_end_standalone(void);

/* One line on standard error, from pieces; the last piece is NULL. */
void agent_notice(const char *piece, ...);

/* The text of a number in base 10, in buffer. */
const char *agent_number(char buffer[24], uint64_t number);

/* ---- aside.c ---- */

/* A handler was left by a jump, and with it the hook it had interrupted: the thread is outside of hooks
 * again. */
void agent_leave_hook(void);

/* ---- libc.c ---- */

/* From the constructor, before anything reads a clock. */
void agent_libc_prepare(void);

/* ---- sandbox.c ---- */

/* In place of a session's socket in the environment of an image that may make no system calls of ours. */
#define FXT_CONFINED "-"

/* Whether a prctl() sets a seccomp filter; one that is NULL only asks what the kernel can. */
bool agent_confines(unsigned long operation, unsigned long a, unsigned long b);

/* Around a call that does: afterwards no path of ours makes a system call. The second one if the call failed.
 */
void agent_sandbox_begins(bool is_strict);
void agent_sandbox_withdrawn(void);

/* ---- pthread.c ---- */

/* Once, in the constructor: learns of the end of threads. */
void agent_threads_prepare(void);

/* ---- modules.c ---- */

/* Records all modules loaded now. From the constructor only: it may wait for the loader's lock. */
void agent_modules_record_all(void);

/* Records those again that are known already, for a forked child, which has the same. No lock of the
 * loader's. */
void agent_modules_record_known(void);

/* The id of the module that holds an address, recorded at first sight; 0 = none. Under the engine's lock.
 * Takes no lock of the loader's: a thread inside dlopen() may be waiting for ours. */
uint32_t agent_module_of(uint64_t address);

/* The same for an address in a module's data. */
uint32_t agent_module_around(uint64_t address);

/* ---- provider.c ---- */

/* What the engine is to run on. */
struct agent_memory {
	void *buffer;
	uint64_t buffer_bytes;
	struct fxt_control *control;
};

/* Handshake with the manager that listens at `path`. False: refused, the session is over, or no answer within
 * a second (one notice). */
bool agent_connect(const char *path, bool is_new_image, struct agent_memory *memory);

/* ---- standalone.c ---- */

/* What to record of the heap where there is no manager to say so; NULL = the default. One notice about a
 * value that means nothing. From the constructor. */
void agent_standalone_heap(const char *mode, const char *stacks);

/* Memory of our own, for a process without a manager. `output` is the file to write, NULL = trace.<pid>.fxt.
 */
bool agent_standalone_prepare(const char *output, struct agent_memory *memory);

/* Saves one full buffer if there is one; true if it did. In the helper thread. */
bool agent_standalone_save(void);

/* At a normal exit: writes what remains, closes the file and has it symbolized. */
void agent_standalone_finish(void);

extern bool agent_is_standalone;

/* ---- orders.c ---- */

/* Carries out the latest order unless that was done. At birth, then by the helper thread only. Returns it. */
uint32_t agent_obey(void);

/* Whether more may come. */
bool agent_awaits_orders(void);

/* In a forked child, which has a memory of its own. */
void agent_orders_forget(void);

/* ---- helper.c ---- */

/*
 * Starts the helper thread unless it runs, and sees to it that it populates pages ahead of the writers if it
 * is wanted. It carries out orders; with no manager it saves full buffers. From any context, a hook's slow
 * path too.
 */
void agent_helper_start(void);

/* In a forked child, which has no helper thread. */
void agent_helper_forget(void);

/* Ends the helper and waits until it has left. */
void agent_helper_stop(void);

/* Whether it is time to populate pages: enough was recorded to make it worth while. */
static inline bool agent_helper_wanted(void)
{
	return agent_is_standalone || agent_engine.rolling_used > (UINT64_C(1) << 20) ||
	       agent_engine.wrapped > 0;
}

#endif
