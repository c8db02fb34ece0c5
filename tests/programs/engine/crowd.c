/*
 * crowd: a short thread for each entry of `functions`, a few of them alive at a time. Thread n names itself
 * "t<n>", with five digits, by prctl if n is even and by pthread_setname_np if it is odd, and calls function
 * n. Linked with a compiler's output for fNNNNN(), repeated with numbers.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>

#define UNTRACED __attribute__((no_instrument_function))

#ifdef FUNCTION
void fNNNNN(void)
{
}
#else

enum { ALIVE = 8 };

extern void (*const functions[])(void); /* ended by NULL */

UNTRACED static void *work(void *own)
{
	intptr_t number = (intptr_t)own;
	char name[16];

	snprintf(name, sizeof(name), "t%05d", (int)number);
	if (number % 2)
		pthread_setname_np(pthread_self(), name);
	else
		prctl(PR_SET_NAME, name);
	functions[number]();
	return NULL;
}

UNTRACED int main(void)
{
	pthread_t threads[ALIVE];
	intptr_t number = 0;

	for (; functions[number]; number++) {
		if (number >= ALIVE)
			pthread_join(threads[number % ALIVE], NULL);
		if (pthread_create(&threads[number % ALIVE], NULL, work, (void *)number) != 0)
			return 1;
	}
	for (int i = 0; i < ALIVE; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

#endif
