/*
 * Processor-dependent code of writer/ and launcher/, each part once for x86-64 and once for
 * aarch64. Code that only the agent needs stands in agent/base/arch.h. No other file asks
 * which processor it is compiled for.
 */
#ifndef FXT_WRITER_ARCH_H
#define FXT_WRITER_ARCH_H

#include <elf.h>
#include <stdint.h>

#if defined(__x86_64__)

/* The machine of ELF files that run here, and the kernel's name for the counter below as a
 * clock source. */
#define ARCH_ELF_MACHINE  EM_X86_64
#define ARCH_CLOCK_SOURCE "tsc"

/* A counter that runs at one rate on all processors and that a program may read. */
static inline uint64_t arch_counter(void)
{
	return __builtin_ia32_rdtsc();
}

/* A system call: the kernel's value, or -errno. */
static inline long arch_system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

/* A bit that is 0 in the address of every function: half of the addresses are the
 * kernel's. */
#define ARCH_FREE_ADDRESS_BIT 47

#elif defined(__aarch64__)

#define ARCH_ELF_MACHINE      EM_AARCH64
#define ARCH_CLOCK_SOURCE     "arch_sys_counter"

/*
 * This counter runs at 1 to 1000 MHz, on many boards at 20 to 60. Several calls begin
 * between two of its ticks, and no two starts of a thread may be equal. Therefore a tick of
 * ours is 1/64 of the counter's tick, which is less than a nanosecond from 16 MHz on.
 * Otherwise each of these calls would put the thread's time forward by a counter tick [41
 * ns at 24 MHz], and ever further ahead of other threads' time. The value lasts for nine
 * years at 1000 MHz.
 */
static inline uint64_t arch_counter(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks << 6;
}

static inline long arch_system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
	                 : "+r"(x0)
	                 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
	                 : "memory");
	return x0;
}

/* Instructions lie at multiples of 4. */
#define ARCH_FREE_ADDRESS_BIT 0

#else
#error "fxt runs on x86-64 and aarch64; for another processor this file and agent/base/arch.h say what it needs"
#endif

#endif
