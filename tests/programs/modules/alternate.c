/*
 * Loads two plugins in turn, so that each comes to lie where the other was; with a second argument the same
 * is done in a forked child. Says on standard error at how many addresses they were.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

UNTRACED static void *use(const char *path, int times)
{
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*run)(int) = module ? (void (*)(int))dlsym(module, "run") : NULL;

	if (!run)
		abort();
	run(times);
	dlclose(module);
	return (void *)run;
}

UNTRACED int main(int argc, char **argv)
{
	void *seen[20];
	int places = 0;

	for (int i = 0; i < 20; i++) {
		void *place = use(argv[1 + i % 2], 1 + i % 2);
		int at = 0;

		while (at < places && seen[at] != place)
			at++;
		if (at == places)
			seen[places++] = place;
	}
	if (argc > 3 && fork() == 0) {
		use(argv[2], 5);
		use(argv[1], 5);
		exit(0);
	}
	wait(NULL);
	fprintf(stderr, "%d\n", places);
	return 0;
}
