/*
 * A program that refuses the agent the means to take calls of hooks out of its code. It
 * reads lines on standard input:
 *
 * - call N: N rounds of one kept() and ten hot()
 * - undumpable: /proc/self/mem is root's from now on
 * - mdwe: nothing that was not executable becomes it
 * - sandbox: a seccomp filter that allows everything
 * - unseen, walled: a seccomp filter for all threads, set by an instruction of its own. It
 *   refuses to open files and to write at a place of one; "walled" also refuses to change
 *   what pages may
 * - fork: a child goes on in its place; the program waits for the child
 *
 * After each line it prints how often it has called kept() and hot() so far, and how many
 * bytes of hot() have changed since the beginning. After one that the kernel does not know
 * it prints "none".
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../harm/own_call.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

#define QUIET __attribute__((no_instrument_function))

static volatile unsigned kept_calls, hot_calls;

__attribute__((noinline, aligned(64))) static void hot(void)
{
	hot_calls++;
}

__attribute__((noinline, aligned(64))) static void kept(void)
{
	kept_calls++;
}

#define REFUSE(number) ON(number, SECCOMP_RET_ERRNO | EPERM)

QUIET static long refuse(const char *how)
{
	struct sock_filter all[] = {OTHERWISE(SECCOMP_RET_ALLOW)};
	struct sock_filter some[] = {
	        NUMBER, REFUSE(SYS_openat), REFUSE(SYS_pwrite64), OTHERWISE(SECCOMP_RET_ALLOW)};
	struct sock_filter more[] = {NUMBER, REFUSE(SYS_openat), REFUSE(SYS_pwrite64), REFUSE(SYS_mprotect),
	        OTHERWISE(SECCOMP_RET_ALLOW)};
	struct sock_fprog filter = {1, all};

	if (!strcmp(how, "undumpable"))
		return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!strcmp(how, "mdwe"))
		return prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	if (!strcmp(how, "sandbox"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
	filter = !strcmp(how, "unseen") ? (struct sock_fprog){sizeof(some) / sizeof(*some), some}
	                                : (struct sock_fprog){sizeof(more) / sizeof(*more), more};
	return own_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, (long)&filter);
}

/* Through a pointer that the compiler knows nothing of: it is code. */
QUIET static const unsigned char *code(void)
{
	const void *at = (const void *)(size_t)hot;

	__asm__ volatile("" : "+r"(at)::"memory");
	return at;
}

QUIET int main(void)
{
	unsigned char before[64];
	char line[64];
	int rounds;

	memcpy(before, code(), sizeof(before));
	setvbuf(stdin, NULL, _IONBF, 0); /* or the child has what its parent has read ahead */
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		int changed = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "call %d", &rounds) == 1) {
			for (; rounds > 0; rounds--) {
				kept();
				for (int i = 0; i < 10; i++)
					hot();
			}
		} else if (!strcmp(line, "fork")) {
			if (fork())
				return wait(NULL) < 0;
			kept_calls = hot_calls = 0;
		} else if (refuse(line) != 0) {
			puts("none");
			continue;
		}
		for (size_t i = 0; i < sizeof(before); i++)
			changed += code()[i] != before[i];
		printf("%u %u %d\n", kept_calls, hot_calls, changed);
	}
	return 0;
}
