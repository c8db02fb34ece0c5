/*
 * Libraries that come and go at one address: alternate A B opens one after the other, ten times, has each
 * allocate and free, and prints how many different addresses their function had. With NAME and BYTES: such a
 * library.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef NAME
static __attribute__((noinline)) void *NAME(void)
{
	void *block = malloc(BYTES);

	__asm__ volatile("" : "+r"(block));
	return block;
}

void *allocate(void)
{
	void *block = NAME();

	__asm__ volatile("" : "+r"(block));
	return block;
}
#else
int main(int argc, char **argv)
{
	void *seen[20];
	int count = 0;

	for (int i = 0; argc > 2 && i < 20; i++) {
		void *library = dlopen(argv[1 + i % 2], RTLD_NOW), *(*allocate)(void);

		if (!library)
			return 1;
		allocate = (void *(*)(void))dlsym(library, "allocate");
		free(allocate());
		seen[count] = (void *)allocate;
		for (int j = 0; j <= count; j++)
			if (seen[j] == (void *)allocate) {
				count += j == count;
				break;
			}
		dlclose(library);
	}
	printf("%d\n", count);
	return 0;
}
#endif
