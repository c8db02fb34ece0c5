/*
 * Functions that run while the stack is unwound: destructors among functions that are left
 * by an exception or by the end of a thread. The argument says which case. Prints its own
 * tree of calls.
 */
#include <pthread.h>
#include <unistd.h>
#include <exception>
#define OWN_DEPTH 64
#include "own_tree.h"

/* Functions that have nothing to clean up: their account is put right by whoever goes on. */
#define BEGIN() int own_depth = tree_enter(__func__)
#define END()   (row->depth = own_depth)

#define PLAIN extern "C" KEPT

static volatile int n;

PLAIN void leaf()
{
	BEGIN();
	n++;
	END();
}

PLAIN void work()
{
	BEGIN();
	leaf();
	leaf();
	END();
}

/* Ends what the function that has it has called, and then calls more. */
extern "C" void clean(int depth)
{
	row->depth = depth;
	BEGIN();
	volatile char frame[64];

	frame[0] = 1;
	work();
	n += frame[0];
	END();
}

struct Guard {
	int depth;

	UNTRACED Guard() : depth(row->depth)
	{
	}
	UNTRACED ~Guard()
	{
		clean(depth);
	}
};

PLAIN void throw_it()
{
	BEGIN();
	volatile char frame[512];

	frame[0] = 1;
	leaf();
	n += frame[0];
	throw 1;
	END();
}

PLAIN void end_thread()
{
	BEGIN();
	leaf();
	pthread_exit(NULL);
	END();
}

PLAIN void await_end()
{
	BEGIN();
	leaf();
	for (;;)
		pause();
	END();
}

typedef void leaver();

PLAIN void pass(leaver *leave, int frames)
{
	BEGIN();
	volatile char frame[16];

	frame[0] = 1;
	if (frames)
		pass(leave, frames - 1);
	else
		leave();
	n += frame[0];
	END();
}

PLAIN void own(leaver *leave, int frames)
{
	BEGIN();
	{
		Guard guard;

		pass(leave, frames);
		n++;
	}
	END();
}

PLAIN void own_two(leaver *leave, int frames)
{
	BEGIN();
	Guard first;

	own(work, frames); /* returns */
	Guard second;

	pass(leave, frames);
	n++;
}

/* Goes on after it has caught, and throws again. */
PLAIN void again(leaver *leave, int frames)
{
	BEGIN();
	Guard guard;

	try {
		own(leave, frames);
	} catch (int) {
		row->depth = own_depth + 1;
		work();
		throw;
	}
	END();
}

PLAIN void go_on(leaver *leave, int frames)
{
	BEGIN();
	for (int i = 0; i < 3; i++) {
		try {
			again(leave, frames + i);
		} catch (int) {
			row->depth = own_depth + 1;
			leaf();
		}
		work();
		try {
			Guard here;

			own_two(leave, frames);
		} catch (int) {
			row->depth = own_depth + 1;
			work();
		}
		leaf();
	}
	END();
}

/* Has exceptions of its own while it cleans up for another one. */
struct Thrower {
	int depth;

	UNTRACED Thrower() : depth(row->depth)
	{
	}
	UNTRACED ~Thrower()
	{
		row->depth = depth;
		go_on(throw_it, 1);
	}
};

PLAIN void own_thrower(leaver *leave, int frames)
{
	BEGIN();
	Guard before;
	Thrower thrower;
	Guard after;

	pass(leave, frames);
	n++;
	END();
}

PLAIN void nested()
{
	BEGIN();
	for (int frames = 0; frames < 10; frames++) {
		try {
			own_thrower(throw_it, frames);
		} catch (int) {
			row->depth = own_depth + 1;
			leaf();
		}
	}
	END();
}

/* ---- ends of threads ---- */

extern "C" void *thread(void *leave)
{
	BEGIN();
	Guard guard;

	own((leaver *)leave, 3);
	n++;
	END();
	return NULL;
}

UNTRACED static void in_thread(leaver *leave)
{
	pthread_t id;

	pthread_create(&id, NULL, thread, (void *)leave);
	if (leave == await_end)
		pthread_cancel(id);
	pthread_join(id, NULL);
}

/* ---- an end of the process ---- */

static int never_throws_depth;

/* The stack is unwound up to the function that lets no exception out. */
extern "C" void terminated()
{
	row->depth = never_throws_depth + 1;
	BEGIN();
	work();
	END();
	print_tree();
	fflush(stdout);
	_exit(0);
}

PLAIN void never_throws() noexcept
{
	BEGIN();
	never_throws_depth = own_depth;
	own(throw_it, 3);
	END();
}

int main(int, char **argv)
{
	BEGIN();
	if (!strcmp(argv[1], "exceptions")) {
		go_on(throw_it, 0);
		go_on(throw_it, 5);
		nested();
	} else if (!strcmp(argv[1], "threads")) {
		for (int i = 0; i < 3; i++) {
			in_thread(end_thread);
			in_thread(await_end);
		}
	} else {
		std::set_terminate(terminated);
		never_throws();
	}
	leaf();
	END();
	print_tree();
	return 0;
}
