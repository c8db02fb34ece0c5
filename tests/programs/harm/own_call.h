/*
 * System calls by an instruction of the program's own, which no library sees; and the rules of a seccomp
 * filter that is set so: NUMBER first, then ON() for each system call, OTHERWISE() last.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#define NUMBER           BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ON(number, what) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), OTHERWISE(what)
#define OTHERWISE(what)  BPF_STMT(BPF_RET | BPF_K, (what))

__attribute__((no_instrument_function)) static long own_call(long number, long a, long b, long c)
{
#if defined(__x86_64__)
	__asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return number;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#endif
}
