/*
 * Allocates 1000 blocks by each way and frees them by the other, by the entry points that an allocator has
 * besides the standard ones: extensions jemalloc | mimalloc | tcmalloc. It finds them by dlsym(), and prints
 * how many it found.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 1000

static void *blocks[BLOCKS];
static int found;

typedef uintptr_t function(uintptr_t a, uintptr_t b, uintptr_t c);

static function *find(const char *name)
{
	function *address = (function *)dlsym(RTLD_DEFAULT, name);

	found += address != NULL;
	return address;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *allocate, *resize, *free;
	} allocators[] = {{"jemalloc", "mallocx", "rallocx", "dallocx"},
	        {"mimalloc", "mi_malloc", "mi_realloc", "mi_free"},
	        {"tcmalloc", "tc_malloc", "tc_realloc", "tc_free"}};

	for (int i = 0; i < 3; i++) {
		function *allocate = find(allocators[i].allocate), *resize = find(allocators[i].resize);
		function *release = find(allocators[i].free);

		if (!allocate || !resize || !release)
			continue;
		for (int n = 0; n < BLOCKS; n++)
			blocks[n] = malloc(61000);
		for (int n = 0; n < BLOCKS; n++)
			blocks[n] = (void *)resize((uintptr_t)blocks[n], 62000, 0);
		for (int n = 0; n < BLOCKS; n++)
			release((uintptr_t)blocks[n], 0, 0);
		for (int n = 0; n < BLOCKS; n++)
			blocks[n] = (void *)allocate(63000, 0, 0);
		for (int n = 0; n < BLOCKS; n++)
			free(blocks[n]);
	}
	printf("%d found\n", found);
	return 0;
}
