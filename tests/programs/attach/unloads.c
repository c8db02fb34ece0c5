/* unloads: for each line of its standard input it unloads a library, or loads it again, and
 * prints the number of the line. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *library = dlopen("libm.so.6", RTLD_NOW);
	char line[32];

	puts(library ? "ready" : dlerror());
	fflush(stdout);
	for (int n = 1; fgets(line, sizeof(line), stdin); n++) {
		if (library)
			library = dlclose(library) ? library : NULL;
		else
			library = dlopen("libm.so.6", RTLD_NOW);
		printf("%d\n", n);
		fflush(stdout);
	}
	return 0;
}
