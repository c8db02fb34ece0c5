/*
 * The few functions of libc that the helper thread calls, some of them because the compiler puts the calls
 * in. It must not call the ones that the program gets: sanitizers interpose those, and look at state of the
 * calling thread that the helper does not have [ThreadSanitizer: the program dies]. The linker binds the
 * agent's calls to these; nobody else sees them.
 *
 * The barriers in the loops keep the compiler from replacing a loop by a call of the very function it is in.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include "libc.h"
#include "writer/sys.h"

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
