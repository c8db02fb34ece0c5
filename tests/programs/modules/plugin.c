/*
 * A plugin of two functions. Their names come from the compiler's command line, so that two
 * plugins differ only in their names; `last` is called when it is unloaded.
 */
#define KEPT __attribute__((noinline))

static volatile int sum;

KEPT void FIRST(void)
{
	sum++;
}

KEPT void SECOND(int times)
{
	while (times--)
		FIRST();
}

__attribute__((destructor)) void LAST(void)
{
	sum--;
}

__attribute__((no_instrument_function)) void run(int times)
{
	SECOND(times);
}
