/*
 * Functions that are called for the first time near the end of a stack, each at another distance from it: the
 * entry hook has no room to deal with such a call, or just enough, and the exit hook needs not the same. They
 * call others, and all return. Prints the number of calls.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define UNTRACED __attribute__((no_instrument_function))
#define APART    __attribute__((noinline))

#define NEAREST 1000 /* bytes */
#define STEP    16

/* Their place in memory decides where a thread's stack ends. */
static __thread volatile char local[20000];

static uintptr_t stack; /* its lowest address that can be used */
static long calls;

static APART void leaf(void)
{
	calls++;
}

#define FUNCTION(n)                         \
	static APART void first_##n(void)   \
	{                                   \
		calls++;                    \
		for (int i = 0; i < 4; i++) \
			leaf();             \
	}
#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define ALL(X)    TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7) TEN(X, 8) TEN(X, 9)
ALL(FUNCTION)

#define NAME(n) first_##n,
static void (*const functions[])(void) = {ALL(NAME)};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static APART void at_the_end(size_t n)
{
	uintptr_t left = (uintptr_t)__builtin_frame_address(0) - stack;
	volatile char *room = alloca(left - NEAREST - n * STEP);

	calls++;
	room[0] = 0;
	functions[n]();
	room[0] = 1;
}

UNTRACED static void *run(void *number)
{
	pthread_attr_t attributes;
	size_t bytes, guard;
	void *low;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &bytes);
	pthread_attr_getguardsize(&attributes, &guard);
	pthread_attr_destroy(&attributes);
	stack = (uintptr_t)low + guard;
	local[0] = 1;
	leaf();
	at_the_end((uintptr_t)number);
	return NULL;
}

UNTRACED int main(void)
{
	pthread_t thread;

	for (uintptr_t n = 0; n < FUNCTIONS; n++) {
		if (pthread_create(&thread, NULL, run, (void *)n) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	printf("%ld\n", calls);
	return 0;
}
