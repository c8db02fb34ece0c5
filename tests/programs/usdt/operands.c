/*
 * Probes with every kind of operand. Prints what the trace has to say of each, as
 * tests/independent/saiddecode.py does; the argument says how often.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sdt.h>

#define NOINLINE __attribute__((noinline))

int8_t global_i8 = -3;
uint32_t global_u32 = 4000000000u;
static volatile long long table[4] = {10, -20, 30, -40};

NOINLINE void numbers(int a, long b, unsigned char c, const int *array, int i)
{
	short s = (short)(a * 3);
	double d = a / 4.0 + 0.125;
	float f = (float)a / 2 + 0.25f;

	STAP_PROBE(unit, none);
	STAP_PROBE2(unit, constants, 17, -5000000000L);
	STAP_PROBE3(unit, arguments, a, b, c);
	STAP_PROBE4(unit, memory, global_i8, global_u32, table[i], array[i]);
	STAP_PROBE3(unit, small, s, (signed char)b, (unsigned short)b);
	STAP_PROBE2(unit, real, d, f);
	printf("instant\tunit\tnone\n");
	printf("instant\tunit\tconstants\targ1=int32:17\targ2=int64:-5000000000\n");
	printf("instant\tunit\targuments\targ1=int32:%d\targ2=int64:%ld\targ3=uint32:%u\n", a, b, c);
	printf("instant\tunit\tmemory\targ1=int32:%d\targ2=uint32:%u\targ3=int64:%lld\targ4=int32:%d\n",
	        global_i8, global_u32, table[i], array[i]);
	printf("instant\tunit\tsmall\targ1=int32:%d\targ2=int32:%d\targ3=uint32:%u\n", s, (signed char)b,
	        (unsigned short)b);
	printf("instant\tunit\treal\targ1=double:%.17g\targ2=double:%.17g\n", d, (double)f);
}

NOINLINE void texts(const char *text, const char *none, const char *wild)
{
	STAP_PROBE3(unit, texts, text, none, wild);
	printf("instant\tunit\ttexts\targ1=string:%s\targ2=null\targ3=string:?\n", text);
}

/* Texts that are no UTF-8, have no end that can be read, and are too long: all texts of a probe
 * have 1 KB. */
NOINLINE void odd_texts(const char *bad, const char *endless, const char *large)
{
	STAP_PROBE3(unit, odd, bad, endless, large);
	printf("instant\tunit\todd\targ1=string:a\\xffb\targ2=string:?\targ3=string:%.*s...\n", 1024 - 6 - 3,
	        large);
}

/* Everything in registers at once, and used behind the probe. */
NOINLINE long busy(long a, long b, long c, long d, long e, long f)
{
	long g = a ^ b, h = c ^ d, i = e ^ f;
	double x = (double)a, y = (double)b;

	STAP_PROBE12(unit, busy, a, b, c, d, e, f, g, h, i, a + b, c + d, e + f);
	printf("instant\tunit\tbusy\targ1=int64:%ld\targ2=int64:%ld\targ3=int64:%ld\targ4=int64:%ld\targ5="
	       "int64:%ld"
	       "\targ6=int64:%ld\targ7=int64:%ld\targ8=int64:%ld\targ9=int64:%ld\targ10=int64:%ld\targ11="
	       "int64:%ld"
	       "\targ12=int64:%ld\n",
	        a, b, c, d, e, f, g, h, i, a + b, c + d, e + f);
	return (long)(x * 2 + y) + a + b + c + d + e + f + g + h + i;
}

NOINLINE int work(int n)
{
	int result = n * 2;

	STAP_PROBE1(unit, work__start, n);
	STAP_PROBE1(unit, work__done, result);
	printf("begin\tunit\twork\targ1=int32:%d\nend\tunit\twork\targ1=int32:%d\n", n, result);
	return result;
}

int main(int argc, char **argv)
{
	static char large[3000];
	const char *volatile bad = "a\377b", *volatile full = large; /* no constants */
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int array[4] = {1, -2, 3, -4}, times = argc > 1 ? atoi(argv[1]) : 4;
	long sum = 0;

	memset(large, 'x', sizeof(large) - 1);
	memset(page, 'p', 4096);
	mprotect(page + 4096, 4096, PROT_NONE);
	for (int i = 0; i < times; i++) {
		numbers(i - 1, (long)i << 33 | 0x8080, (unsigned char)(200 + i), array, i & 3);
		texts(i & 1 ? "odd" : "even and longer", NULL, (const char *)0x10);
		odd_texts(bad, page + 4090, full);
		sum += busy(i, 2 * i, -3 * i, 4L << i, 5 * i, -6 * i);
		sum += work(i);
	}
	fprintf(stderr, "sum %ld\n", sum);
	return 0;
}
