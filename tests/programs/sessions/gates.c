/* Ten rounds of seven calls of leaf(), and one of gate(), which makes five more. A jump
 * leaves the last of those, and the gate around it, in every third round. A child does the
 * same. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

static jmp_buf out;

__attribute__((noinline)) static void leaf(int jumps)
{
	if (jumps)
		longjmp(out, 1);
	__asm__ volatile("");
}

__attribute__((noinline)) static void gate(int jumps)
{
	for (int i = 0; i < 5; i++)
		leaf(jumps && i == 4);
}

QUIET static void rounds(void)
{
	for (int i = 0; i < 10; i++) {
		for (int j = 0; j < 7; j++)
			leaf(0);
		if (!setjmp(out))
			gate(i % 3 == 2);
	}
}

QUIET int main(void)
{
	rounds();
	if (fork() == 0) {
		rounds();
		exit(0);
	}
	wait(NULL);
	return 0;
}
