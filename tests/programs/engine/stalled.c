/*
 * stalled TIMES [kill]: a signal handler holds a thread that it found inside a hook, while
 * three others fill the buffer several times; TIMES times over. Then prints "tid calls" for
 * each thread, tab-separated, counted as they returned; with "kill" while the thread is
 * held once more, and SIGKILL follows.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define CALL     __attribute__((noinline))

enum { FILLERS = 3, CALLS = 2000 };

struct worker {
	pthread_t thread;
	int tid;
	volatile uint64_t calls;
};

static struct worker fillers[FILLERS], victim;
static pthread_barrier_t barrier; /* of the fillers and main */
static uintptr_t agent_begin, agent_end;
static volatile int held, over, sum;
static uint64_t held_at = UINT64_MAX; /* how many calls the victim had made when it was held last */
static sem_t answered;
static int leave[2]; /* a pipe */

CALL static void leaf(void)
{
	sum++;
}

UNTRACED static void *fill(void *own)
{
	struct worker *w = own;

	w->tid = gettid();
	for (;;) {
		pthread_barrier_wait(&barrier);
		if (over)
			return NULL;
		for (int i = 0; i < CALLS; i++) {
			leaf();
			w->calls++;
		}
		pthread_barrier_wait(&barrier);
	}
}

UNTRACED static void *be_victim(void *unused)
{
	victim.tid = gettid();
	while (!over) {
		leaf();
		victim.calls++;
	}
	return unused;
}

UNTRACED static uintptr_t interrupted_at(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
	return (uintptr_t)context->uc_mcontext.pc;
#endif
}

UNTRACED static void handle(int signal, siginfo_t *info, void *context)
{
	uintptr_t at = interrupted_at(context);
	int inside = at >= agent_begin && at < agent_end && victim.calls != held_at;
	char byte;

	(void)signal, (void)info;
	held = inside;
	if (inside)
		held_at = victim.calls;
	sem_post(&answered);
	while (inside && read(leave[0], &byte, 1) != 1)
		;
}

/* Sends signals until one finds the victim inside of the agent, and not in the same hook as the time before.
 */
UNTRACED static void hold_victim(void)
{
	held = 0;
	while (!held) {
		pthread_kill(victim.thread, SIGUSR1);
		sem_wait(&answered);
	}
}

UNTRACED static void find_agent(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4352];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "libfxtagent.so") && strstr(line, " r-xp "))
			sscanf(line, "%lx-%lx", &agent_begin, &agent_end);
	if (maps)
		fclose(maps);
}

UNTRACED static void print_counts(void)
{
	printf("%d\t%lu\n", victim.tid, victim.calls);
	for (int i = 0; i < FILLERS; i++)
		printf("%d\t%lu\n", fillers[i].tid, fillers[i].calls);
	fflush(stdout);
}

UNTRACED int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
	int times = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;

	find_agent();
	if (!agent_begin || pipe(leave) != 0)
		return 1;
	sem_init(&answered, 0, 0);
	pthread_barrier_init(&barrier, NULL, FILLERS + 1);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < FILLERS; i++)
		pthread_create(&fillers[i].thread, NULL, fill, &fillers[i]);
	pthread_create(&victim.thread, NULL, be_victim, NULL);
	for (int i = 0; i < times; i++) {
		hold_victim();
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		if (i == times - 1 && argc > 2) {
			print_counts();
			raise(SIGKILL);
		}
		if (write(leave[1], "", 1) != 1)
			return 1;
	}
	over = 1;
	pthread_join(victim.thread, NULL);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < FILLERS; i++)
		pthread_join(fillers[i].thread, NULL);
	print_counts();
	return 3;
}
