/*
 * An allocator of the program's own that looks for the one behind it at its first use, free() too: a free()
 * from within dlsym() comes back to dlsym(), without an end.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int allocations, frees;

void *malloc(size_t size)
{
	static void *(*next)(size_t);

	if (!next)
		next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	allocations++;
	return next(size);
}

void free(void *block)
{
	static void (*next)(void *);

	if (!next)
		next = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	frees++;
	next(block);
}

#ifndef LIBRARY
static __attribute__((noinline)) void work(void)
{
	void *volatile block = malloc(100);

	free(block);
}

int main(void)
{
	const char *error = dlerror();

	work();
	printf("%s, allocations: %d, frees: %d\n", error ? error : "no error", allocations > 0, frees > 0);
	return 0;
}
#endif
