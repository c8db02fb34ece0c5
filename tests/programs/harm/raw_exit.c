/*
 * Processes that end by the system call that ends a thread, made by their last thread, and
 * not by the one that ends a process. The parent waits for each and prints its status.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(int n)
{
	return n + 1;
}

__attribute__((noinline)) static void raw_exit(long status)
{
#if defined(__x86_64__)
	__asm__ volatile("syscall" : : "a"(SYS_exit), "D"(status) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long number __asm__("x8") = SYS_exit;
	register long x0 __asm__("x0") = status;

	__asm__ volatile("svc 0" : : "r"(number), "r"(x0) : "memory");
#endif
	__builtin_unreachable();
}

/* A main thread that has ended has no memory any more. */
static void await_end_of_main_thread(void)
{
	char line[64] = "";

	while (strncmp(line, "0 ", 2) != 0) {
		FILE *file = fopen("/proc/self/statm", "r");

		if (!fgets(line, sizeof(line), file))
			abort();
		fclose(file);
	}
}

static void *ends_last(void *unused)
{
	(void)unused;
	work(1);
	await_end_of_main_thread();
	work(2);
	raw_exit(6);
	return NULL;
}

static void by_libc(void)
{
	syscall(SYS_exit, 3);
}

static void by_assembly(void)
{
	raw_exit(4);
}

static void before_another_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, ends_last, NULL);
	raw_exit(6);
}

static void in_nested_call(void)
{
	by_assembly();
}

/* Makes a child by the system call alone. Its end clears no word in memory, unlike that of
 * a child of libc's fork(). */
static pid_t raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void child(pid_t (*make)(void), void (*end)(void))
{
	int status;
	pid_t pid = make();

	if (pid == 0) {
		work(0);
		end();
	}
	if (waitpid(pid, &status, 0) == pid)
		printf("%x\n", (unsigned)status);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strcmp(argv[1], "itself") == 0) {
		getchar();
		before_another_thread();
		return 1;
	}
	child(fork, by_libc);
	child(fork, by_assembly);
	child(fork, before_another_thread);
	child(fork, in_nested_call);
	child(raw_fork, by_assembly);
	return 0;
}
