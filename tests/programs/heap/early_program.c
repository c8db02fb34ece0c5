/*
 * Allocations at the worst moments. With SHIM: a library for LD_PRELOAD, with a dlsym()
 * that allocates before it looks anything up, and a constructor that keeps a block for
 * main() to resize and free. Without: the program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SHIM
void *early_block;

void *dlsym(void *handle, const char *name)
{
	static void *(*next)(void *, const char *);
	char *block = calloc(1, 64 << 10);

	if (!next)
		next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	memset(block, 1, 64 << 10);
	free(block);
	/* RTLD_NEXT counts from the caller, which is the shim now: good enough for a search behind it. */
	return next(handle, name);
}

__attribute__((constructor(101))) static void early(void)
{
	early_block = malloc(1000);
	strcpy(early_block, "early");
}
#else
extern void *early_block __attribute__((weak));

int main(void)
{
	void **block = dlsym(RTLD_DEFAULT, "early_block");

	*block = realloc(*block, 100000);
	puts(*block);
	free(*block);
	return 0;
}
#endif
