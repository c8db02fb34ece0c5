/*
 * Sets a seccomp filter by an instruction of its own, which no library sees: unseen_filter HOW
 *
 *   thread    the thread that asks for its parent is killed: the only one
 *   strict    the same, in strict mode
 *   calls     strict mode, in which only calls come
 *   narrow    all but read, write and exit kills the process; only calls come after it
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define UNTRACED __attribute__((no_instrument_function))

enum { CALLS = 100000 };

UNTRACED static long own_call(long number, long a, long b, long c)
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

UNTRACED static long set_filter(struct sock_filter *rules, unsigned short count)
{
	struct sock_fprog filter = {count, rules};

	own_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0);
	return own_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&filter);
}

#define NUMBER           BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ON(number, what) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), OTHERWISE(what)
#define OTHERWISE(what)  BPF_STMT(BPF_RET | BPF_K, (what))

UNTRACED static long confine(const char *how)
{
	struct sock_filter thread[] = {
	        NUMBER, ON(SYS_getppid, SECCOMP_RET_KILL_THREAD), OTHERWISE(SECCOMP_RET_ALLOW)};
	struct sock_filter narrow[] = {NUMBER, ON(SYS_read, SECCOMP_RET_ALLOW),
	        ON(SYS_write, SECCOMP_RET_ALLOW), ON(SYS_exit_group, SECCOMP_RET_ALLOW),
	        OTHERWISE(SECCOMP_RET_KILL_PROCESS)};

	if (strcmp(how, "strict") == 0 || strcmp(how, "calls") == 0)
		return own_call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0);
	if (strcmp(how, "thread") == 0)
		return set_filter(thread, sizeof(thread) / sizeof(*thread));
	return set_filter(narrow, sizeof(narrow) / sizeof(*narrow));
}

__attribute__((noinline)) void work(volatile int *n)
{
	++*n;
}

UNTRACED int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	volatile int n = 0;

	work(&n);
	if (confine(how) != 0)
		return 9;
	if (strcmp(how, "narrow") == 0 || strcmp(how, "calls") == 0)
		while (n < CALLS)
			work(&n);
	else
		own_call(SYS_getppid, 0, 0, 0);
	if (strcmp(how, "calls") == 0) /* strict mode knows no other */
		own_call(SYS_exit, 7, 0, 0);
	own_call(SYS_exit_group, 7, 0, 0);
	return 8;
}
