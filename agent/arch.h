/*
 * What the agent knows of the processor and of the C library's ABI for it, each once for x86-64 and once for
 * aarch64. What others need too stands in writer/arch.h.
 */
#ifndef FXT_AGENT_ARCH_H
#define FXT_AGENT_ARCH_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#if defined(__x86_64__)

/* Whether a thread's control block has the thread-local variables behind it (variant I of ELF's TLS), not
 * before it. */
enum { ARCH_VARIABLES_BEHIND_THREAD = 0 };

/*
 * clone(2) for a thread that runs `body` on the stack that ends at `stack_end` and then exits: 0 or more, or
 * -errno. Not libc's, which ThreadSanitizer interposes and then takes the thread for one of its own.
 * `thread_pointer` has its control block behind it, of which the first word is written.
 */
static inline long arch_clone(
        void (*body)(void), uint8_t *stack_end, unsigned long flags, uint32_t *tid, uint8_t *thread_pointer)
{
	register void *child_tid __asm__("r10") = tid;
	register void *tls __asm__("r8") = thread_pointer;
	long result;

	*(void **)thread_pointer = thread_pointer; /* the ABI's pointer to itself */
	__asm__ volatile("syscall\n\t"
	                 "test %%rax, %%rax\n\t"
	                 "jnz 1f\n\t"
	                 "xor %%ebp, %%ebp\n\t" /* the outermost frame */
	                 "call *%[body]\n\t"
	                 "xor %%edi, %%edi\n\t"
	                 "mov %[exit], %%eax\n\t"
	                 "syscall\n"
	                 "1:"
	                 : "=a"(result)
	                 : "a"(SYS_clone), "D"(flags), "S"(stack_end), "d"(tid), "r"(child_tid),
	                 "r"(tls), [body] "b"(body), [exit] "i"(SYS_exit)
	                 : "rcx", "r11", "memory");
	return result;
}

/* The caller's, into which this is inlined whatever the optimization. */
static inline __attribute__((always_inline)) uint64_t arch_stack_pointer(void)
{
	uint64_t pointer;

	__asm__ volatile("mov %%rsp, %0" : "=r"(pointer));
	return pointer;
}

/* The stack pointer that a jmp_buf holds, still xored with the C library's key. */
static inline uint64_t arch_jump_saved_word(const struct __jmp_buf_tag *environment)
{
	uint64_t word = ((const uint64_t *)environment->__jmpbuf)[6];

	return word >> 17 | word << 47;
}

static inline uint64_t arch_context_stack_pointer(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

/* Calls the resolver of an indirect function (STT_GNU_IFUNC), as the dynamic linker does. */
static inline void *arch_resolve(uintptr_t resolver)
{
	return ((void *(*)(void))resolver)();
}

/* Whether valgrind runs this: by its client request RUNNING_ON_VALGRIND, which does nothing elsewhere. */
static inline bool arch_is_emulated(void)
{
	const uint64_t request[6] = {0x1001};
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\t"
	                 "rolq $13, %%rdi\n\t"
	                 "rolq $61, %%rdi\n\t"
	                 "rolq $51, %%rdi\n\t"
	                 "xchgq %%rbx, %%rbx"
	                 : "+d"(answer)
	                 : "a"(request)
	                 : "cc", "memory");
	return answer != 0;
}

/* Whether calls of hooks can be taken out (code.h). */
enum { ARCH_CAN_ERASE = 1 };

/* Where a function returns to that was called from a frame with this stack pointer. */
static inline uint64_t arch_return_address(uint64_t stack_pointer)
{
	return ((const uint64_t *)(uintptr_t)stack_pointer)[-1];
}

#elif defined(__aarch64__)

enum { ARCH_VARIABLES_BEHIND_THREAD = 1 };

static inline long arch_clone(
        void (*body)(void), uint8_t *stack_end, unsigned long flags, uint32_t *tid, uint8_t *thread_pointer)
{
	register long x8 __asm__("x8") = SYS_clone;
	register unsigned long x0 __asm__("x0") = flags;
	register void *x1 __asm__("x1") = stack_end;
	register void *x2 __asm__("x2") = tid;
	register void *x3 __asm__("x3") = thread_pointer;
	register void *x4 __asm__("x4") = tid;
	register void (*x9)(void) __asm__("x9") = body;

	__asm__ volatile("svc 0\n\t"
	                 "cbnz x0, 1f\n\t"
	                 "mov x29, 0\n\t"
	                 "mov x30, 0\n\t"
	                 "blr x9\n\t"
	                 "mov x0, 0\n\t"
	                 "mov x8, %[exit]\n\t"
	                 "svc 0\n"
	                 "1:"
	                 : "+r"(x0)
	                 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x9), [exit] "i"(SYS_exit)
	                 : "memory");
	return (long)x0;
}

static inline __attribute__((always_inline)) uint64_t arch_stack_pointer(void)
{
	uint64_t pointer;

	__asm__ volatile("mov %0, sp" : "=r"(pointer));
	return pointer;
}

static inline uint64_t arch_jump_saved_word(const struct __jmp_buf_tag *environment)
{
	return ((const uint64_t *)environment->__jmpbuf)[13];
}

static inline uint64_t arch_context_stack_pointer(const ucontext_t *context)
{
	return context->uc_mcontext.sp;
}

/* The resolver is given the processor's features, AT_HWCAP with bit 62 to say that a second argument follows;
 * with 0 it chooses what runs everywhere. */
static inline void *arch_resolve(uintptr_t resolver)
{
	return ((void *(*)(uint64_t, void *))resolver)(0, NULL);
}

static inline bool arch_is_emulated(void)
{
	return false;
}

enum { ARCH_CAN_ERASE = 0 };

static inline uint64_t arch_return_address(uint64_t stack_pointer)
{
	(void)stack_pointer;
	return 0;
}

#endif

#endif
