/*
 * Sets a seccomp filter by an instruction of its own, which no library sees: unseen_filter
 * HOW
 *
 *   thread    the thread that asks for its parent is killed: the only one
 *   strict    the same, in strict mode
 *   calls     strict mode; only calls come after it
 *   narrow    all but read, write and exit kills the process; only calls come after it
 */
#include <string.h>
#include <sys/prctl.h>
#include "own_call.h"

#define UNTRACED __attribute__((no_instrument_function))

enum { CALLS = 100000 };

UNTRACED static long set_filter(struct sock_filter *rules, unsigned short count)
{
	struct sock_fprog filter = {count, rules};

	own_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0);
	return own_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&filter);
}

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
