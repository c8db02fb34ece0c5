/*
 * Calls functions that share their names.
 *
 *   namesakes PLUGIN TIMES ...     calls process() of each plugin so often
 *   namesakes static               calls those of two source files of the program, 3 and 5 times
 *   namesakes twice                does so in a child and in a second image of itself too
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void run_left(void) __attribute__((weak));
void run_right(void) __attribute__((weak));

static void run_static(void)
{
	for (int i = 0; i < 3; i++)
		run_left();
	for (int i = 0; i < 5; i++)
		run_right();
}

int main(int count, char **words)
{
	void (*process)(void);

	if (count == 2) {
		run_static();
		if (strcmp(words[1], "twice") != 0)
			return 0;
		if (fork() == 0) {
			run_static();
			exit(0);
		}
		wait(NULL);
		execl(words[0], words[0], "static", (char *)NULL);
		return 1;
	}
	for (int i = 1; i + 1 < count; i += 2) {
		process = (void (*)(void))dlsym(dlopen(words[i], RTLD_NOW), "process");
		for (int left = atoi(words[i + 1]); left > 0; left--)
			process();
	}
	return 0;
}
