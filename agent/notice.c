#include "notice.h"
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include "writer/digits.h"
#include "writer/sys.h"

void agent_notice(const char *piece, ...)
{
	struct pollfd error = {.fd = 2, .events = POLLOUT};
	struct timespec now = {0};
	char line[512] = "fxt: ";
	size_t length = 5;
	va_list list;

	va_start(list, piece);
	for (; piece; piece = va_arg(list, const char *)) {
		size_t bytes = strnlen(piece, sizeof(line) - 1 - length);

		memcpy(line + length, piece, bytes);
		length += bytes;
	}
	va_end(list);
	line[length++] = '\n';
	/* The program might wait for ever for a reader that it never needed. */
	if (sys_call6(SYS_ppoll, (long)&error, 1, (long)&now, 0, 8, 0) == 1)
		sys_call(SYS_write, 2, line, length, 0);
}

const char *agent_number(char buffer[24], uint64_t number)
{
	buffer[fxt_put_digits(buffer, number, 10)] = 0;
	return buffer;
}
