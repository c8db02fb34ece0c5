/*
 * The calls of a program by caller and function, counted by itself, for a comparison with
 * the trace. Each stack of the program has a row of open calls here, and the code that
 * changes the stack changes the row. print_tree() prints "calls caller function",
 * tab-separated; the caller of an outermost call is "-".
 */
#include <stdio.h>
#include <string.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

#ifndef OWN_DEPTH
#define OWN_DEPTH 512
#endif

struct row {
	const char *names[OWN_DEPTH];
	int depth;
};

static __thread struct row threads_row, *row;
static struct {
	const char *caller, *name;
	unsigned long calls;
} pairs[512];
static int pair_count;
static char pairs_are_locked;

UNTRACED static inline int tree_enter(const char *name)
{
	const char *caller;
	int i = 0;

	if (!row)
		row = &threads_row;
	caller = row->depth ? row->names[row->depth - 1] : "-";
	while (__atomic_test_and_set(&pairs_are_locked, __ATOMIC_ACQUIRE))
		;
	while (i < pair_count && (strcmp(pairs[i].caller, caller) != 0 || strcmp(pairs[i].name, name) != 0))
		i++;
	pairs[i].caller = caller;
	pairs[i].name = name;
	pairs[i].calls++;
	pair_count += i == pair_count;
	__atomic_clear(&pairs_are_locked, __ATOMIC_RELEASE);
	row->names[row->depth] = name;
	return row->depth++;
}

UNTRACED static inline void tree_leave(const int *depth)
{
	row->depth = *depth;
}

/* Stands at the beginning of a function, and notes its end too. A function that exceptions
 * pass through does without it, because it would have something to clean up. */
#define CALLED() __attribute__((cleanup(tree_leave), unused)) int own_depth = tree_enter(__func__)

UNTRACED static void print_tree(void)
{
	for (int i = 0; i < pair_count; i++)
		printf("%lu\t%s\t%s\n", pairs[i].calls, pairs[i].caller, pairs[i].name);
}
