/*
 * Lesson 2: recursion. Ackermann's function nests hundreds of calls deep and comes up again; Perfetto draws
 * the calls of a thread as a flame: what is called hangs below its caller.
 */
#include <stdio.h>

static unsigned ackermann(unsigned m, unsigned n)
{
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

int main(void)
{
	for (unsigned n = 0; n < 5; n++)
		printf("ackermann(3, %u) = %u\n", n, ackermann(3, n));
}
