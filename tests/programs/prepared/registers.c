/* Keeps values in every vector register that is there over calls of functions that are recorded, the first calls of their
 * functions among them: by arguments, by results, and where the compiler knows which registers a callee leaves alone. */
#include <immintrin.h>
#include <stdio.h>

#define CALLED __attribute__((noinline))

typedef double wide __attribute__((vector_size(32)));
typedef double widest __attribute__((vector_size(64)));

#define FUNCTIONS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

#define DEFINE(n)                                                                                      \
	CALLED __attribute__((target("avx"))) static wide with_avx_##n(wide a, wide b, wide c, wide d) \
	{                                                                                              \
		__asm__ volatile("");                                                                  \
		return a * (n + 1) + b - c * d;                                                        \
	}                                                                                              \
	CALLED __attribute__((target("avx512f"))) static widest with_avx512_##n(widest a, widest b)    \
	{                                                                                              \
		__asm__ volatile("");                                                                  \
		return a * (n + 2) - b;                                                                \
	}                                                                                              \
	CALLED static long double with_x87_##n(long double a, double b, float c)                       \
	{                                                                                              \
		__asm__ volatile("");                                                                  \
		return a * (n + 1) + (long double)b - (long double)c;                                  \
	}                                                                                              \
	CALLED static long with_many_##n(long a, long b, long c, long d, long e, long f, long g)       \
	{                                                                                              \
		__asm__ volatile("");                                                                  \
		return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + n;                        \
	}
FUNCTIONS(DEFINE)

/* Deep enough to make the room for open calls grow. */
CALLED __attribute__((target("avx"))) static wide deepens(wide a, wide b, wide c, wide d, int n)
{
	wide result = n ? deepens(b + 1, c, d, a, n - 1) : a + b * c - d;

	__asm__ volatile("");
	return result + a - b;
}

__attribute__((target("avx"))) static void use_avx(void)
{
	wide a = {1, 2, 3, 4}, b = {5, 6, 7, 8}, c = {9, 10, 11, 12}, d = {13, 14, 15, 16};

#define USE_AVX(n) a = with_avx_##n(a, b, c, d), b += a, c -= b / 16, d = d / 2 + c;
	FUNCTIONS(USE_AVX)
	printf("%g %g %g %g\n", a[0] + d[0], a[1] + d[1], a[2] + c[2], a[3] + b[3]);
	a = deepens(a, b, c, d, 5000);
	printf("%g %g %g %g\n", a[0], a[1], a[2], a[3]);
}

__attribute__((target("avx512f"))) static void use_avx512(void)
{
	widest a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {8, 7, 6, 5, 4, 3, 2, 1};

#define USE_AVX512(n) a = with_avx512_##n(a, b), b += a / 4;
	FUNCTIONS(USE_AVX512)
	for (int i = 0; i < 8; i++)
		printf("%g%c", a[i] + b[i], i < 7 ? ' ' : '\n');
}

int main(int argc, char **argv)
{
	long double x = argc;
	long sum = argc;

	(void)argv;
	if (__builtin_cpu_supports("avx"))
		use_avx();
	if (__builtin_cpu_supports("avx512f"))
		use_avx512();
#define USE_REST(n)                           \
	x = with_x87_##n(x, x + 1, n + 0.5f); \
	sum += with_many_##n(sum, 2, 3, sum, 5, 6, sum);
	FUNCTIONS(USE_REST)
	printf("%Lg %ld\n", x, sum);
	return 0;
}
