/* A function in a coroutine that takes two milliseconds, while the thread that resumed it is in that function
 * too, inside of hidden(). */
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

static ucontext_t thread, coroutine;
static char stack[256 << 10];

UNTRACED static int64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

KEPT void resume_or_work(int resumes)
{
	int64_t end = nanoseconds() + 2000000;

	if (resumes)
		swapcontext(&thread, &coroutine);
	else
		while (nanoseconds() < end)
			;
}

UNTRACED static void run(void)
{
	resume_or_work(0);
}

KEPT void hidden(void)
{
	resume_or_work(1);
}

int main(void)
{
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof(stack);
	coroutine.uc_link = &thread;
	makecontext(&coroutine, run, 0);
	hidden();
	return 0;
}
