/*
 * One thread of another process under ptrace(2): it is seized, stopped, made to call
 * functions, and released as it was.
 *
 * A call runs on memory of its own, because the thread's stack may be a coroutine's of a
 * few pages. The call returns to an address where nothing is mapped; the fault there stops
 * the thread, and the kernel tells us before the program can notice. During calls the
 * thread's signal mask blocks everything except faults. Signals that come meanwhile stay
 * pending in the kernel and reach the program afterwards.
 *
 * Restoring the registers also restores an interrupted system call: the kernel sees its
 * number and result again, and restarts it.
 *
 * All functions must be called by the thread that seized. It has SIGCHLD blocked. If it
 * ends, the kernel releases all threads that it seized.
 */
#ifndef FXT_LAUNCHER_ATTACH_TRACEE_H
#define FXT_LAUNCHER_ATTACH_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "arch.h"

enum fxt_tracee_state {
	FXT_TRACEE_GONE = 0, /* it has ended, or was never seized */
	FXT_TRACEE_RUNNING,
	FXT_TRACEE_STOPPED,
};

struct fxt_tracee {
	pid_t pid, tid;
	enum fxt_tracee_state state;
	bool is_group_stopped; /* by SIGSTOP and its kind; it stays so after the release */
	bool is_let_run;       /* it need not stop (threads.h) */
	bool has_held_stop;    /* a SIGSTOP came during a call, and is sent again */

	/* Valid from fxt_tracee_borrow() to fxt_tracee_give_back(). */
	struct user_regs_struct registers;
	uint8_t vectors[ARCH_VECTOR_BYTES];
	size_t vector_bytes;
	uint64_t mask;
	uint64_t memory; /* FXT_TRACEE_MEMORY_BYTES in the process */
	uint64_t sp;     /* of the next call */
	struct user_regs_struct now, callback;
};

/* The lower half is for data that the caller writes there, the rest is the stack. */
#define FXT_TRACEE_MEMORY_BYTES (UINT64_C(512) << 10)
#define FXT_TRACEE_DATA_BYTES   (FXT_TRACEE_MEMORY_BYTES / 2)

/* Addresses that a call ends at. */
#define FXT_TRACEE_RETURN   UINT64_C(0x100)
#define FXT_TRACEE_CALLBACK UINT64_C(0x200) /* as a function that the callee calls */

/* Returns 0, or an errno value. The thread runs on. */
int fxt_tracee_seize(struct fxt_tracee *tracee, pid_t pid, pid_t tid);

/* Stops a running thread. False: it has ended, or it did not stop in that time, as in
 * vfork(2) and in some waits of the kernel. */
bool fxt_tracee_stop(struct fxt_tracee *tracee, uint64_t patience_ns);

/* Runs a stopped thread until it is about to execute the instruction at that address, and
 * stops it there or, after that time, anywhere. Waits for longer if it cannot be stopped.
 * False: it has ended. */
bool fxt_tracee_run_to(struct fxt_tracee *tracee, uint64_t address, uint64_t patience_ns);

/* Lets a stopped thread run for that time, and stops it again. Returns the same as
 * fxt_tracee_stop(). */
bool fxt_tracee_run(struct fxt_tracee *tracee, uint64_t ns, uint64_t patience_ns);

/* Releases the thread, which runs on. A running one is stopped first; if that fails, it
 * stays seized until we end, which does no harm. */
void fxt_tracee_release(struct fxt_tracee *tracee);

/* The registers of a stopped thread; false: it was killed. */
bool fxt_tracee_registers(const struct fxt_tracee *tracee, struct user_regs_struct *registers);

/* True if the thread is inside a restartable sequence, which no call may interrupt. */
bool fxt_tracee_is_in_sequence(const struct fxt_tracee *tracee);

/* Prepares a stopped thread for calls; `map` is the address of mmap() in the process.
 * Returns 0, or an errno value; the thread is as it was then. */
int fxt_tracee_borrow(struct fxt_tracee *tracee, uint64_t map);

/* The thread goes back to where it was. `unmap` is the address of munmap(). */
void fxt_tracee_give_back(struct fxt_tracee *tracee, uint64_t unmap);

/* Why a call stopped. */
enum fxt_tracee_event {
	FXT_TRACEE_RETURNED,
	FXT_TRACEE_CALLED_BACK, /* the callee has called FXT_TRACEE_CALLBACK; further calls
	                         * are made inside it */
	FXT_TRACEE_TIMED_OUT,   /* it runs; fxt_tracee_wait() waits on */
	FXT_TRACEE_ENDED,       /* the thread has ended */
};

/* Makes a borrowed thread call a function. */
enum fxt_tracee_event fxt_tracee_call(
        struct fxt_tracee *tracee, uint64_t function, const uint64_t arguments[6], uint64_t patience_ns);
enum fxt_tracee_event fxt_tracee_wait(struct fxt_tracee *tracee, uint64_t patience_ns);

/* True if a call that timed out waits for a lock: it is stopped then, and giving the thread
 * back ends its wait. Otherwise it runs on. */
bool fxt_tracee_is_waiting(struct fxt_tracee *tracee);

/* The value that the call has returned. */
uint64_t fxt_tracee_result(const struct fxt_tracee *tracee);

/* Returns that value from the callback, to its caller. */
enum fxt_tracee_event fxt_tracee_end_callback(
        struct fxt_tracee *tracee, uint64_t result, uint64_t patience_ns);

/* Copies memory of the process. False: it is not mapped. */
bool fxt_tracee_read(const struct fxt_tracee *tracee, uint64_t address, void *data, size_t bytes);
bool fxt_tracee_write(const struct fxt_tracee *tracee, uint64_t address, const void *data, size_t bytes);

#endif
