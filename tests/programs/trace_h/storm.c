/*
 * Says much, from many threads, with signals inside: threads, rounds, and whether the
 * strings are long. Prints how often it said something of each kind.
 */
#include <fxt/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static atomic_ulong said;
static int rounds, is_long;

static void handler(int number)
{
	FXT_DURATION("storm", "handler", "signal", number);
	FXT_INSTANT("storm", "handled", FXT_SCOPE_THREAD, "text", "inside");
	if (FXT_CATEGORY_ENABLED("storm"))
		atomic_fetch_add(&said, 2);
}

/* A call with something said inside, as an argument. */
static int inner(int i)
{
	FXT_DURATION("storm", "inner", "i", i);
	atomic_fetch_add(&said, 1);
	return i;
}

static void *storm(void *unused)
{
	static char text[32768];
	char name[32];

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < rounds; i++) {
		FXT_DURATION("storm", "round", "i", inner(i));
		snprintf(name, sizeof(name), "text %d of many", i);
		FXT_INSTANT("storm", "instant", FXT_SCOPE_THREAD, "name", name);
		FXT_COUNTER("storm", "counter", 0, "i", i, "inner", inner(i));
		FXT_ASYNC_BEGIN("storm", "async", (uint64_t)i);
		FXT_ASYNC_END("storm", "async", (uint64_t)i);
		atomic_fetch_add(&said, 5);
		if (is_long) {
			FXT_INSTANT("storm", "long", FXT_SCOPE_THREAD, "text",
			        FXT_TA_CHAR_ARRAY(text, sizeof(text) - 1));
			FXT_INSTANT("storm", "too long", FXT_SCOPE_THREAD, "a", text, "b", text);
			FXT_BLOB_EVENT("storm", "blob", text, 20000);
			FXT_BLOB_ATTACHMENT("storm", "too large", text, sizeof(text));
			atomic_fetch_add(&said, 4);
		}
	}
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	pthread_t thread[64];

	rounds = argc > 2 ? atoi(argv[2]) : 1000;
	is_long = argc > 3;
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, storm, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%lu\n", atomic_load(&said));
	return 0;
}
