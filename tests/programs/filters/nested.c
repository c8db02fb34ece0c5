/*
 * Calls functions in the order that lines on standard input give, and prints a line for
 * each:
 *
 * - NAME: calls that function, which takes further lines until it returns: to or fro; twins,
 *   into which twin is inlined; land; again, which then calls itself and leaf; leaf, which
 *   returns at once
 * - back: the newest call returns
 * - jump: goes back into the newest call of land or again, by longjmp(), or by the compiler's
 *   own jump, which no library sees, if it is built so (JUMPS_UNTOLD); it returns
 * - fork: a child goes on in its place; the program waits for the child
 *
 * At the end of the input the calls that are open return.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

QUIET static void follow(void);

#ifdef JUMPS_UNTOLD
typedef void *place[5];
#define MARK(here) __builtin_setjmp(here)
#define JUMP(here) __builtin_longjmp(here, 1)
#else
typedef jmp_buf place;
#define MARK(here) setjmp(here)
#define JUMP(here) longjmp(here, 1)
#endif

static place *mark; /* of the newest call that can be jumped back into */

__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) static void to(void)
{
	follow();
	__asm__ volatile("");
}

__attribute__((noinline)) static void fro(void)
{
	follow();
	__asm__ volatile("");
}

__attribute__((always_inline)) static inline void twin(void)
{
	follow();
	__asm__ volatile("");
}

__attribute__((noinline)) static void twins(void)
{
	twin();
	__asm__ volatile("");
}

QUIET __attribute__((noinline)) static void land_here(void)
{
	place here, *volatile outer = mark;

	mark = &here;
	if (MARK(here) == 0)
		follow();
	mark = outer;
}

/* Their exit hooks are tail calls, with the stack pointer of the caller. */
__attribute__((noinline)) static void land(void)
{
	land_here();
	__asm__ volatile("");
}

__attribute__((noinline)) static void again(volatile int times)
{
	if (times == 0)
		return;
	land_here();
	again(times - 1);
	leaf();
}

QUIET static void go_on_in_child(void)
{
	int status = 1;
	pid_t child = fork();

	if (child == 0)
		return;
	if (waitpid(child, &status, 0) == child && status == 0)
		exit(0);
	exit(1);
}

/* Reads by itself: a child has no part of what its parent has read ahead. */
QUIET static int next_line(char *line, size_t bytes)
{
	size_t at = 0;

	while (at + 1 < bytes && read(0, &line[at], 1) == 1 && line[at] != '\n')
		at++;
	line[at] = 0;
	return at > 0;
}

QUIET static void follow(void)
{
	char line[16];

	dprintf(1, "ready\n");
	while (next_line(line, sizeof(line)) && strcmp(line, "back") != 0) {
		if (!strcmp(line, "leaf"))
			leaf();
		else if (!strcmp(line, "to"))
			to();
		else if (!strcmp(line, "fro"))
			fro();
		else if (!strcmp(line, "twins"))
			twins();
		else if (!strcmp(line, "land"))
			land();
		else if (!strcmp(line, "again"))
			again(1);
		else if (!strcmp(line, "jump"))
			JUMP(*mark);
		else if (!strcmp(line, "fork"))
			go_on_in_child();
		dprintf(1, "ready\n");
	}
}

QUIET int main(void)
{
	follow();
	return 0;
}
