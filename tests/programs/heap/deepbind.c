/*
 * A thousand blocks that the host allocates and a library frees, and as many the other way round: deepbind
 * LIBRARY opens it with RTLD_DEEPBIND. With PLUGIN: the library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef PLUGIN
void *plugin_allocate(size_t size)
{
	return malloc(size);
}

void plugin_free(void *block)
{
	free(block);
}
#else
int main(int argc, char **argv)
{
	void *plugin = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	void *(*plugin_allocate)(size_t) = plugin ? dlsym(plugin, "plugin_allocate") : NULL;
	void (*plugin_free)(void *) = plugin ? dlsym(plugin, "plugin_free") : NULL;

	if (!plugin_allocate || !plugin_free)
		return 1;
	for (int i = 0; i < 1000; i++) {
		void *volatile block = malloc(60001);

		plugin_free(block);
		free(plugin_allocate(60003));
	}
	puts("done");
	return 0;
}
#endif
