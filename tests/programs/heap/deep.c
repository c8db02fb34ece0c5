/* Allocates a block of 70000 bytes below as many calls of dive() as the argument says. */
#include <stdlib.h>

static __attribute__((noinline)) void allocate(void)
{
	void *volatile block = malloc(70000);

	free(block);
}

static __attribute__((noinline)) int dive(int depth)
{
	volatile int result = depth;

	if (depth > 1)
		dive(depth - 1);
	else
		allocate();
	return result;
}

int main(int argc, char **argv)
{
	return dive(argc > 1 ? atoi(argv[1]) : 1) == 0;
}
