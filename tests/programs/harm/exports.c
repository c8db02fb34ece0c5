/* Which names a C program finds, by dlsym() and by weak references. */
#include <dlfcn.h>
#include <stdio.h>

#define NAMES(X)               \
	X(_Znwm)               \
	X(_ZdlPv)              \
	X(_ZnamRKSt9nothrow_t) \
	X(__cxa_begin_catch)   \
	X(_Unwind_SetIP)       \
	X(cfree)               \
	X(free_sized)          \
	X(free_aligned_sized)  \
	X(malloc)              \
	X(__longjmp_chk)       \
	X(__read_chk)          \
	X(read)                \
	X(thrd_sleep)          \
	X(pthread_create)

#define X(name) extern char weak_##name[] __asm__(#name) __attribute__((weak));
NAMES(X)
#undef X

int main(void)
{
	const char *error;

#define X(name) printf("%s %d %d\n", #name, dlsym(RTLD_DEFAULT, #name) != NULL, (void *)weak_##name != NULL);
	NAMES(X)
#undef X
	while ((error = dlerror()))
		puts(error);
	return 0;
}
