/* Preloaded: the monotonic clock goes a second further each time that it is asked, so that all that is read
 * takes long. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
	static int asked;
	int status = (int)syscall(SYS_clock_gettime, clock, time);

	if (clock == CLOCK_MONOTONIC)
		time->tv_sec += ++asked;
	return status;
}
