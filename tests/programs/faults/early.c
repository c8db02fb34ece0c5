/*
 * Calls before main: in a resolver of an indirect function and in .preinit_array, where no tracer can be at
 * work yet, and in constructors of first priority, which are counted.
 */
#include "count.h"

static volatile int resolved, before;

/* Of hidden visibility: the program is not relocated yet. */
KEPT __attribute__((visibility("hidden"))) void too_early(void)
{
	__asm__ volatile("");
}

UNTRACED static int implementation(void)
{
	return 7;
}

typedef int function(void);
KEPT static function *resolve(void)
{
	too_early();
	resolved = 1;
	return implementation;
}
int indirect(void) __attribute__((ifunc("resolve")));

KEPT static void before_all(void)
{
	too_early();
	before = 1;
}
__attribute__((section(".preinit_array"), used)) static void (*preinit)(void) = before_all;

UNTRACED __attribute__((constructor(101))) static void construct(void)
{
	begin_counting();
	nest(3);
}

UNTRACED __attribute__((destructor(101))) static void destroy(void)
{
	nest(4);
	report();
}

UNTRACED int main(void)
{
	nest(2);
	printf("%d %d %d\n", indirect(), resolved, before);
	return 0;
}
