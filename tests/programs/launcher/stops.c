/*
 * stops SIGNAL: prints "up" and stops itself by that signal; when continued it waits for
 * its child. The child, in a session of its own, calls leaf() a million times once it has
 * read a byte from standard input, and prints "done".
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) static void leaf(int i)
{
	sum += i;
}

__attribute__((noinline)) static void went_on(void)
{
	sum = 0;
}

static void say(const char *text, size_t bytes)
{
	if (write(STDOUT_FILENO, text, bytes) < 0)
		abort();
}

int main(int argc, char **argv)
{
	int status;
	char byte;

	if (fork() == 0) {
		setsid();
		if (read(STDIN_FILENO, &byte, 1) != 1)
			return 1;
		for (int i = 0; i < 1000000; i++)
			leaf(i);
		say("done\n", 5);
		return 0;
	}
	say("up\n", 3);
	raise(argc > 1 ? atoi(argv[1]) : SIGTSTP);
	went_on();
	return wait(&status) > 0 ? WEXITSTATUS(status) : 2;
}
