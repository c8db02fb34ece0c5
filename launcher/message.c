#include "message.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void fxt_say(const char *format, ...)
{
	static const char start[] = "fxtrun: ";
	/* Room for two paths and a sentence. */
	char line[2 * 4096 + 512];
	size_t used = sizeof(start) - 1, room = sizeof(line) - 1 - used;
	va_list arguments;
	int length;

	memcpy(line, start, used);
	va_start(arguments, format);
	length = vsnprintf(line + used, room, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	used += (size_t)length < room ? (size_t)length : room - 1;
	for (size_t i = 0; i < used; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
	line[used++] = '\n';
	/* Where standard error cannot be written there is nobody to tell. */
	if (write(STDERR_FILENO, line, used) < 0)
		return;
}
