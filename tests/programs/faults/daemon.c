/*
 * Becomes a daemon, by two forks, with every descriptor closed behind the tracer's back, then opens files
 * under the numbers that are free now, and writes what it counted to the last of them.
 */
#include "count.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

UNTRACED static int live(const char *path)
{
	char name[16], line[64];
	struct stat status;
	int wrong = 0;

	umask(0);
	if (chdir("/") != 0)
		return 2;
	closefrom(0);
	for (int fd = 0; fd < 20; fd++) {
		nest(4);
		if (open("/dev/null", O_RDWR) != fd)
			wrong++;
		leaf();
	}
	/* All of them are open still, and lead to /dev/null. */
	for (int fd = 0; fd < 20; fd++)
		wrong += fstat(fd, &status) != 0 || !S_ISCHR(status.st_mode);
	snprintf(name, sizeof(name), "%d", wrong);
	snprintf(line, sizeof(line), "leaf\t%lu\nnest\t%lu\nwrong\t%s\n", counts->leaf, counts->nest, name);
	int out = open(path, O_WRONLY);

	return out == 20 && write(out, line, strlen(line)) > 0 ? 0 : 1;
}

UNTRACED int main(int argc, char **argv)
{
	begin_counting();
	leaf();
	pid_t child = argc > 1 ? fork() : -1;

	if (child == 0) {
		setsid();
		leaf();
		if (fork() == 0)
			exit(live(argv[1]));
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}
