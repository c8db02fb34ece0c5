/* The file of a standalone recording (trace_file.h). Runs on the helper thread and, at the
 * end, on the thread that exits. It must never leave a descriptor open between writes, or
 * write to another process's file. */
#include "trace_file.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include "agent/base/notice.h"
#include "writer/shared/handshake.h"
#include "writer/shared/sys.h"
#include "writer/shared/trace_open.h"

#define PATH_BYTES  4096
#define PLACEHOLDER "%p"
#define EXTENSION   ".fxt"

static struct {
	char plain[PATH_BYTES], numbered[PATH_BYTES];
	char *path; /* `plain` or `numbered` */
	int fd;
	uint64_t written;
	bool failed;
	struct timespec born; /* CLOCK_REALTIME_COARSE, the source of file times */
} file;

/* `why` may be NULL. */
static void trace_file_fail(const char *what, const char *why)
{
	if (!file.failed)
		agent_notice(
		        what, " ", file.path, why ? ": " : "", why ? why : "", "; the trace ends here", NULL);
	file.failed = true;
}

/* ---- its name ---- */

/* Ends the text at `end` with these bytes. NULL: there is no room, or there was none
 * before. */
static char *trace_file_add(char *end, const char *limit, const char *text, size_t bytes)
{
	if (!end || bytes >= (size_t)(limit - end))
		return NULL;
	memcpy(end, text, bytes);
	end[bytes] = 0;
	return end + bytes;
}

/* The name with the process number in it: at the placeholder, else NAME.fxt becomes
 * NAME.NUMBER.fxt. */
static bool trace_file_number(const char *directory, const char *output, const char *placeholder)
{
	char digits[24];
	const char *number = agent_number(digits, (uint64_t)sys_getpid());
	const char *limit = file.numbered + PATH_BYTES, *rest = output + strlen(output);
	char *end = trace_file_add(file.numbered, limit, directory, strlen(directory));

	if (placeholder)
		rest = placeholder + strlen(PLACEHOLDER);
	else if (rest - output > (long)strlen(EXTENSION) && strcmp(rest - strlen(EXTENSION), EXTENSION) == 0)
		rest -= strlen(EXTENSION);
	end = trace_file_add(end, limit, output, (size_t)((placeholder ? placeholder : rest) - output));
	end = trace_file_add(end, limit, ".", placeholder ? 0 : 1);
	end = trace_file_add(end, limit, number, strlen(number));
	return trace_file_add(end, limit, rest, strlen(rest));
}

bool agent_trace_file_choose(const char *output, bool is_forked)
{
	const char *placeholder;

	memset(&file, 0, sizeof(file));
	file.fd = -1;
	sys_call(SYS_clock_gettime, CLOCK_REALTIME_COARSE, &file.born, 0, 0);
	if (!output || !output[0])
		output = "trace." PLACEHOLDER EXTENSION;
	if (output[0] != '/') { /* the program may change its directory before its end */
		long bytes = sys_call(SYS_getcwd, file.plain, PATH_BYTES - 1, 0, 0);

		if (bytes <= 0)
			return false;
		file.plain[bytes - 1] = '/';
		file.plain[bytes] = 0;
	}
	placeholder = strstr(output, PLACEHOLDER);
	if (!trace_file_number(file.plain, output, placeholder) ||
	        !trace_file_add(
	                file.plain + strlen(file.plain), file.plain + PATH_BYTES, output, strlen(output)))
		return false;
	file.path = placeholder || is_forked ? file.numbered : file.plain;
	return true;
}

char *agent_trace_file_path(void)
{
	return file.path;
}

/* ---- the owner ---- */

/* True if another process of the same recording wrote the file. It did if the file changed
 * after this process began. An earlier trace may be replaced; such a file may not. */
static bool trace_file_is_of_another(void)
{
	struct stat status;

	if (sys_call(SYS_fstat, file.fd, &status, 0, 0) < 0 || !S_ISREG(status.st_mode) ||
	        status.st_size == 0)
		return false;
	return status.st_mtim.tv_sec != file.born.tv_sec ? status.st_mtim.tv_sec > file.born.tv_sec
	                                                 : status.st_mtim.tv_nsec > file.born.tv_nsec;
}

/* The lock is that of the open file. A mapping keeps the file open when the descriptor is
 * closed. The mapping ends with the process image, and forked children do not have it. */
static bool trace_file_lock(void)
{
	void *page;

	if (sys_call(SYS_flock, file.fd, LOCK_EX | LOCK_NB, 0, 0) == -EWOULDBLOCK)
		return false;
	page = sys_map(1, PROT_NONE, MAP_SHARED, file.fd);
	if (page)
		sys_advise(page, 1, MADV_DONTFORK);
	return true;
}

/* Opens the file and claims it: 0, or -errno; -EBUSY: another process has it. */
static long trace_file_claim(void)
{
	file.fd = (int)fxt_trace_open(file.path, O_RDWR | O_CLOEXEC, FXT_TRACE_MODE);
	if (file.fd < 0)
		return file.fd;
	if (!trace_file_lock() || trace_file_is_of_another()) {
		agent_trace_file_close();
		return -EBUSY;
	}
	sys_call(SYS_ftruncate, file.fd, 0, 0, 0);
	return 0;
}

bool agent_trace_file_open(void)
{
	long error;

	if (file.failed)
		return false;
	if (file.written) {
		error = file.fd = (int)sys_call(SYS_openat, AT_FDCWD, file.path, O_WRONLY | O_CLOEXEC, 0);
	} else {
		error = trace_file_claim();
		if (error == -EBUSY && file.path == file.plain) {
			file.path = file.numbered;
			error = trace_file_claim();
		}
	}
	if (error >= 0)
		return true;
	if (error == -EBUSY || error == -EPERM)
		trace_file_fail(
		        error == -EBUSY ? "another process writes" : "another user has put there", NULL);
	else
		trace_file_fail("cannot open", agent_error(-error));
	return false;
}

/* ---- writing ---- */

/* Returns 0, or an errno value. */
static long trace_file_write(const uint8_t *next, uint64_t bytes)
{
	while (bytes) {
		long written = agent_write_unsignalled(file.fd, next, bytes, (int64_t)file.written);

		if (written == -EINTR)
			continue;
		if (written <= 0)
			return written ? -written : ENOSPC;
		next += written;
		bytes -= (uint64_t)written;
		file.written += (uint64_t)written;
	}
	return 0;
}

void agent_trace_file_append(const void *data, uint64_t bytes)
{
	uint64_t before = file.written;
	long error = file.failed ? 0 : trace_file_write(data, bytes);

	if (!error)
		return;
	sys_call(SYS_ftruncate, file.fd, before, 0, 0);
	trace_file_fail("cannot write to", agent_error(error));
}

void agent_trace_file_patch(uint64_t offset, const void *data, uint64_t bytes)
{
	agent_write_unsignalled(file.fd, data, bytes, (int64_t)offset);
}

void agent_trace_file_close(void)
{
	if (file.fd >= 0)
		sys_close(file.fd);
	file.fd = -1;
}

uint64_t agent_trace_file_bytes(void)
{
	return file.written;
}

bool agent_trace_file_failed(void)
{
	return file.failed;
}
