#include "clock.h"
#include <fcntl.h>
#include <string.h>
#include "sys.h"

enum fxt_clock_kind fxt_clock_choose(void)
{
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char name[32] = "";
	long fd = sys_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return FXT_CLOCK_MONOTONIC;
	sys_call(SYS_read, fd, name, sizeof(name) - 1, 0);
	sys_close((int)fd);
	return strncmp(name, ARCH_CLOCK_SOURCE "\n", sizeof(ARCH_CLOCK_SOURCE)) == 0 ? FXT_CLOCK_COUNTER
	                                                                             : FXT_CLOCK_MONOTONIC;
}

struct fxt_clock_pair fxt_clock_read_pair(enum fxt_clock_kind kind)
{
	struct fxt_clock_pair best = {0, 0};
	uint64_t narrowest = UINT64_MAX;

	/* Takes the narrowest of a few brackets: an interrupt between the reads would be an
	 * error of microseconds. */
	for (int i = 0; i < 16; i++) {
		uint64_t before = fxt_clock_ticks(kind);
		uint64_t ns = fxt_monotonic_ns();
		uint64_t after = fxt_clock_ticks(kind);

		if (after - before < narrowest) {
			narrowest = after - before;
			best.ticks = before + narrowest / 2;
			best.ns = ns;
		}
	}
	return best;
}

uint64_t fxt_clock_rate(enum fxt_clock_kind kind, struct fxt_clock_pair first, struct fxt_clock_pair last)
{
	uint64_t ns = last.ns - first.ns;

	if (kind == FXT_CLOCK_MONOTONIC || ns == 0)
		return 1000000000u;
	return (uint64_t)(((unsigned __int128)(last.ticks - first.ticks) * 1000000000u + ns / 2) / ns);
}
