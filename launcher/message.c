/*
 * Writes fxtrun's messages, one line in one piece, from any thread. After
 * fxt_say_without_waiting() it must not wait for the reader of standard error.
 */
#include "message.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "reader/trace/text.h"

/* Room for two paths and a sentence. */
#define LINE_BYTES (2 * 4096 + 512)

/* Names of files and processes may contain bytes that must not reach a terminal. */
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

/* ---- lines that wait ---- */

/* Text that standard error has not taken yet. */
static struct {
	pthread_mutex_t lock;
	pid_t process; /* the process that the kept lines belong to; 0: lines are not kept */
	size_t bytes;
	unsigned lost; /* number of lines */
	char lines[65536];
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Writes as much as standard error takes at once. Returns -1 and errno otherwise, EAGAIN if
 * it takes nothing. A pipe reported as writable has room for a page, unless another process
 * writes to it in between. If the kernel supports a write that never waits (pipes from
 * Linux 6.4 on, sockets), it is used. */
static ssize_t message_write_now(const char *bytes, size_t count)
{
	struct pollfd ready = {STDERR_FILENO, POLLOUT, 0};
	struct iovec part = {(void *)bytes, count < PIPE_BUF ? count : PIPE_BUF};
	struct stat status;
	ssize_t written;

	if (fstat(STDERR_FILENO, &status) == 0 && S_ISREG(status.st_mode))
		return write(STDERR_FILENO, bytes, count);
	if (poll(&ready, 1, 0) == 0) {
		errno = EAGAIN;
		return -1;
	}
	written = pwritev2(STDERR_FILENO, &part, 1, -1, RWF_NOWAIT);
	return written < 0 && errno != EAGAIN ? write(STDERR_FILENO, bytes, part.iov_len) : written;
}

/* Writes one line at a time: each is one piece to other readers and writers. With the lock
 * held. */
static void message_put_waiting(bool waits)
{
	while (waiting.bytes > 0) {
		size_t line =
		        (size_t)((char *)memchr(waiting.lines, '\n', waiting.bytes) - waiting.lines) + 1;
		ssize_t written = waits ? write(STDERR_FILENO, waiting.lines, line)
		                        : message_write_now(waiting.lines, line);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0 && errno == EAGAIN && !waits)
			return;
		if (written <= 0) /* standard error is gone */
			written = (ssize_t)waiting.bytes;
		waiting.bytes -= (size_t)written;
		memmove(waiting.lines, waiting.lines + written, waiting.bytes);
	}
}

/* True if lines are kept here; the lock is then held. A forked process leaves its parent's
 * lines to the parent. */
static bool message_begin_waiting(void)
{
	if (waiting.process == 0)
		return false;
	if (waiting.process != getpid()) {
		pthread_mutex_init(&waiting.lock, NULL);
		waiting.process = getpid();
		waiting.bytes = waiting.lost = 0;
	}
	pthread_mutex_lock(&waiting.lock);
	return true;
}

static void message_keep(const char *line, size_t bytes)
{
	if (bytes > sizeof(waiting.lines) - waiting.bytes) {
		waiting.lost++;
		return;
	}
	memcpy(waiting.lines + waiting.bytes, line, bytes);
	waiting.bytes += bytes;
}

void fxt_say_without_waiting(void)
{
	waiting.process = getpid();
}

void fxt_say_rest(void)
{
	if (!message_begin_waiting())
		return;
	message_put_waiting(false);
	pthread_mutex_unlock(&waiting.lock);
}

void fxt_say_all(void)
{
	unsigned lost;

	if (!message_begin_waiting())
		return;
	message_put_waiting(true);
	lost = waiting.lost;
	waiting.process = 0;
	pthread_mutex_unlock(&waiting.lock);
	if (lost)
		fxt_say("%u more lines are lost: standard error was not read, and there was no room for them",
		        lost);
}

/* ---- a line ---- */

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
	if (message_begin_waiting()) {
		message_put_waiting(false);
		message_keep(shown, used);
		message_put_waiting(false);
		pthread_mutex_unlock(&waiting.lock);
	} else if (write(STDERR_FILENO, shown, used) < 0) {
		return; /* standard error is gone */
	}
}
