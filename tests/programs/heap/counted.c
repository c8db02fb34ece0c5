/*
 * A library that counts the calls of each function of the allocator that it passes on, and prints them at the
 * end (-DLIBRARY); and a program that calls each of them as often as its place in the list says.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef LIBRARY

#include <dlfcn.h>

static int is_counted;

#define COUNT(type, name, parameters, arguments)                            \
	static int calls_of_##name;                                         \
	type name parameters                                                \
	{                                                                   \
		static type(*next) parameters;                              \
                                                                            \
		if (!next)                                                  \
			next = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
		calls_of_##name += is_counted;                              \
		return next arguments;                                      \
	}

COUNT(void *, realloc, (void *block, size_t size), (block, size))
COUNT(void *, reallocarray, (void *block, size_t count, size_t size), (block, count, size))
COUNT(void *, memalign, (size_t to, size_t size), (to, size))
COUNT(void *, aligned_alloc, (size_t to, size_t size), (to, size))
COUNT(int, posix_memalign, (void **block, size_t to, size_t size), (block, to, size))
COUNT(void *, valloc, (size_t size), (size))
COUNT(void *, pvalloc, (size_t size), (size))

void count_calls(int begin)
{
	is_counted = begin;
	if (!begin)
		printf("realloc %d reallocarray %d memalign %d aligned_alloc %d posix_memalign %d valloc %d "
		       "pvalloc %d\n",
		        calls_of_realloc, calls_of_reallocarray, calls_of_memalign, calls_of_aligned_alloc,
		        calls_of_posix_memalign, calls_of_valloc, calls_of_pvalloc);
}

#else

void count_calls(int begin) __attribute__((weak));

int main(void)
{
	void *volatile block = NULL, *aligned;

	count_calls(1);
	for (int i = 0; i < 3; i++)
		block = reallocarray(block, 100 + (size_t)i, 600);
	free(block);
	for (int i = 0; i < 2; i++)
		free(realloc(malloc(70000), 70001));
	for (int i = 0; i < 4; i++)
		free(memalign(64, 100));
	for (int i = 0; i < 5; i++)
		free(aligned_alloc(64, 128));
	for (int i = 0; i < 6; i++)
		free(posix_memalign(&aligned, 64, 100) ? NULL : aligned);
	for (int i = 0; i < 7; i++)
		free(valloc(100));
	for (int i = 0; i < 8; i++)
		free(pvalloc(100));
	count_calls(0);
	return 0;
}

#endif
