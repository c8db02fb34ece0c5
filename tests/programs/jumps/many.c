/*
 * As many coroutines as the argument says, all of them in the midst of calls, resumed out of calls of the
 * same function. Prints its own tree of calls.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#define OWN_DEPTH 16
#include "own_tree.h"

enum { STACK = 16 << 10, DEPTH = 3, ROUNDS = 3 };

static struct coroutine {
	ucontext_t context;
	struct row row;
} * coroutines, *current;
static ucontext_t resumer;

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

int main(int argc, char **argv)
{
	CALLED();
	size_t count = (size_t)atoi(argv[argc - 1]);
	char *stacks = mmap(NULL, count * STACK, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	coroutines = calloc(count, sizeof(*coroutines));
	for (size_t i = 0; i < count; i++) {
		getcontext(&coroutines[i].context);
		coroutines[i].context.uc_stack.ss_sp = stacks + i * STACK;
		coroutines[i].context.uc_stack.ss_size = STACK;
		makecontext(&coroutines[i].context, run, 0);
	}
	for (int round = 0; round < ROUNDS; round++)
		for (current = coroutines; current < coroutines + count; current++)
			work(DEPTH, 1);
	print_tree();
	return 0;
}
