/* Every way to leave calls: it prints what came of each, which depends on all return addresses being found: by unwinders,
 * by longjmp, by contexts that are switched, beside a handler that calls functions every 200 us. */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdexcept>
#include <sys/time.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>
#include <vector>

#define CALLED __attribute__((noinline))
#define HERE   __asm__ volatile("")

static thread_local int destroyed;

struct guard {
	CALLED guard()
	{
		HERE;
	}
	CALLED ~guard()
	{
		destroyed++;
	}
};

CALLED static int throws(int n)
{
	guard g;

	if (n == 0)
		throw std::runtime_error("thrown");
	int result = throws(n - 1) + 1;
	HERE;
	return result;
}

CALLED static int rethrows(int n)
{
	try {
		return throws(n);
	} catch (std::runtime_error &) {
		guard g;

		throw;
	}
}

CALLED static int catches(int n)
{
	try {
		return rethrows(n);
	} catch (std::exception &e) {
		return (int)strlen(e.what());
	}
}

static jmp_buf target;

CALLED static void jumps(int n)
{
	if (n == 0)
		longjmp(target, 1);
	jumps(n - 1);
	HERE;
}

CALLED static int lands(int n)
{
	if (setjmp(target))
		return 1;
	jumps(n);
	return 0;
}

CALLED static int traces(int n)
{
	void *addresses[64];
	int result = n ? traces(n - 1) : backtrace(addresses, 64);

	HERE;
	return result;
}

static _Unwind_Reason_Code one_more(struct _Unwind_Context *, void *count)
{
	++*(int *)count;
	return _URC_NO_REASON;
}

CALLED static int unwinds(int n)
{
	int count = 0;

	if (n)
		count = unwinds(n - 1);
	else
		_Unwind_Backtrace(one_more, &count);
	HERE;
	return count;
}

CALLED static int odd(int n);

CALLED static int even(int n)
{
	return n == 0 ? 7 : odd(n - 1);
}

static int odd(int n)
{
	return n == 0 ? 9 : even(n - 1);
}

static sem_t is_deep;
static int cleaned;

struct counted {
	CALLED ~counted()
	{
		__atomic_fetch_add(&cleaned, 1, __ATOMIC_RELAXED);
	}
};

CALLED static int ends(int n, bool is_cancelled)
{
	counted c;

	if (n == 0 && !is_cancelled)
		pthread_exit(nullptr);
	if (n == 0) {
		sem_post(&is_deep);
		for (;;)
			pause();
	}
	int result = ends(n - 1, is_cancelled);
	HERE;
	return result + 1;
}

static void *exits(void *)
{
	ends(5, false);
	return nullptr;
}

static void *is_cancelled(void *)
{
	ends(5, true);
	return nullptr;
}

static ucontext_t first, contexts[3];
static int current;
static long sum;

CALLED static void yields()
{
	int mine = current;

	swapcontext(&contexts[mine], &first);
	HERE;
}

CALLED static void counts(int n, int depth)
{
	if (depth) {
		counts(n, depth - 1);
		sum += depth;
		return;
	}
	for (int i = 0; i < n; i++) {
		sum += i;
		yields();
	}
}

static void runs(int n)
{
	counts(n, n % 5 + 1);
}

static void switches()
{
	for (int i = 0; i < 3; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = malloc(65536);
		contexts[i].uc_stack.ss_size = 65536;
		contexts[i].uc_link = &first;
		makecontext(&contexts[i], (void (*)())runs, 1, 100 + i);
	}
	for (int round = 0; round < 103; round++)
		for (int i = 0; i < 3; i++)
			if (round <= 100 + i) {
				current = i;
				swapcontext(&first, &contexts[i]);
			}
}

/* Two threads may be in the handler at once. The compiler's own operations call nothing. */
static volatile int handled, handlers_sum;

CALLED static int in_handler(int x)
{
	HERE;
	return x + 1;
}

static void handle(int)
{
	__atomic_fetch_add(&handlers_sum, in_handler(0), __ATOMIC_RELAXED);
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

CALLED static int works(int rounds)
{
	int result = 0;

	for (int i = 0; i < rounds; i++)
		result += catches(i % 7);
	return result;
}

int main()
{
	struct itimerval often = {{0, 200}, {0, 200}}, never = {};
	struct sigaction action = {};
	std::vector<std::thread> threads;
	int results[4];

	printf("frames %d %d\n", traces(5), unwinds(5));
	action.sa_handler = handle;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, nullptr);
	setitimer(ITIMER_REAL, &often, nullptr);
	printf("caught %d, destroyed %d\n", catches(5), destroyed);
	printf("landed %d\n", lands(4) + lands(9));
	printf("tails %d %d\n", even(100001), even(10));
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&results, i] { results[i] = works(200); });
	for (auto &thread : threads)
		thread.join();
	printf("threads %d %d %d %d\n", results[0], results[1], results[2], results[3]);
	sem_init(&is_deep, 0, 0);
	for (int i = 0; i < 10; i++) {
		pthread_t thread;

		pthread_create(&thread, nullptr, exits, nullptr);
		pthread_join(thread, nullptr);
		pthread_create(&thread, nullptr, is_cancelled, nullptr);
		while (sem_wait(&is_deep) != 0)
			;
		pthread_cancel(thread);
		pthread_join(thread, nullptr);
	}
	printf("cleaned %d\n", cleaned);
	switches();
	printf("switched %ld\n", sum);
	while (handled < 20)
		works(1);
	setitimer(ITIMER_REAL, &never, nullptr);
	printf("handlers %s\n", handlers_sum == handled ? "right" : "wrong");
	return 0;
}
