/*
 * A server of three workers, each a process, that serves requests without a pause. It takes
 * orders as lines on standard input, and answers each with a line:
 *
 * - serve N: the workers serve requests of the kind N (0 to 49) until the next order; answered
 *   after 300 of these. Every kind has functions of its own
 * - rest: they serve requests that are of no kind; answered when no other is being served
 * - kill: a worker is killed, wherever it is, and another one takes its place
 * - retire: a worker ends by itself, after its request, and another one takes its place
 * - made N: answered by three numbers: the calls of functions of the kind N that have begun,
 *   those that have ended, and the workers that were killed while it was served
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET   __attribute__((no_instrument_function))
#define WORKERS 3
#define KINDS   50
#define ENOUGH  300
#define NONE    (-1)

/* All processes see this. */
static struct board {
	int kind;            /* of the requests to serve */
	int serves[WORKERS]; /* the kind of the request that is being served */
	int retires[WORKERS];
	unsigned long begun[KINDS], ended[KINDS], killed[KINDS];
} * board;

static pid_t workers[WORKERS];

QUIET static void begin(int kind)
{
	__atomic_fetch_add(&board->begun[kind], 1, __ATOMIC_SEQ_CST);
}

QUIET static void end(int kind)
{
	__atomic_fetch_add(&board->ended[kind], 1, __ATOMIC_SEQ_CST);
}

/* Every sixteenth request takes some time. */
QUIET static void work(void)
{
	static unsigned count;

	for (volatile int i = count++ % 16 ? 20 : 40000; i > 0; i--)
		;
}

#define KIND(n)                                                 \
	__attribute__((noinline)) static void step_##n(void)    \
	{                                                       \
		begin(n);                                       \
		work();                                         \
		end(n);                                         \
	}                                                       \
	__attribute__((noinline)) static void request_##n(void) \
	{                                                       \
		begin(n);                                       \
		step_##n();                                     \
		step_##n();                                     \
		end(n);                                         \
	}
#define TEN(m, d) m(d##0) m(d##1) m(d##2) m(d##3) m(d##4) m(d##5) m(d##6) m(d##7) m(d##8) m(d##9)
#define ALL(m)    TEN(m, ) TEN(m, 1) TEN(m, 2) TEN(m, 3) TEN(m, 4)
#define NAME(n)   request_##n,

ALL(KIND)

static void (*const requests[KINDS])(void) = {ALL(NAME)};

__attribute__((noinline)) static void request_of_no_kind(void)
{
	work();
}

QUIET static void serve(int number)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!__atomic_load_n(&board->retires[number], __ATOMIC_SEQ_CST)) {
		int kind = __atomic_load_n(&board->kind, __ATOMIC_SEQ_CST);

		__atomic_store_n(&board->serves[number], kind, __ATOMIC_SEQ_CST);
		/* Looks again: a change of the kind waits for workers that may have seen
		 * the old one. */
		if (kind != __atomic_load_n(&board->kind, __ATOMIC_SEQ_CST))
			continue;
		if (kind == NONE)
			request_of_no_kind();
		else
			requests[kind]();
		usleep(100);
	}
	exit(0);
}

QUIET static void employ(int number)
{
	board->retires[number] = 0;
	board->serves[number] = board->kind;
	workers[number] = fork();
	if (workers[number] == 0)
		serve(number);
}

QUIET static void replace(int number, int signal)
{
	int kind = board->kind;

	if (signal) {
		if (kind != NONE)
			board->killed[kind]++;
		kill(workers[number], signal);
	} else {
		__atomic_store_n(&board->retires[number], 1, __ATOMIC_SEQ_CST);
	}
	waitpid(workers[number], NULL, 0);
	employ(number);
}

QUIET static void set_kind(int kind)
{
	__atomic_store_n(&board->kind, kind, __ATOMIC_SEQ_CST);
	if (kind != NONE) {
		while (__atomic_load_n(&board->ended[kind], __ATOMIC_SEQ_CST) < ENOUGH)
			usleep(100);
		return;
	}
	for (int i = 0; i < WORKERS; i++)
		while (__atomic_load_n(&board->serves[i], __ATOMIC_SEQ_CST) != NONE)
			usleep(100);
}

QUIET int main(void)
{
	char line[64];
	int next = 0;

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	board->kind = NONE;
	for (int i = 0; i < WORKERS; i++)
		employ(i);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		int kind = atoi(line + strcspn(line, " \n"));

		if (!strncmp(line, "serve", 5))
			set_kind(kind);
		else if (!strncmp(line, "rest", 4))
			set_kind(NONE);
		else if (!strncmp(line, "kill", 4))
			replace(next++ % WORKERS, SIGKILL);
		else if (!strncmp(line, "retire", 6))
			replace(next++ % WORKERS, 0);
		printf("%lu %lu %lu\n", board->begun[kind], board->ended[kind], board->killed[kind]);
		fflush(stdout);
	}
	for (int i = 0; i < WORKERS; i++) {
		__atomic_store_n(&board->retires[i], 1, __ATOMIC_SEQ_CST);
		waitpid(workers[i], NULL, 0);
	}
	return 0;
}
