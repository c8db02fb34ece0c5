#include "anchor.h"
#include <fcntl.h>
#include <sys/stat.h>
#include "writer/shared/sys.h"

#define TRIES 16

static void anchor_read_boot(uint8_t boot[16])
{
	char text[40] = "";
	long fd = sys_call(SYS_openat, AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC, 0);
	unsigned digits = 0;

	if (fd < 0)
		return;
	sys_call(SYS_read, fd, text, sizeof(text) - 1, 0);
	sys_close((int)fd);
	for (const char *at = text; *at && digits < 32; at++) {
		unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
		                 : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10
		                                            : 16;

		if (digit < 16) {
			boot[digits / 2] = (uint8_t)(boot[digits / 2] << 4 | digit);
			digits++;
		}
	}
}

static uint64_t anchor_namespace(const char *path)
{
	struct stat file;

	return sys_call(SYS_newfstatat, AT_FDCWD, path, &file, 0) == 0 ? file.st_ino : 0;
}

struct fxt_anchor fxt_anchor_read(enum fxt_clock_kind clock)
{
	struct fxt_anchor anchor = {.clock = clock, .width_ticks = UINT64_MAX};

	/* Takes the narrowest bracket: an interrupt between the reads would be an error of
	 * microseconds. */
	for (int i = 0; i < TRIES; i++) {
		struct timespec now;
		uint64_t before = fxt_clock_ticks(clock), monotonic = fxt_monotonic_ns();

		clock_gettime(CLOCK_REALTIME, &now);
		uint64_t width = fxt_clock_ticks(clock) - before;

		if (width >= anchor.width_ticks)
			continue;
		anchor.width_ticks = width;
		anchor.ticks = before + width / 2;
		anchor.monotonic_ns = clock == FXT_CLOCK_MONOTONIC ? anchor.ticks : monotonic;
		anchor.realtime_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	}
	anchor_read_boot(anchor.boot);
	anchor.time_space = anchor_namespace("/proc/self/ns/time");
	anchor.pid_space = anchor_namespace("/proc/self/ns/pid");
	return anchor;
}
