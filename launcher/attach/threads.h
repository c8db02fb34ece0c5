/*
 * All threads of a process under ptrace(2): one that may make calls, and the others stopped
 * meanwhile.
 */
#ifndef FXT_LAUNCHER_ATTACH_THREADS_H
#define FXT_LAUNCHER_ATTACH_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "stack.h"
#include "tracee.h"
#include "waiting.h"

struct fxt_threads {
	pid_t pid;
	struct fxt_tracee **all; /* those that were seized, and those let go again */
	size_t count, room;
	uint64_t agent_begin, agent_end; /* where the agent is; 0: not loaded */
	struct fxt_stacks *stacks;       /* NULL: not needed yet */
	int refusal;                     /* the errno value of a thread that could not be seized; 0: none */
};

void fxt_threads_init(struct fxt_threads *threads, pid_t pid);

/* Notes the threads that wait. Each of them is stopped for a moment. */
void fxt_threads_note_waiting(struct fxt_threads *threads, struct fxt_waiting_list *list);

/* Finds a thread outside of all functions that must not be interrupted, and stops it; the
 * others run. Tries until the deadline (fxt_monotonic_ns()). From `late_ns` on it accepts
 * stacks that the unwinder cannot follow to their end. NULL: there is none, the process has
 * ended or is stopped by a signal, or `refusal` says why. */
struct fxt_tracee *fxt_threads_choose(struct fxt_threads *threads, uint64_t late_ns, uint64_t deadline_ns);

/* Stops all threads but `chosen`, none of them in the agent's own code. Threads that the C
 * library did not make run on, because the agent's helper is one of them. False: some did
 * not stop in that time, as in vfork(2); then all run again. */
bool fxt_threads_stop_others(
        struct fxt_threads *threads, const struct fxt_tracee *chosen, uint64_t patience_ns);

/* Releases all threads but `chosen`; NULL: all. */
void fxt_threads_release(struct fxt_threads *threads, const struct fxt_tracee *chosen);

void fxt_threads_free(struct fxt_threads *threads);

#endif
