/*
 * The rare parts of the hooks, kept apart so that the hooks stay short (hooks.h): first
 * sight of a thread or a function, full chunks and shadow stacks, dead frames, forked
 * children, coroutines, and hooks inside of hooks, which belong to signal handlers.
 *
 * `stack_offset` is the stack pointer of the hook's caller as an offset (self.h);
 * `stack_pointer` is the same as an address. All functions run on the thread that owns the
 * writer.
 */
#ifndef FXT_AGENT_SLOW_PATH_H
#define FXT_AGENT_SLOW_PATH_H

#include "agent/base/attributes.h"
#include "agent/base/self.h"

/* The thread's first call. */
COLD void agent_enter_first(void *function, void *call_site, uint64_t stack_offset);

/* A call that the hook cannot enter or leave by itself. The writer is IDLE afterwards,
 * whatever it was before. */
COLD void agent_enter_slow_path(
        struct fxt_thread_writer *writer, const void *function, const void *call_site, uint64_t stack_offset);
COLD void agent_leave_slow_path(
        struct fxt_thread_writer *writer, const void *function, uint64_t stack_pointer);

/* An exit on a thread that has no writer. */
COLD void agent_leave_first(const void *function, uint64_t stack_pointer);

/* A handler's call: the writer is not IDLE, because the handler came into a hook. */
COLD void agent_enter_nested(
        struct fxt_thread_writer *writer, const void *function, const void *call_site, uint64_t stack_offset);
COLD void agent_leave_nested(struct fxt_thread_writer *writer, const void *function, uint64_t stack_pointer);

/* A jump has left a signal handler, and with it the hook that the handler interrupted. This
 * ends everything that both had begun, and the thread is OUTSIDE of hooks again. If the
 * hook may have held a lock in a confined process, nothing is recorded any more. */
void agent_leave_hook(void);

#endif
