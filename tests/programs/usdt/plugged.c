/* A library with a probe, for life.c. */
#include <sys/sdt.h>

int plugged(int number)
{
	STAP_PROBE1(plugin, call, number);
	return 3 * number + 1;
}
