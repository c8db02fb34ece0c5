/*
 * The registers of a stopped thread, and its breakpoint, for one processor each. Attaching
 * works on x86-64.
 */
#ifndef FXT_LAUNCHER_ATTACH_ARCH_H
#define FXT_LAUNCHER_ATTACH_ARCH_H

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#if defined(__x86_64__)

#define ARCH_CAN_ATTACH true
/* The register set that has the vector registers, and room for the largest one. */
#define ARCH_VECTOR_SET   NT_X86_XSTATE
#define ARCH_VECTOR_BYTES 16384
/* A signal handler or a leaf function may use that much memory below the stack pointer. */
#define ARCH_RED_ZONE 128

static inline uint64_t arch_pc(const struct user_regs_struct *r)
{
	return r->rip;
}

static inline uint64_t arch_sp(const struct user_regs_struct *r)
{
	return r->rsp;
}

/* In threads of glibc this is the address of a block that has its own address at
 * ARCH_THREAD_SELF. The agent's helper has a block without that. */
#define ARCH_THREAD_SELF 16

static inline uint64_t arch_thread_pointer(const struct user_regs_struct *r)
{
	return r->fs_base;
}

static inline uint64_t arch_result(const struct user_regs_struct *r)
{
	return r->rax;
}

/* Registers for a call of a function with six integer arguments. The return address is
 * already at `sp`. No system call is to be restarted. */
static inline void arch_set_call(
        struct user_regs_struct *r, uint64_t function, uint64_t sp, const uint64_t arguments[6])
{
	r->rip = function;
	r->rsp = sp;
	r->rdi = arguments[0];
	r->rsi = arguments[1];
	r->rdx = arguments[2];
	r->rcx = arguments[3];
	r->r8 = arguments[4];
	r->r9 = arguments[5];
	r->rax = 0;
	r->orig_rax = UINT64_MAX;
	r->eflags &= ~UINT64_C(0x500); /* direction and single step */
}

/* Registers for the return from a function to that address. */
static inline void arch_set_return(struct user_regs_struct *r, uint64_t address, uint64_t result)
{
	r->rip = address;
	r->rsp += 8;
	r->rax = result;
	r->orig_rax = UINT64_MAX;
}

/* True if the stop has interrupted a system call, which the thread waited in. The results
 * between -516 and -512 tell the kernel to restart it. */
static inline bool arch_was_waiting(const struct user_regs_struct *r)
{
	int64_t result = (int64_t)r->rax;

	return (int64_t)r->orig_rax >= 0 && result >= -516 && result <= -512;
}

/* Has the kernel restart a system call that the stop has ended: epoll_wait(2), a receive with
 * a timeout and some others fail then, where most wait on. After close(2) and connect(2) the
 * same call would mean something else. False: nothing is to be changed. */
static inline bool arch_restart(struct user_regs_struct *r)
{
	enum { RESTART_UNLESS_HANDLED = -514 };

	if ((int64_t)r->orig_rax < 0 || (int64_t)r->rax != -EINTR || r->orig_rax == SYS_close ||
	        r->orig_rax == SYS_connect)
		return false;
	r->rax = (uint64_t)RESTART_UNLESS_HANDLED;
	return true;
}

/* True if the thread waits in futex(2). */
static inline bool arch_is_waiting(const struct user_regs_struct *r)
{
	return r->orig_rax == SYS_futex;
}

/* Makes the thread alone stop before it executes the instruction at that address; 0: no
 * longer. False: the machine does not let us. */
static inline bool arch_set_breakpoint(pid_t tid, uint64_t address)
{
	const size_t first = offsetof(struct user, u_debugreg);

	if (ptrace(PTRACE_POKEUSER, tid, first + 7 * 8, 0L) != 0 ||
	        ptrace(PTRACE_POKEUSER, tid, first, address) != 0)
		return false;
	return !address || ptrace(PTRACE_POKEUSER, tid, first + 7 * 8, 1L) == 0;
}

#else

#define ARCH_CAN_ATTACH   false
#define ARCH_VECTOR_SET   NT_FPREGSET
#define ARCH_VECTOR_BYTES 1024
#define ARCH_RED_ZONE     0
#define ARCH_THREAD_SELF  0

static inline uint64_t arch_pc(const struct user_regs_struct *r)
{
	return r->pc;
}

static inline uint64_t arch_sp(const struct user_regs_struct *r)
{
	return r->sp;
}

static inline uint64_t arch_thread_pointer(const struct user_regs_struct *r)
{
	(void)r;
	return 0;
}

static inline uint64_t arch_result(const struct user_regs_struct *r)
{
	return r->regs[0];
}

static inline void arch_set_call(
        struct user_regs_struct *r, uint64_t function, uint64_t sp, const uint64_t arguments[6])
{
	(void)arguments;
	r->pc = function;
	r->sp = sp;
}

static inline void arch_set_return(struct user_regs_struct *r, uint64_t address, uint64_t result)
{
	r->pc = address;
	r->regs[0] = result;
}

static inline bool arch_was_waiting(const struct user_regs_struct *r)
{
	(void)r;
	return false;
}

static inline bool arch_restart(struct user_regs_struct *r)
{
	(void)r;
	return false;
}

static inline bool arch_is_waiting(const struct user_regs_struct *r)
{
	(void)r;
	return false;
}

static inline bool arch_set_breakpoint(pid_t tid, uint64_t address)
{
	(void)tid, (void)address;
	return false;
}

#endif

#endif
