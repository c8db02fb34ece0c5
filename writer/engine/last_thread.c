#include "last_thread.h"
#include <fcntl.h>
#include <string.h>
#include "writer/shared/sys.h"

/* Reads /proc/PID/NAME as a string. Returns its length; 0 if it cannot be read. */
static size_t last_thread_read(int pid, const char *name, char *text, size_t text_bytes)
{
	char path[64] = "/proc/self/", digits[16];
	size_t count = 0;
	long fd, bytes;

	if (pid) {
		char *at = path + strlen("/proc/");

		for (; pid; pid /= 10)
			digits[count++] = (char)('0' + pid % 10);
		while (count)
			*at++ = digits[--count];
		*at++ = '/';
		*at = 0;
	}
	strcpy(path + strlen(path), name);
	fd = sys_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	bytes = sys_call(SYS_read, fd, text, text_bytes - 1, 0);
	sys_close((int)fd);
	if (bytes < 0)
		bytes = 0;
	text[bytes] = 0;
	return (size_t)bytes;
}

/* Returns the field of that number in /proc/PID/stat, as proc(5) counts; the name, field 2,
 * may contain anything. */
static const char *last_thread_field(const char *stat, int number)
{
	const char *at = strrchr(stat, ')');

	for (int field = 2; at && field < number; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at;
}

static uint32_t last_thread_number(const char *digits)
{
	uint32_t number = 0;

	for (; digits && *digits >= '0' && *digits <= '9'; digits++)
		number = 10 * number + (uint32_t)(*digits - '0');
	return number;
}

bool fxt_last_thread_look(struct fxt_control *control, int pid)
{
	/* Acquire: the helper ran before this look. */
	uint32_t helper = load_acquire(&control->helper);
	char text[1024];
	const char *state;

	/* The memory of a main thread that has ended is gone. Reading the other files takes
	 * longer, and delays threads that start or end, in proportion to the number of
	 * threads. */
	if (!helper || last_thread_read(pid, "statm", text, sizeof(text)) == 0 || text[0] != '0')
		return false;
	if (last_thread_read(pid, "stat", text, sizeof(text)) == 0)
		return false;
	state = last_thread_field(text, 3);
	if (!state || *state != 'Z' || last_thread_number(last_thread_field(text, 20)) != 2)
		return false;
	store_relaxed(&control->last_status, last_thread_number(last_thread_field(text, 52)));
	store_release(&control->last_thread, helper);
	return true;
}
