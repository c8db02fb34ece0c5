/* Threads call functions until the end of the input, while some of these are left out again
 * and again. Then it prints how often each function was called: NAME COUNT. Every thread
 * counts its own calls and checks what the functions return. Arguments: the number of
 * threads, then what else goes on at the same time:
 *
 *   signals  a timer's handler calls functions too
 *   forks    children call functions as well, and are waited for
 *   plugin   the first thread loads the library FILE, calls its function, and unloads it; FILE
 *            is the next argument */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET  __attribute__((no_instrument_function, patchable_function_entry(0)))
#define CALLED __attribute__((noinline))

enum { KEPT, KEPT_TAIL, LEAF, TAIL, DEEP, ONE, OTHER, BOTH, SIGNALLED, PLUGIN, FUNCTIONS };
static const char *const names[FUNCTIONS] = {
        "kept", "kept_tail", "leaf", "tail", "deep", "one", "other", "both", "signalled", "plugged"};

/* Shared with children. */
static atomic_ulong *totals;
static atomic_int is_over;
static int has_forks, has_signals;
static const char *plugin;
static __thread unsigned long made[FUNCTIONS];
static volatile sig_atomic_t signalled_calls;
static volatile int sink;

CALLED static int kept(int x)
{
	made[KEPT]++;
	return x + 1;
}

CALLED static void kept_tail(int x)
{
	made[KEPT_TAIL]++;
	sink = x;
}

CALLED static int leaf(int x)
{
	made[LEAF]++;
	return kept(x) + 1;
}

CALLED static void tail(int x)
{
	made[TAIL]++;
	sink = x;
}

/* Inlined into the next, and never called. */
__attribute__((always_inline)) static inline int rare(int n)
{
	sink = n;
	return n + 1;
}

CALLED static int deep(int n)
{
	made[DEEP]++;
	if (n < 0)
		return rare(n);
	return n ? deep(n - 1) + kept(n) - n : 0;
}

/* Two that are inlined into a third; compilers let their exits share a call of the hook. */
__attribute__((always_inline)) static inline int one(int x)
{
	made[ONE]++;
	if (x & 2) {
		sink = x;
		return x * 3;
	}
	return x - 1;
}

__attribute__((always_inline)) static inline int other(int x)
{
	made[OTHER]++;
	sink = -x;
	return x * 5;
}

CALLED static int both(int x)
{
	made[BOTH]++;
	if (x & 1)
		return one(x);
	else
		return other(x);
}

CALLED static void signalled(void)
{
	signalled_calls++;
}

/* As a sanitizer's, it knows no thread but those that libc has made. */
QUIET void *memchr(const void *memory, int byte, size_t count)
{
	const volatile unsigned char *at = memory;

	if (!pthread_self())
		abort();
	for (; count; at++, count--)
		if (*at == (unsigned char)byte)
			return (void *)(unsigned long)at;
	return NULL;
}

QUIET static void handle(int signal)
{
	(void)signal;
	signalled();
}

QUIET static void call_all(int i)
{
	int expected = i & 1 ? i & 2 ? i * 3 : i - 1 : i * 5;

	tail(i);
	kept_tail(i);
	if (kept(i) != i + 1 || leaf(i) != i + 2 || deep(i % 5) != i % 5 || both(i) != expected)
		abort();
}

QUIET static void settle(void)
{
	for (int i = 0; i < FUNCTIONS; i++) {
		totals[i] += made[i];
		made[i] = 0;
	}
}

QUIET static void fork_one(void)
{
	pid_t child;

	settle();
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 2000; i++)
			call_all(i);
		settle();
		_exit(0);
	}
	if (waitpid(child, &(int){0}, 0) != child)
		abort();
}

QUIET static void load_one(void)
{
	void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	int (*plugged)(int) = library ? (int (*)(int))dlsym(library, "plugged") : NULL;

	if (!plugged)
		abort();
	for (int i = 0; i < 1000; i++)
		if (plugged(i) != i + 7)
			abort();
	made[PLUGIN] += 1000;
	dlclose(library);
}

QUIET static void *run(void *argument)
{
	int is_first = !argument;

	for (int i = 0; !is_over; i = (i + 1) & 0xffff) {
		call_all(i);
		if (is_first && plugin && i % 1000 == 0)
			load_one();
		if (is_first && has_forks && i % 20000 == 0)
			fork_one();
		if (i % 64 == 0) /* so that traces stay small */
			usleep(1000);
	}
	settle();
	return NULL;
}

QUIET int main(int count, char **arguments)
{
	int thread_count = count > 1 ? atoi(arguments[1]) : 1;
	pthread_t threads[64];

	for (int i = 2; i < count; i++) {
		has_forks |= !strcmp(arguments[i], "forks");
		has_signals |= !strcmp(arguments[i], "signals");
		if (!strcmp(arguments[i], "plugin"))
			plugin = arguments[i + 1];
	}
	totals = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (totals == MAP_FAILED || thread_count > 64)
		return 1;
	puts("ready");
	fflush(stdout);
	if (has_signals) {
		signal(SIGALRM, handle);
		setitimer(ITIMER_REAL, &(struct itimerval){{0, 500}, {0, 500}}, NULL);
	}
	for (long i = 0; i < thread_count; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	while (poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, -1) < 0) /* the timer */
		;
	is_over = 1;
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
	totals[SIGNALLED] = (unsigned long)signalled_calls;
	for (int i = 0; i < FUNCTIONS; i++)
		printf("%s %lu\n", names[i], totals[i]);
	return 0;
}
