#include "message.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "reader/text.h"

/* Room for two paths and a sentence. */
#define LINE_BYTES (2 * 4096 + 512)

/* Names of files and processes may have anything in them, which is not for a terminal. */
static size_t message_escape(const char *line, size_t bytes, char *shown, size_t room)
{
	struct fxt_span rest = {line, bytes};
	size_t used = 0;

	while (rest.bytes > 0) {
		char escape[8];
		size_t taken = fxt_escape(rest, escape), put = escape[0] ? strlen(escape) : taken;

		if (put > room - used)
			break;
		memcpy(shown + used, escape[0] ? escape : rest.data, put);
		used += put;
		rest = (struct fxt_span){rest.data + taken, rest.bytes - taken};
	}
	return used;
}

void fxt_say(const char *format, ...)
{
	static const char start[] = "fxtrun: ";
	char line[LINE_BYTES], shown[LINE_BYTES];
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
	used = message_escape(line, used, shown, sizeof(shown) - 1);
	shown[used++] = '\n';
	/* Where standard error cannot be written there is nobody to tell. */
	if (write(STDERR_FILENO, shown, used) < 0)
		return;
}
