/*
 * Allocates at the ends of call paths that are drawn by lot, through functions that have every shape that a
 * frame can have, and prints "size path" of each block, by its own books: paths SEED PATHS PLUGIN. The names
 * of its functions end in _here.
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>

#define NOINLINE __attribute__((noinline))

#ifdef PLUGIN

/* The plugin's function, which comes back to the program. */
extern "C" NOINLINE void through_plugin_here(void (*next)(int), int depth)
{
	next(depth);
	__asm__ volatile("");
}

#else

static unsigned long long state;
static const char *path[1000]; /* the books; they allocate nothing */
static int path_length;
static size_t block_size = 100000;
static void (*through_plugin)(void (*next)(int), int depth);

struct Entered {
	explicit Entered(const char *name)
	{
		path[path_length++] = name;
	}
	~Entered()
	{
		path_length--;
	}
};

static unsigned at_random(unsigned below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % below;
}

#define NOT_THE_LAST __asm__ volatile("" : : : "memory")

static void next(int depth);

extern "C" {

NOINLINE void leaf_here()
{
	Entered entered("leaf_here");
	void *volatile block = malloc(++block_size);

	free(block);
	printf("%zu ", block_size);
	for (int i = 0; i < path_length; i++)
		printf("%s%s", i ? ";" : "", path[i]);
	puts("");
}

NOINLINE void plain_here(int depth)
{
	Entered entered("plain_here");

	next(depth - 1);
	NOT_THE_LAST;
}

NOINLINE void variable_here(int depth)
{
	Entered entered("variable_here");
	volatile char *room = (volatile char *)__builtin_alloca(at_random(5000) + 1);

	room[0] = 1;
	next(depth - 1);
	room[0] = 2;
}

NOINLINE void aligned_here(int depth)
{
	Entered entered("aligned_here");
	volatile char room[64] __attribute__((aligned(64)));

	room[0] = 1;
	next(depth - 1);
	room[0] = 2;
}

NOINLINE void aligned_variable_here(int depth)
{
	Entered entered("aligned_variable_here");
	volatile char room[64] __attribute__((aligned(128)));
	volatile char *more = (volatile char *)__builtin_alloca(at_random(500) + 1);

	room[0] = more[0] = 1;
	next(depth - 1);
	room[0] = more[0] = 2;
}

NOINLINE void large_here(int depth)
{
	Entered entered("large_here");
	volatile char room[1200000];

	room[0] = 1;
	next(depth - 1);
	room[0] = 2;
}

NOINLINE void many_here(int depth, long a, long b, long c, long d, long e, long f, long g, long h)
{
	Entered entered("many_here");

	next(depth - 1);
	state += (unsigned long long)(a * b * c * d * e * f * g * h) & 1;
}

static int compare_here(const void *left, const void *right)
{
	Entered entered("compare_here");
	const int *depth = (const int *)left > (const int *)right ? (const int *)right : (const int *)left;

	next(depth[2]);
	return 0;
}

NOINLINE void sorts_here(int depth)
{
	Entered entered("sorts_here");
	int items[2][4] = {{0, 0, depth - 1, 0}, {0, 0, depth - 1, 0}};

	qsort(items, 2, sizeof(*items), compare_here);
	NOT_THE_LAST;
}

NOINLINE void throws_here(int depth)
{
	Entered entered("throws_here");

	next(depth - 1);
	throw std::runtime_error("");
}

NOINLINE void catches_here(int depth)
{
	Entered entered("catches_here");

	try {
		throws_here(depth - 1);
	} catch (const std::exception &) {
		next(depth - 2);
	}
	NOT_THE_LAST;
}

static int depth_of_handler;

static void handler_here(int)
{
	Entered entered("handler_here");

	next(depth_of_handler);
	NOT_THE_LAST;
}

NOINLINE void raises_here(int depth)
{
	Entered entered("raises_here");

	depth_of_handler = depth - 1;
	raise(SIGUSR1);
	NOT_THE_LAST;
}

NOINLINE void library_here(int depth)
{
	Entered entered("library_here"), inside("through_plugin_here");

	through_plugin(next, depth - 1);
	NOT_THE_LAST;
}
}

static void next(int depth)
{
	if (depth <= 0)
		return leaf_here();
	switch (at_random(10)) {
	case 0:
		return plain_here(depth);
	case 1:
		return variable_here(depth);
	case 2:
		return aligned_here(depth);
	case 3:
		return aligned_variable_here(depth);
	case 4:
		return large_here(depth > 4 ? 4 : depth);
	case 5:
		return many_here(depth, 1, 2, 3, 4, 5, 6, 7, 8);
	case 6:
		return sorts_here(depth);
	case 7:
		return catches_here(depth);
	case 8:
		return raises_here(depth);
	default:
		return library_here(depth);
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = {};
	void *plugin = argc == 4 ? dlopen(argv[3], RTLD_NOW) : nullptr;

	if (!plugin)
		return 2;
	through_plugin = (void (*)(void (*)(int), int))dlsym(plugin, "through_plugin_here");
	action.sa_handler = handler_here;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGUSR1, &action, nullptr);
	state = strtoull(argv[1], nullptr, 10);
	Entered entered("main");

	for (int i = 0; i < atoi(argv[2]); i++)
		next((int)at_random(12));
	return 0;
}

#endif
