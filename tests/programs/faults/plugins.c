/*
 * Loads plugins: one that only its own RUNPATH finds, and those given as arguments, each with thread-local
 * storage, in a thread with the smallest stack. Locks a mutex, which a library preloaded by the user passes
 * on. Says how many plugins could be loaded, and how often they were called.
 */
#include "count.h"
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

UNTRACED static void *call(void *function)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += ((int (*)(int))function)(i);
	return (void *)(long)sum;
}

UNTRACED int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	int loaded = 0, sum = 0;
	void *found = dlopen("found.so", RTLD_NOW);
	int *passed_on = dlsym(RTLD_DEFAULT, "passed_on");

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN) + 4096);
	sum += found ? (int)(long)call(dlsym(found, "plugin_call")) : 1000;
	for (int i = 1; i < argc; i++) {
		void *plugin = dlopen(argv[i], RTLD_NOW), *value = NULL;
		pthread_t thread;

		if (!plugin)
			continue;
		loaded++;
		if (pthread_create(&thread, &attributes, call, dlsym(plugin, "plugin_call")) == 0)
			pthread_join(thread, &value);
		sum += (int)(long)value;
	}
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	printf("%d loaded, sum %d, %d locks passed on\n", loaded, sum, passed_on ? *passed_on : -1);
	return 0;
}
