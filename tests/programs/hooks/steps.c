/*
 * Counts the instructions that the hooks execute: the processor's trap flag (x86-64) brings
 * a signal behind each. Prints "what<tab>entry<tab>exit" for
 *
 *   call       a function that was called before
 *   inlined    the same inside another one, on that one's frame and from the same place
 *   displaced  a function with its place in the function table taken by another one
 *
 * With one of these arguments it prints "call" for another function instead:
 *
 *   left-out   the function 0x400000, which fxtrun excludes, once that has taken effect
 *   dropped    a call without room: the manager is stopped, and the buffer, of 256 KiB at
 *              most, is full
 *
 * The program calls the hooks itself, and is not instrumented.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "trap_flag.h"
#include "writer/engine/strings.h"

typedef void hook(void *function, void *call_site);

/* The hooks see nothing but addresses; these are no module's. */
#define FIRST ((void *)0x100000)
#define SITE  ((void *)0x200000)
#define OUTER ((void *)0x300000)
#define LEFT  ((void *)0x400000)

static hook *enter, *leave;

static volatile struct {
	uint64_t begin, end; /* of the call that is counted: its first instruction, and where it returns to */
	long executed;
	bool inside;
} counted;

static void trap(int number, siginfo_t *info, void *context)
{
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t next = (uint64_t)registers[REG_RIP];

	(void)number;
	(void)info;
	if (next == counted.begin) {
		counted.end = *(uint64_t *)registers[REG_RSP];
		counted.inside = true;
	} else if (next == counted.end) {
		counted.inside = false;
	}
	counted.executed += counted.inside;
}

static inline __attribute__((always_inline)) long count(hook *called, void *function)
{
	counted.begin = (uint64_t)(uintptr_t)called;
	counted.executed = 0;
	CHANGE_TRAP_FLAG("orq", TRAP_FLAG);
	called(function, SITE);
	CHANGE_TRAP_FLAG("andq", ~TRAP_FLAG);
	return counted.executed;
}

/* All from one frame. The first call of a function is never the usual one. */
static __attribute__((noinline)) void print(const char *what, void *outer, void *function)
{
	long entry, exit;

	for (int i = 0; i < 2; i++) {
		if (outer)
			enter(outer, SITE);
		entry = count(enter, function);
		exit = count(leave, function);
		if (outer)
			leave(outer, SITE);
		enter(function, SITE);
		leave(function, SITE);
	}
	printf("%s\t%ld\t%ld\n", what, entry, exit);
}

/* An address that has the same place in a function table of any size. */
static void *displaced_by(const void *function)
{
	uint64_t place = fxt_function_hash((uint64_t)(uintptr_t)function),
	         address = (uint64_t)(uintptr_t)function;

	do
		address += 16;
	while (fxt_function_hash(address) != place);
	return (void *)(uintptr_t)address;
}

/* Calls it until its hooks have executed no fewer instructions for so long: a filter that has just been
 * answered, and call sites that the agent has not looked at yet, take more. */
#define SETTLED_SECONDS 2

static __attribute__((noinline)) void print_left_out(void)
{
	long recorded, entry = 0, exit = 0, least_entry = 0, least_exit = 0;
	time_t settled = 0;

	recorded = count(enter, FIRST);
	leave(FIRST, SITE);
	while (!settled || time(NULL) <= settled + SETTLED_SECONDS) {
		for (int i = 0; i < 1000; i++) {
			enter(LEFT, SITE);
			leave(LEFT, SITE);
		}
		entry = count(enter, LEFT);
		exit = count(leave, LEFT);
		if (entry == recorded || (settled && entry + exit >= least_entry + least_exit))
			continue;
		least_entry = entry;
		least_exit = exit;
		settled = time(NULL);
	}
	printf("call\t%ld\t%ld\n", least_entry, least_exit);
}

/* Whether each of its threads is; they stop one by one. */
static bool is_stopped(pid_t pid)
{
	char path[300], state = 'T';
	const struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *tasks = opendir(path);

	while (tasks && state == 'T' && (entry = readdir(tasks)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid, entry->d_name);
		FILE *stat = entry->d_name[0] == '.' ? NULL : fopen(path, "r");

		if (!stat)
			continue;
		if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
			state = '?';
		fclose(stat);
	}
	if (tasks)
		closedir(tasks);
	return state == 'T';
}

static __attribute__((noinline)) void print_dropped(void)
{
	kill(getppid(), SIGSTOP);
	while (!is_stopped(getppid()))
		;
	for (int i = 0; i < 256 * 1024 / 24; i++) {
		enter(FIRST, SITE);
		leave(FIRST, SITE);
	}
	print("call", NULL, FIRST);
	kill(getppid(), SIGCONT);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};

	enter = (hook *)(uintptr_t)dlsym(RTLD_DEFAULT, "__cyg_profile_func_enter");
	leave = (hook *)(uintptr_t)dlsym(RTLD_DEFAULT, "__cyg_profile_func_exit");
	sigaction(SIGTRAP, &action, NULL);
	enter(FIRST, SITE);
	leave(FIRST, SITE);
	if (argc > 1) {
		if (strcmp(argv[1], "dropped") == 0)
			print_dropped();
		else
			print_left_out();
		return 0;
	}
	enter(OUTER, SITE);
	leave(OUTER, SITE);
	enter(displaced_by(FIRST), SITE);
	leave(displaced_by(FIRST), SITE);
	print("call", NULL, FIRST);
	print("inlined", OUTER, FIRST);
	print("displaced", NULL, displaced_by(FIRST));
}
