#include "real.h"
#include <dlfcn.h>
#include <stddef.h>

/* Each entry is written once with the same value, whoever comes first. */
#define REAL(name)                                                                      \
	static __typeof__(&name) find_##name(void)                                      \
	{                                                                               \
		static __typeof__(&name) found;                                         \
		__typeof__(&name) function = __atomic_load_n(&found, __ATOMIC_RELAXED); \
		if (!function) {                                                        \
			function = (__typeof__(&name))dlsym(RTLD_NEXT, #name);          \
			__atomic_store_n(&found, function, __ATOMIC_RELAXED);           \
		}                                                                       \
		return function;                                                        \
	}

int prctl(int operation, ...);

REAL(pthread_create)
REAL(pthread_setname_np)
REAL(prctl)

int real_pthread_create(
        pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
	return find_pthread_create()(thread, attributes, routine, argument);
}

int real_pthread_setname_np(pthread_t thread, const char *name)
{
	return find_pthread_setname_np()(thread, name);
}

int real_prctl(int operation, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	return find_prctl()(operation, a, b, c, d);
}

void real_resolve(void)
{
	find_pthread_create();
	find_pthread_setname_np();
	find_prctl();
}
