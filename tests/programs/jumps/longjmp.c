/*
 * Jumps over any number of frames, into recursion of the same function, with later calls
 * from lower on the stack than the frames that were left; jumps that no library sees.
 * Prints "function calls", tab-separated.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

static volatile unsigned long falls, catches, recursions, afters, returns, leaps, stays;
static void *mark[5];
static jmp_buf back[64];

/* Jumps to back[target] from `depth` calls further down. */
KEPT void fall(int depth, int target)
{
	falls++;
	if (depth > 0)
		fall(depth - 1, target);
	longjmp(back[target], 1);
}

/* Called from a frame that reaches far down, so that it begins below every frame of fall(). */
KEPT void after(void)
{
	afters++;
}

UNTRACED static KEPT void call_from_below(void)
{
	char *room = alloca(16384);

	__asm__ volatile("" : : "r"(room) : "memory"); /* needed, for all the compiler knows */
	after();
	__asm__ volatile("" : : "r"(room) : "memory");
}

KEPT void land(int depth)
{
	catches++;
	if (setjmp(back[0]) == 0)
		fall(depth, 0);
	call_from_below();
}

/* Jumps by the compiler's own jump, which no library sees. The next call, from as high,
 * shows that the calls have ended. */
KEPT void leap(int depth)
{
	leaps++;
	if (depth > 0)
		leap(depth - 1);
	__builtin_longjmp(mark, 1);
}

KEPT void stay(int depth)
{
	stays++;
	if (__builtin_setjmp(mark) == 0)
		leap(depth);
	after();
}

/* A recursion that sets a mark in every call. The innermost call jumps to the call numbered
 * `target`. */
KEPT void recurse(int level, int levels, int target)
{
	recursions++;
	if (setjmp(back[level]) == 0) {
		if (level < levels)
			recurse(level + 1, levels, target);
		else
			longjmp(back[target], 1);
	} else {
		call_from_below();
	}
	returns++;
}

UNTRACED int main(void)
{
	for (int depth = 0; depth <= 40; depth++)
		land(depth);
	for (int depth = 0; depth <= 40; depth++)
		stay(depth);
	for (int target = 1; target <= 20; target++)
		recurse(1, 20, target);
	printf("after\t%lu\nfall\t%lu\nland\t%lu\nleap\t%lu\nrecurse\t%lu\nstay\t%lu\n", afters, falls,
	        catches, leaps, recursions, stays);
	fprintf(stderr, "%lu\n", recursions - returns + falls + leaps);
	return 0;
}
