/* A C program that loads C++ libraries and calls run() of each. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char *names[])
{
	for (int i = 1; i < count; i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		int (*run)(int) = library ? (int (*)(int))dlsym(library, "run") : NULL;

		if (!run) {
			puts(dlerror());
			return 1;
		}
		printf("%d\n", run(100));
	}
	return 0;
}
