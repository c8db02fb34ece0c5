/*
 * Says something at many sites with 100,000 names, once each, with a signal's handler
 * inside: crowd SITES, at most 2^20. A program has as many sites as its author has macros;
 * here they are made at run time, as the macros make theirs. Prints how often it said
 * something.
 */
#include <fxt/trace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#define SITES (1 << 20)
#define NAMES 100000

static struct fxt_trace_site sites[SITES];
static uint16_t texts[SITES][4];
static char names[NAMES][16];
static volatile unsigned long handled;

static void handler(int number)
{
	FXT_INSTANT("crowd", "handled", FXT_SCOPE_THREAD, "signal", number);
	handled++;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	unsigned long said = 0;

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof(names[i]), "name %d", i);
	for (int i = 0; i < count && i < SITES; i++) {
		struct fxt_trace_argument argument = {names[(i + 1) % NAMES], fxt_trace_int32_(i)};

		sites[i] = (struct fxt_trace_site){&sites[i].own, "crowd", names[i % NAMES], texts[i], 1, 0};
		if (!fxt_trace_is_on_(&sites[i]))
			return 1;
		fxt_trace_agent_()->event(&sites[i], 0, 0, &argument, i % 2);
		said++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%lu\n", said + handled);
	return 0;
}
