/* Says something at every time of a process's life: before main, in a forked child, in
 * handlers, in a library that comes and goes, at exit. argv[1]: the library. */
#include <fxt/trace.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANDLED 200
#define LOADED  20

static __attribute__((constructor)) void before(void)
{
	FXT_INSTANT("life", "before main", FXT_SCOPE_THREAD);
}

static __attribute__((destructor)) void after(void)
{
	FXT_INSTANT("life", "destructor", FXT_SCOPE_THREAD);
}

static void at_exit(void)
{
	FXT_INSTANT("life", "at exit", FXT_SCOPE_THREAD);
}

static void handler(int number)
{
	FXT_DURATION("life", "handler", "signal", number);
	FXT_INSTANT("life", "in handler", FXT_SCOPE_THREAD);
}

int main(int argc, char **argv)
{
	pid_t child;

	atexit(at_exit);
	signal(SIGUSR1, handler);
	for (int i = 0; i < HANDLED; i++) {
		FXT_DURATION("life", "raises", "i", i);
		raise(SIGUSR1);
	}
	for (int i = 0; argc > 1 && i < LOADED; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		void (*says)(int) = library ? (void (*)(int))dlsym(library, "says") : NULL;

		if (!says)
			return 2;
		says(i);
		dlclose(library);
	}
	child = fork();
	if (child == 0) {
		FXT_DURATION("life", "in the child");
		FXT_INSTANT("life", "child", FXT_SCOPE_THREAD);
	} else {
		FXT_DURATION("life", "waits for the child");
		waitpid(child, NULL, 0);
	}
	return 0;
}
