/*
 * many COROUTINES THREADS: COROUTINES coroutines, all with open calls, are resumed from
 * calls of the same function, each time by another one of THREADS threads. Prints its own
 * tree of calls.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#define OWN_DEPTH 16
#include "own_tree.h"

enum { STACK = 16 << 10, DEPTH = 3, ROUNDS = 3 };

static struct coroutine {
	ucontext_t context;
	struct row row;
} * coroutines;
static size_t count, threads;
static pthread_barrier_t round_ends;
static __thread struct coroutine *current;
static __thread ucontext_t resumer;

KEPT void leaf(void)
{
	CALLED();
}

UNTRACED static void change(ucontext_t *from, ucontext_t *to, struct row *to_row)
{
	row = to_row;
	swapcontext(from, to);
}

KEPT void work(int depth, int is_resumer)
{
	CALLED();
	if (depth)
		work(depth - 1, is_resumer);
	else if (is_resumer)
		change(&resumer, &current->context, &current->row);
	else
		change(&current->context, &resumer, &threads_row);
	leaf();
}

/* At its second turn it ends the calls of the first, and is left in another one. */
UNTRACED static void run(void)
{
	work(DEPTH, 0);
	work(1, 0);
	for (;;)
		change(&current->context, &resumer, &threads_row);
}

void *resume_some(void *first)
{
	CALLED();
	for (size_t round = 0; round < ROUNDS; round++) {
		for (size_t i = ((size_t)first + round) % threads; i < count; i += threads) {
			current = &coroutines[i];
			work(DEPTH, 1);
		}
		pthread_barrier_wait(&round_ends);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	CALLED();
	pthread_t ids[8];
	char *stacks;

	count = (size_t)atoi(argv[argc - 2]);
	threads = (size_t)atoi(argv[argc - 1]);
	stacks = mmap(NULL, count * STACK, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	coroutines = calloc(count, sizeof(*coroutines));
	for (size_t i = 0; i < count; i++) {
		getcontext(&coroutines[i].context);
		coroutines[i].context.uc_stack.ss_sp = stacks + i * STACK;
		coroutines[i].context.uc_stack.ss_size = STACK;
		makecontext(&coroutines[i].context, run, 0);
	}
	pthread_barrier_init(&round_ends, NULL, (unsigned)threads);
	for (size_t i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, resume_some, (void *)i);
	for (size_t i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	print_tree();
	return 0;
}
