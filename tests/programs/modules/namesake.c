/*
 * Functions whose names other plugins, or other source files of the program, have too. They
 * count their calls.
 */
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline))
#define BARE __attribute__((no_instrument_function))

#ifndef RUN
#define RUN process
#endif

static unsigned long processed, helped;
static void *volatile kept;

static KEPT void helper(void)
{
	helped++;
	free(kept);
	kept = malloc(100);
}

KEPT void RUN(void)
{
	processed++;
	helper();
	helper();
}

/* A line for each function: its file, name and calls. */
__attribute__((destructor)) BARE static void tell(void)
{
	const char *base = __builtin_strrchr(OWNER, '/');

	if (processed > 0)
		printf("%s\t%s\t%lu\n%s\thelper\t%lu\n", base ? base + 1 : OWNER, NAME, processed,
		        base ? base + 1 : OWNER, helped);
	fflush(stdout);
}
