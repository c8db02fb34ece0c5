/*
 * Confines itself, then calls: "strict" leaves it read, write, exit and sigreturn, "filter" the same and
 * exit_group, by prctl; "sync" by syscall(), for a thread with open calls too. A timer's
 * handler interrupts hooks at the same time. "refused" asks for what the kernel refuses,
 * and is as free as before. Prints how often it called, as counted in the functions
 * themselves.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

enum { CALLS = 20000, DEEP = 5000, TICKS = 20 };

static volatile unsigned long before, after, deep, beside, handled;
static volatile int is_over, runs, is_strict;

KEPT void call_before(void)
{
	before++;
}

KEPT void call_after(void)
{
	after++;
}

KEPT void dive(int depth)
{
	deep++;
	if (depth > 1)
		dive(depth - 1);
}

KEPT void call_beside(void)
{
	beside++;
}

KEPT void handle(void)
{
	handled++;
}

/* The timer cannot be stopped any more. */
UNTRACED static void handler(int number)
{
	(void)number;
	if (!is_over)
		handle();
}

UNTRACED static void *run(void *unused)
{
	for (runs = 1; !is_over;)
		call_beside();
	runs = 0;
	while (1)
		;
	return unused;
}

#define ALLOW(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_read),
        ALLOW(SYS_write),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_rt_sigreturn),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog filter = {sizeof(rules) / sizeof(*rules), rules};

/* No stdio: its first output asks what it writes to. */
UNTRACED static void report(void)
{
	unsigned long calls = before + after + deep + beside + handled;
	char text[24], *digit = text + sizeof(text);

	*--digit = '\n';
	do
		*--digit = (char)('0' + calls % 10);
	while (calls /= 10);
	if (write(1, digit, (size_t)(text + sizeof(text) - digit)) < 0)
		_exit(3);
}

/* Has children in a confined process, and becomes another image there. The tracer cannot
 * know what such a process may do. */
UNTRACED static int have_children(const char *self)
{
	struct sock_filter rule = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog all = {1, &rule};
	pid_t child;

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0)
		return 5;
	child = fork();
	if (child == 0) {
		call_after();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	call_before();
	execl(self, self, "image", NULL);
	return 6;
}

UNTRACED static long confine(const char *how)
{
	if (is_strict)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (strcmp(how, "sync") == 0)
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
	if (strcmp(how, "refused") == 0) {
		struct sock_fprog none = {0, rules};
		long asked = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL);

		return asked != -1 || errno != EFAULT ||
		       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &none) != -1 || errno != EINVAL;
	}
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

UNTRACED int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct sigaction action = {.sa_handler = handler};
	pthread_t thread;

	if (strcmp(how, "image") == 0) {
		call_after();
		report();
		return 0;
	}
	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < CALLS; i++)
		call_before();
	if (strcmp(how, "sync") == 0) {
		pthread_create(&thread, NULL, run, NULL);
		while (!runs)
			sched_yield();
	}
	is_strict = strcmp(how, "strict") == 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 4;
	if (strcmp(how, "children") == 0)
		return have_children(argv[0]);
	if (!is_strict)
		setitimer(ITIMER_REAL, &(struct itimerval){{0, 100}, {0, 100}}, NULL);
	if (confine(how) != 0)
		return 5;
	while (handled < TICKS && !(is_strict && after))
		for (int i = 0; i < CALLS; i++)
			call_after();
	dive(DEEP);
	is_over = 1;
	while (runs)
		;
	report();
	for (;;)
		syscall(is_strict ? SYS_exit : SYS_exit_group, 0);
}
