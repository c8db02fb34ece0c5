/* Calls in tail position, into itself and others, which compilers turn into jumps, and calls that are
 * inlined. */
#include "count.h"

static volatile int sum;

static inline int small(int n)
{
	__atomic_add_fetch(&counts->leaf, 1, __ATOMIC_RELAXED);
	return n + 1;
}

KEPT static int last(int n)
{
	__atomic_add_fetch(&counts->nest, 1, __ATOMIC_RELAXED);
	sum += small(n);
	return sum;
}

KEPT static int even(int n);

KEPT static int odd(int n)
{
	__atomic_add_fetch(&counts->nest, 1, __ATOMIC_RELAXED);
	return n == 0 ? last(n) : even(n - 1);
}

KEPT static int even(int n)
{
	__atomic_add_fetch(&counts->nest, 1, __ATOMIC_RELAXED);
	return n == 0 ? small(n) : odd(n - 1);
}

UNTRACED int main(void)
{
	begin_counting();
	for (int i = 0; i < 100; i++)
		sum += even(i);
	report();
	return 0;
}
