#include "notice.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include "writer/format/digits.h"
#include "writer/shared/sys.h"

/* Whether one of these signals is pending for this thread. */
static bool notice_is_pending(uint64_t signals)
{
	uint64_t pending = 0;

	sys_call(SYS_rt_sigpending, &pending, sizeof(pending), 0, 0);
	return pending & signals;
}

long agent_write_unsignalled(int fd, const void *data, uint64_t bytes, int64_t offset)
{
	const uint64_t signals = UINT64_C(1) << (SIGXFSZ - 1) | UINT64_C(1) << (SIGPIPE - 1);
	uint64_t mask = sys_block_signals();
	bool was_pending = notice_is_pending(signals);
	struct timespec now = {0};
	long written = offset < 0 ? sys_call(SYS_write, fd, data, bytes, 0)
	                          : sys_call6(SYS_pwrite64, fd, (long)data, (long)bytes, (long)offset, 0, 0);

	if ((written == -EFBIG || written == -EPIPE) && !was_pending)
		sys_call(SYS_rt_sigtimedwait, &signals, NULL, &now, sizeof(signals));
	sys_restore_signals(mask);
	return written;
}

/* Whether standard error takes a line at once. Otherwise the program might wait for ever
 * for a reader that it never needed. A process that may open no file gets EINVAL from the
 * kernel; the line is written then. */
static bool notice_has_room(void)
{
	struct pollfd error = {.fd = 2, .events = POLLOUT};
	struct timespec now = {0};
	long result = sys_call6(SYS_ppoll, (long)&error, 1, (long)&now, 0, 8, 0);

	return result == 1 || result == -EINVAL;
}

void agent_notice(const char *piece, ...)
{
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
	if (notice_has_room())
		agent_write_unsignalled(2, line, length, -1);
}

/* strerror() depends on the locale. These are the errors of files and sockets. */
const char *agent_error(long error)
{
	static const struct {
		int error;
		const char *text;
	} errors[] = {{EACCES, "Permission denied"}, {EAGAIN, "it does not answer"},
	        {EDQUOT, "Disk quota exceeded"}, {EFBIG, "File too large"}, {EIO, "Input/output error"},
	        {EISDIR, "Is a directory"}, {EMFILE, "Too many open files"},
	        {ENAMETOOLONG, "File name too long"}, {ENFILE, "Too many open files in system"},
	        {ENODEV, "No such device"}, {ENOENT, "No such file or directory"},
	        {ENOMEM, "Cannot allocate memory"}, {ENOSPC, "No space left on device"},
	        {ENOTDIR, "Not a directory"}, {ENXIO, "No such device or address"},
	        {EPERM, "Operation not permitted"}, {EPIPE, "Broken pipe"}, {EROFS, "Read-only file system"}};

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].error == error)
			return errors[i].text;
	return "the system refuses it";
}

const char *agent_number(char buffer[24], uint64_t number)
{
	buffer[fxt_put_digits(buffer, number, 10)] = 0;
	return buffer;
}
