/*
 * The agent's knowledge of the processor and of the C library's ABI for it, once for x86-64
 * and once for aarch64. Parts that other folders need too are in writer/shared/arch.h.
 */
#ifndef FXT_AGENT_ARCH_H
#define FXT_AGENT_ARCH_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#if defined(__x86_64__)

/* Whether thread-local variables lie behind a thread's control block (variant I of ELF's
 * TLS), not before it. */
enum { ARCH_VARIABLES_BEHIND_THREAD = 0 };

/*
 * clone(2) for a thread that runs `body` on the stack that ends at `stack_end` and then
 * exits. Returns 0 or more, or -errno. Libc's clone() is not used: ThreadSanitizer
 * interposes it and would take the thread for one of its own. The control block lies behind
 * `thread_pointer`; its first word is written here.
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

/* The stack pointer of the calling function. This is always inlined, at every optimization
 * level. */
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

/* Calls the resolver of an indirect function (STT_GNU_IFUNC), as the dynamic linker
 * does. */
static inline void *arch_resolve(uintptr_t resolver)
{
	return ((void *(*)(void))resolver)();
}

/* Whether valgrind runs this: its client request RUNNING_ON_VALGRIND does nothing
 * elsewhere. */
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

/* Whether calls of hooks can be patched (code.h). */
enum { ARCH_CAN_ERASE = 1 };

/* Whether calls of prepared entries can be recorded (agent/hook/thunks.c), and those of
 * functions with sleds (agent/hook/xray.c). */
#define ARCH_HAS_THUNKS 1
#define ARCH_HAS_SLEDS  1

/* Relocations of the word that calls a function, and of one with its address. */
#define ARCH_RELOCATION_CALL    R_X86_64_JUMP_SLOT
#define ARCH_RELOCATION_ADDRESS R_X86_64_GLOB_DAT

/* The return address of a function that was called from a frame with this stack pointer. */
static inline uint64_t arch_return_address(uint64_t stack_pointer)
{
	return ((const uint64_t *)(uintptr_t)stack_pointer)[-1];
}

/*
 * Registers by their numbers in unwind tables. ARCH_PC is the address where a frame
 * continues. ARCH_RETURN holds a called function's return address. ARCH_BP is the register
 * that, besides the stack pointer, most commonly locates frames.
 */
enum { ARCH_BP = 6, ARCH_SP = 7, ARCH_PC = 16, ARCH_RETURN = ARCH_PC, ARCH_REGISTERS = 17 };

/* The registers that a function preserves, one bit each, including the stack pointer. */
#define ARCH_KEPT_REGISTERS (UINT64_C(1) << 3 | UINT64_C(1) << 6 | UINT64_C(1) << 7 | UINT64_C(0xf) << 12)

/* Stores the kept registers, as they are in the function that this is inlined into, and
 * ARCH_PC. */
static inline __attribute__((always_inline)) void arch_store_registers(uint64_t registers[ARCH_REGISTERS])
{
	uint64_t here;

	__asm__ volatile("lea 0(%%rip), %0\n\t"
	                 "mov %%rbx, 24(%1)\n\t"
	                 "mov %%rbp, 48(%1)\n\t"
	                 "mov %%rsp, 56(%1)\n\t"
	                 "mov %%r12, 96(%1)\n\t"
	                 "mov %%r13, 104(%1)\n\t"
	                 "mov %%r14, 112(%1)\n\t"
	                 "mov %%r15, 120(%1)"
	                 : "=&a"(here)
	                 : "r"(registers)
	                 : "memory");
	registers[ARCH_PC] = here;
}

/* An address of code without the bits that the processor keeps above it. */
static inline uint64_t arch_code_address(uint64_t pointer)
{
	return pointer;
}

/* The code that a signal handler returns to: mov $15, %rax; syscall. */
static const uint8_t arch_sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* The offset from the stack pointer, in a handler's return code, at which the kernel saved
 * a register of the interrupted code. */
static inline uint64_t arch_saved_offset(unsigned number)
{
	static const uint8_t order[ARCH_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
	        REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	        REG_RIP};

	return offsetof(ucontext_t, uc_mcontext.gregs) + order[number] * sizeof(greg_t);
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

/* The resolver gets the processor's features: AT_HWCAP, with bit 62 if a second argument
 * follows. With 0 it chooses the variant that runs everywhere. */
static inline void *arch_resolve(uintptr_t resolver)
{
	return ((void *(*)(uint64_t, void *))resolver)(0, NULL);
}

static inline bool arch_is_emulated(void)
{
	return false;
}

enum { ARCH_CAN_ERASE = 0 };
#define ARCH_HAS_THUNKS 0
#define ARCH_HAS_SLEDS  0

#define ARCH_RELOCATION_CALL    R_AARCH64_JUMP_SLOT
#define ARCH_RELOCATION_ADDRESS R_AARCH64_GLOB_DAT

static inline uint64_t arch_return_address(uint64_t stack_pointer)
{
	(void)stack_pointer;
	return 0;
}

enum { ARCH_BP = 29, ARCH_RETURN = 30, ARCH_SP = 31, ARCH_PC = 32, ARCH_REGISTERS = 33 };

#define ARCH_KEPT_REGISTERS (UINT64_C(0x1fff) << 19)

static inline __attribute__((always_inline)) void arch_store_registers(uint64_t registers[ARCH_REGISTERS])
{
	uint64_t here, stack;

	__asm__ volatile("adr %0, .\n\t"
	                 "stp x19, x20, [%2, 152]\n\t"
	                 "stp x21, x22, [%2, 168]\n\t"
	                 "stp x23, x24, [%2, 184]\n\t"
	                 "stp x25, x26, [%2, 200]\n\t"
	                 "stp x27, x28, [%2, 216]\n\t"
	                 "stp x29, x30, [%2, 232]\n\t"
	                 "mov %1, sp"
	                 : "=&r"(here), "=&r"(stack)
	                 : "r"(registers)
	                 : "memory");
	registers[ARCH_SP] = stack;
	registers[ARCH_PC] = here;
}

/* Strips the address's signature. Processors without signatures execute this instruction as
 * a no-op. */
static inline uint64_t arch_code_address(uint64_t pointer)
{
	register uint64_t x30 __asm__("x30") = pointer;

	__asm__("hint 7" /* xpaclri */ : "+r"(x30));
	return x30;
}

/* mov x8, 139; svc 0 */
static const uint8_t arch_sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

static inline uint64_t arch_saved_offset(unsigned number)
{
	return sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.regs) + number * sizeof(uint64_t);
}

#endif

#endif
