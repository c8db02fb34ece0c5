// Exceptions through any number of frames, caught, thrown again, and what is called after them from lower
// down than the frames they went through. Prints "function calls", tab-separated.
#include <alloca.h>
#include <cstdio>
#include <stdexcept>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

static unsigned long dives, afters, catches, agains;

KEPT void dive(int depth)
{
	dives++;
	if (depth == 0)
		throw std::runtime_error("the bottom");
	dive(depth - 1);
}

KEPT void after()
{
	afters++;
}

UNTRACED static KEPT void call_from_below()
{
	void *room = alloca(16384);

	__asm__ volatile("" : : "r"(room) : "memory"); /* needed, for all the compiler knows */
	after();
	__asm__ volatile("" : : "r"(room) : "memory");
}

KEPT void again(int depth)
{
	agains++;
	try {
		dive(depth);
	} catch (const std::exception &) {
		call_from_below();
		throw;
	}
}

KEPT void hold(int depth)
{
	catches++;
	try {
		again(depth);
	} catch (const std::runtime_error &) {
		call_from_below();
	}
	call_from_below();
}

UNTRACED int main()
{
	for (int depth = 0; depth < 40; depth++)
		hold(depth);
	printf("after()\t%lu\nagain(int)\t%lu\ndive(int)\t%lu\nhold(int)\t%lu\n", afters, agains, dives,
	        catches);
}
