/*
 * A process that has children and becomes others, in the way of its first argument, always
 * with a cleared environment except for "KEPT=1". Every image prints its own line. The
 * parent waits for a child.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

static char *cleared[] = {"KEPT=1", NULL};
static char *own_path;

KEPT void second_image(void)
{
	printf("second %s %s\n", getenv("KEPT") ? "kept" : "lost", getenv("HOME") ? "home" : "bare");
	fflush(stdout);
}

KEPT void become(const char *how)
{
	char *argv[] = {own_path, "second", NULL};

	if (strcmp(how, "execve") == 0)
		execve(own_path, argv, cleared);
	else if (strcmp(how, "execl") == 0)
		execle(own_path, argv[0], argv[1], NULL, cleared);
	else if (strcmp(how, "execvpe") == 0)
		execvpe(own_path, argv, cleared);
	else if (strcmp(how, "fexecve") == 0)
		fexecve(open(own_path, O_RDONLY), argv, cleared);
	else if (strcmp(how, "execveat") == 0)
		execveat(AT_FDCWD, own_path, argv, cleared, 0);
	environ = cleared;
	if (strcmp(how, "execv") == 0)
		execv(own_path, argv);
	else if (strcmp(how, "execvp") == 0)
		execvp(own_path, argv);
	else if (strcmp(how, "execlp") == 0)
		execlp(own_path, argv[0], argv[1], NULL);
	else if (strcmp(how, "plain execl") == 0)
		execl(own_path, argv[0], argv[1], NULL);
}

KEPT pid_t have_child(const char *how)
{
	char *argv[] = {own_path, "second", NULL};
	pid_t child = -1;

	if (strcmp(how, "posix_spawn") == 0)
		posix_spawn(&child, own_path, NULL, NULL, argv, cleared);
	else if (strcmp(how, "posix_spawnp") == 0)
		posix_spawnp(&child, own_path, NULL, NULL, argv, cleared);
	else if (strcmp(how, "vfork") == 0) {
		child = vfork();
		if (child == 0) {
			execve("/nowhere", argv, cleared);
			execve(own_path, argv, cleared);
			_exit(127);
		}
	}
	return child;
}

KEPT void fail_to_become(void)
{
	char *argv[] = {own_path, NULL};

	if (execv("/nowhere", argv) == 0 || execvp("/nowhere either", argv) == 0)
		abort();
}

UNTRACED int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int status = 0;

	own_path = argv[0];
	if (strcmp(how, "second") == 0) {
		second_image();
		return 5;
	}
	printf("first\n");
	fflush(stdout);
	fail_to_become();
	if (strstr(how, "exec")) {
		become(how);
		return 1;
	}
	pid_t child = have_child(how);

	if (child <= 0 || waitpid(child, &status, 0) != child)
		return 2;
	return WEXITSTATUS(status);
}
