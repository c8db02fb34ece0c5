/* Opens a plugin in a link namespace of its own, calls it 100 times and closes it; then in its own, and calls
 * it 50 times. Prints what came of that. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int call(void *library, int times)
{
	int (*plugin)(int) = (int (*)(int))dlsym(library, "namespace_plugin");
	int sum = 0;

	if (!plugin)
		exit(2);
	for (int i = 0; i < times; i++)
		sum += plugin(i);
	return sum;
}

int main(int argc, char **argv)
{
	void *apart = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW), *here;

	if (argc < 2 || !apart)
		return 1;
	printf("%d\n", call(apart, 100));
	printf("%d\n", dlclose(apart));
	here = dlopen(argv[1], RTLD_NOW);
	if (!here)
		return 1;
	printf("%d\n", call(here, 50));
	return 0;
}
