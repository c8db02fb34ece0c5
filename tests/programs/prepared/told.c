/* Calls its functions ten times for each line that it reads, and says how often in all, and the first byte of each function
 * behind its landing instruction. Without input it makes the calls once. */
#include <stdio.h>
#include <string.h>

#define CALLED __attribute__((noinline))
#define QUIET  __attribute__((patchable_function_entry(0)))

static long made;

CALLED int leaf(int x)
{
	__asm__ volatile("");
	return x + 1;
}

CALLED int kept(int x)
{
	int result = leaf(x);

	__asm__ volatile("");
	return result + 1;
}

QUIET static unsigned first_byte(int (*function)(int))
{
	const unsigned char *code = (const unsigned char *)function;

	return memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ? code[4] : code[0];
}

QUIET int main(void)
{
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 0; i < 10; i++, made++)
			if (kept(i) != i + 2)
				return 1;
		printf("%ld leaf %02x kept %02x\n", made, first_byte(leaf), first_byte(kept));
	}
	return 0;
}
