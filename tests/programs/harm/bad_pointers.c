/*
 * exec and posix_spawn with arguments that cannot be read, which the kernel refuses: each prints the error it
 * ends with.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TRY(call)                                                       \
	do {                                                            \
		errno = 0;                                              \
		int result = (call);                                    \
		printf("%s: %d, %s\n", #call, result, strerror(errno)); \
	} while (0)

int main(void)
{
	char *const arguments[] = {(char *)"true", NULL}, *const no_environment[] = {NULL};
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char **nowhere = (char **)16, *wrong_entry[] = {(char *)"A=1", (char *)16, NULL};
	char **unended = (char **)(page + 4096) - 1, *cut = page + 4096 - strlen("LD_PRELOAD=");
	char *cut_entry[] = {cut, NULL};
	int file = open("/bin/true", O_RDONLY);
	pid_t child;

	munmap(page + 4096, 4096);
	memcpy(page, "FOO=1", 6);
	*unended = page;
	TRY(execve((char *)16, arguments, no_environment));
	TRY(execve((char *)-1, arguments, no_environment));
	TRY(execve(NULL, arguments, no_environment));
	TRY(execve("/bin/true", nowhere, no_environment));
	TRY(execve("/bin/true", arguments, nowhere));
	TRY(execve("/bin/true", arguments, wrong_entry));
	TRY(execve("/bin/true", arguments, unended));
	TRY(execveat(AT_FDCWD, (char *)16, arguments, no_environment, 0));
	TRY(execveat(AT_FDCWD, "/bin/true", arguments, nowhere, 0));
	TRY(execveat(AT_FDCWD, "/bin/true", arguments, wrong_entry, 0));
	TRY(fexecve(-1, arguments, no_environment));
	TRY(fexecve(file, NULL, no_environment));
	TRY(fexecve(file, arguments, NULL));
	TRY(fexecve(file, arguments, nowhere));
	TRY(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, nowhere));
	TRY(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, wrong_entry));
	memcpy(cut, "LD_PRELOAD=", strlen("LD_PRELOAD="));
	TRY(execve("/bin/true", arguments, cut_entry));
	environ = nowhere;
	TRY(execv("/bin/true", arguments));
	return 0;
}
