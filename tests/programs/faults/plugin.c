/* A plugin with thread-local storage; with PASSES_ON, a library that stands before another one's functions.
 */
#ifdef PASSES_ON
#include <dlfcn.h>
#include <pthread.h>

int passed_on;

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*next)(pthread_mutex_t *);

	if (!next)
		next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	passed_on++;
	return next(mutex);
}
#else
static __thread int own[16];

int plugin_call(int number)
{
	own[number]++;
	return own[number];
}
#endif
