/* A library that is begun before the agent; its handler is the first function called in a
 * forked child. */
#include <pthread.h>

void in_child(void)
{
}

__attribute__((constructor, no_instrument_function)) static void begin(void)
{
	pthread_atfork(NULL, NULL, in_child);
}
