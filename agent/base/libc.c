/*
 * The few functions of libc that the helper thread calls; the compiler inserts some of the
 * calls. And a getenv() for the agent, since libc's own does not work before libc's
 * constructor.
 * The agent must not call the functions that the program gets: sanitizers interpose them,
 * and read state of the calling thread that the helper does not have [ThreadSanitizer: the
 * program dies]. The linker binds the agent's calls to these. They are visible to no other
 * object.
 *
 * The barriers in the loops keep the compiler from replacing a loop by a call of the very
 * function it is in.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>
#include "libc.h"
#include "writer/shared/sys.h"

static int (*libcs_clock_gettime)(clockid_t clock, struct timespec *time);

void agent_libc_prepare(void *function)
{
	libcs_clock_gettime = (int (*)(clockid_t, struct timespec *))function;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	if (likely(libcs_clock_gettime))
		return libcs_clock_gettime(clock, time);
	return (int)sys_call(SYS_clock_gettime, clock, time, 0, 0);
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	uint8_t *target = to;
	const uint8_t *source = from;
	uint64_t word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word)) {
		__builtin_memcpy(&word, source, sizeof(word));
		__builtin_memcpy(target, &word, sizeof(word));
		source += sizeof(word);
		target += sizeof(word);
		compiler_barrier();
	}
	for (; bytes; bytes--) {
		*target++ = *source++;
		compiler_barrier();
	}
	return to;
}

void *memset(void *at, int value, size_t bytes)
{
	uint64_t word = (uint8_t)value * UINT64_C(0x0101010101010101);
	uint8_t *target = at;

	for (; bytes >= sizeof(word); bytes -= sizeof(word)) {
		__builtin_memcpy(target, &word, sizeof(word));
		target += sizeof(word);
		compiler_barrier();
	}
	for (; bytes; bytes--) {
		*target++ = (uint8_t)value;
		compiler_barrier();
	}
	return at;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const uint8_t *x = a, *y = b;

	for (; bytes; bytes--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strnlen(const char *text, size_t most)
{
	size_t length = 0;

	for (; length < most && text[length]; length++)
		compiler_barrier();
	return length;
}

size_t strlen(const char *text)
{
	return strnlen(text, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t most)
{
	for (; most; most--, a++, b++)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

/* ---- the environment ---- */

/* The place where the loader found the number of arguments, the arguments and the
 * environment. */
extern void *__libc_stack_end __attribute__((weak));

static char **initial_environment;
static bool is_initial_forgotten;

static char **libc_find_environment(void)
{
	uint64_t *stack = &__libc_stack_end ? __libc_stack_end : NULL;
	uint64_t room = stack ? (getauxval(AT_EXECFN) - (uint64_t)(uintptr_t)stack) / sizeof(*stack) : 0;

	/* A loader that was called by name may have moved all of that. */
	if (!stack || stack[0] == 0 || stack[0] >= room - 2 || stack[stack[0] + 1] != 0)
		return NULL;
	return (char **)(stack + stack[0] + 2);
}

char **agent_libc_environment(void)
{
	if (environ || is_initial_forgotten)
		return environ;
	return initial_environment ? initial_environment : libc_find_environment();
}

void agent_libc_set_environment(char **initial)
{
	initial_environment = initial;
}

void agent_libc_forget_environment(void)
{
	is_initial_forgotten = true;
}

char *agent_getenv(const char *name)
{
	size_t bytes = strlen(name);

	for (char **entry = agent_libc_environment(); entry && *entry; entry++)
		if (strncmp(*entry, name, bytes) == 0 && (*entry)[bytes] == '=')
			return *entry + bytes + 1;
	return NULL;
}
