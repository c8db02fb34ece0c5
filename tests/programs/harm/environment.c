/*
 * A process that is given an environment prints what it finds there: of argv, of main()'s third argument, of
 * environ, and the size of a page, as the vector behind the environment has it. Without arguments it becomes
 * each of several such processes.
 */
#include <elf.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void show(const char *what, char **environment)
{
	printf("%s:", what);
	for (; *environment; environment++)
		printf(" %s", *environment);
	printf("\n");
}

static void show_all(char **argv, char **environment)
{
	const uint64_t *vector;
	char **end = environment;

	show("main", environment);
	show("environ", environ);
	while (*argv)
		argv++;
	show("behind argv", argv + 1);
	while (*end)
		end++;
	for (vector = (const uint64_t *)(end + 1); *vector != AT_NULL; vector += 2)
		if (*vector == AT_PAGESZ)
			printf("page size %d\n", (int)vector[1]);
}

static void child(const char *how, char **environment)
{
	char *arguments[] = {(char *)"environment", (char *)"show", NULL};
	pid_t pid;

	printf("-- %s\n", how);
	fflush(stdout);
	if (strcmp(how, "spawn") == 0)
		posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environment);
	else if ((pid = fork()) == 0)
		_exit(execve("/proc/self/exe", arguments, environment));
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv, char **environment)
{
	char *none[] = {NULL}, *one[] = {(char *)"A=1", NULL};
	char *preload[] = {(char *)"A=1", (char *)"LD_PRELOAD=libm.so.6", (char *)"B=2", NULL};
	char *empty[] = {(char *)"LD_PRELOAD=", NULL};

	if (argc > 1) {
		show_all(argv, environment);
		return 0;
	}
	child("exec", none);
	child("spawn", none);
	child("exec", one);
	child("exec", preload);
	child("exec", empty);
	clearenv();
	child("exec", environ ? environ : none);
	return 0;
}
