/*
 * Allocates through every function, and then writes behind a block that it frees. With "mtrace" it has libc
 * write all its allocations to the file MALLOC_TRACE names, and writes behind no block.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <mcheck.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void allocate(void)
{
	void *volatile block = malloc(100);

	block = realloc(block, 300);
	free(block);
	block = calloc(10, 10);
	block = reallocarray(block, 20, 20);
	free(block);
	block = memalign(64, 50);
	free(block);
	block = aligned_alloc(64, 128);
	free(block);
}

int main(int argc, char **argv)
{
	char *volatile block;

	if (argc > 1 && strcmp(argv[1], "mtrace") == 0) {
		mtrace();
		allocate();
		muntrace();
		return 0;
	}
	allocate();
	block = malloc(24);
	/* The checks keep a byte there that differs from run to run. MALLOC_CHECK_ takes others for
	 * distances, of which neither of these leads anywhere. */
	block[24] = (unsigned char)block[24] == 0xff ? 0 : 0xff;
	puts("writes behind a block");
	fflush(stdout);
	free(block);
	puts("not noticed");
	return 0;
}
