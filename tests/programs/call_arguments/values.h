/* A function that prints its arguments and its result, as fxt dump prints them of its calls. The
 * result is not known to the compiler's callers. */
#ifndef CALL_ARGUMENTS_VALUES_H
#define CALL_ARGUMENTS_VALUES_H

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define APART __attribute__((noinline, noipa))
#ifdef __clang__
#undef APART
#define APART __attribute__((noinline))
#endif

/* One line to descriptor 3, by one call. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[1024];
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (write(3, line, (size_t)bytes) != bytes)
		_exit(99);
}

#endif
