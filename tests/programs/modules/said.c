/* A function "work", spans "work" of two categories, complete and in two records, and a
 * span of a name that nothing else has. Prints how often each was, under the name that
 * tells them apart. */
#include <fxt/trace.h>
#include <stdio.h>

static unsigned calls, of_net, of_disk, alone;

static __attribute__((noinline)) void work(int number)
{
	calls++;
	if (number % 2 == 0) {
		FXT_DURATION("net", "work");
		of_net++;
	}
	if (number % 3 == 0) {
		FXT_DURATION_BEGIN("disk", "work");
		of_disk++;
		FXT_DURATION_END("disk", "work");
	}
	if (number % 5 == 0) {
		FXT_DURATION("net", "lone", "number", number);
		alone++;
	}
}

int main(void)
{
	for (int i = 0; i < 100; i++)
		work(i);
	printf("work [said]\t%u\nwork [span net]\t%u\nwork [span disk]\t%u\nlone\t%u\n", calls, of_net,
	        of_disk, alone);
	return 0;
}
