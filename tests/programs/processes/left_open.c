/*
 * Children that die with calls open: of SIGKILL while it sleeps, of a fault beside another thread, and of a
 * fault as another image. Then the parent works on; "waits": it says so and reads a byte.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int *nowhere;

static void stop_inside(void)
{
	raise(SIGSTOP);
}

static void stop_outside(void)
{
	stop_inside();
}

static void crash_inside(void)
{
	*nowhere = 1;
}

static void crash_outside(void)
{
	crash_inside();
}

static void *stay(void *pipe_end)
{
	if (write(*(int *)pipe_end, "", 1) != 1)
		abort();
	for (;;)
		pause();
}

static void crash_beside(void)
{
	pthread_t thread;
	int ready[2];
	char byte;

	if (pipe(ready) != 0 || pthread_create(&thread, NULL, stay, &ready[1]) != 0 ||
	        read(ready[0], &byte, 1) != 1)
		abort();
	crash_outside();
}

static void become(char *program)
{
	execl(program, program, "image", (char *)NULL);
}

static void work_on(int waits)
{
	char byte;

	if (waits && (write(STDOUT_FILENO, "waits\n", 6) != 6 || read(STDIN_FILENO, &byte, 1) != 1))
		abort();
}

int main(int argc, char **argv)
{
	pid_t child;
	int status;

	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	if (argc > 1 && strcmp(argv[1], "image") == 0)
		crash_outside();
	child = fork();
	if (child == 0)
		stop_outside();
	waitpid(child, &status, WUNTRACED);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	child = fork();
	if (child == 0)
		crash_beside();
	waitpid(child, &status, 0);
	child = fork();
	if (child == 0)
		become(argv[0]);
	waitpid(child, &status, 0);
	work_on(argc > 1);
	return 0;
}
