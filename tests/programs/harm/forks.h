/*
 * Processes that are made inside hooks: each continues the interrupted code, and counts the
 * calls that begin in it. report_processes() prints a line for each, "PID CALLS INSIDE":
 * how many calls began in it, and whether it was made inside a further one.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "own_call.h"

#define SILENT    __attribute__((no_instrument_function))
#define PROCESSES 4096

static struct process {
	int pid;
	unsigned calls, inside;
} * processes;

static unsigned *count;                  /* of them, shared */
static volatile unsigned begun, arrived; /* calls, in this process's own count */
static volatile unsigned own;            /* its place in the list */
static volatile unsigned handled; /* calls by the handler, which may have come amid a count of others */
static char how;

#define CALL(call) (begun++, call)

__attribute__((noinline)) static void leaf(void)
{
	arrived++;
}

__attribute__((noinline)) static void in_handler(void)
{
	handled++;
}

SILENT static long make_child(void)
{
	if (how == 'c')
		return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (how == 'i' || how == 'r')
		return own_call(SYS_clone, SIGCHLD, 0, 0);
	return how == '_' ? _Fork() : fork();
}

SILENT static unsigned next_place(void)
{
	unsigned place = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);

	if (place >= PROCESSES)
		_exit(1);
	return place;
}

/* This process's: what it has counted before is its parent's. */
SILENT static void begin(unsigned place, unsigned before, unsigned inside)
{
	own = place;
	handled = 0;
	processes[place] = (struct process){getpid(), 0u - before, inside};
}

/* Before anything is called. */
SILENT static void begin_first(const char *way)
{
	how = *way;
	processes = mmap(NULL, PROCESSES * sizeof(*processes) + 4096, PROT_READ | PROT_WRITE,
	        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	count = (unsigned *)(processes + PROCESSES);
	begin(next_place(), 0, 0);
}

SILENT static void report_processes(void)
{
	for (unsigned i = 0; i < *count; i++)
		printf("%d %u %u\n", processes[i].pid, processes[i].calls, processes[i].inside);
}
