/*
 * Four threads, or processes that share the memory, all made by a clone() that leaves them
 * the thread-local storage of their creator, which runs on. Prints how many calls were
 * made.
 */
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 4, ROUNDS = 2000, STACK = 1 << 20 };

static unsigned long calls;
static int tid[CHILDREN];

static __attribute__((noinline)) int leaf(int x)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	return x + 1;
}

static __attribute__((noinline)) int nest(int depth)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	return depth ? nest(depth - 1) + leaf(depth) : 0;
}

static int child(void *unused)
{
	(void)unused;
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < ROUNDS; i++)
		nest(10);
	return 0;
}

int main(int argc, char **argv)
{
	int are_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
	int flags = are_threads ? CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
	                                  CLONE_SYSVSEM | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID
	                        : CLONE_VM | SIGCHLD;

	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < CHILDREN; i++) {
		char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int made = clone(child, stack + STACK, flags, NULL, &tid[i], NULL, &tid[i]);

		if (made < 0)
			return 1;
		if (!are_threads)
			tid[i] = made;
	}
	for (int i = 0; i < ROUNDS; i++)
		nest(10);
	for (int i = 0; i < CHILDREN; i++) {
		int seen;

		if (!are_threads)
			waitpid(tid[i], NULL, 0);
		while (are_threads && (seen = __atomic_load_n(&tid[i], __ATOMIC_ACQUIRE)))
			syscall(SYS_futex, &tid[i], FUTEX_WAIT, seen, NULL, NULL, 0);
	}
	printf("%lu\n", calls);
	return 0;
}
