/* System calls that only a process of one thread may make, and calls that take the clock
 * from it. */
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) int work(int n)
{
	return n + 1;
}

int main(void)
{
	work(1);
	printf("unshare %ld\n", syscall(SYS_unshare, CLONE_THREAD | CLONE_SIGHAND | CLONE_VM));
	work(2);
	printf("%d\n", prctl(PR_SET_TSC, PR_TSC_SIGSEGV));
	work(3);
	printf("%d\n", prctl(PR_SET_TSC, PR_TSC_ENABLE));
	return 0;
}
