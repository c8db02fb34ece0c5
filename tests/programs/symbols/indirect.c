/*
 * indirect: calls functions that have two clones, and prints how often it called each. The
 * loader chooses the clone. As a library (-DLIBRARY) it has call_library() alone.
 */
#include <stdio.h>

#define CLONES __attribute__((target_clones("avx2", "default"), noinline))
#define HIDDEN __attribute__((visibility("hidden")))

int call_library(void);

#ifdef LIBRARY

HIDDEN CLONES int hidden_in_library(int number)
{
	return number + 1;
}

CLONES int in_library(int number)
{
	return number + 2;
}

int call_library(void)
{
	int sum = 0;

	for (int i = 0; i < 4; i++)
		sum += hidden_in_library(i);
	for (int i = 0; i < 5; i++)
		sum += in_library(i);
	return sum;
}

#else

HIDDEN CLONES int hidden_in_program(int number)
{
	return number + 1;
}

CLONES int in_program(int number)
{
	return number + 2;
}

int main(void)
{
	volatile int sum = 0;

	for (int i = 0; i < 2; i++)
		sum += hidden_in_program(i);
	for (int i = 0; i < 3; i++)
		sum += in_program(i);
	sum += call_library();
	puts("call_library\t1\nhidden_in_library\t4\nhidden_in_program\t2\nin_library\t5\nin_"
	     "program\t3\nmain\t1");
	return 0;
}

#endif
