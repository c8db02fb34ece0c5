/* Two threads with names that differ only in a byte that is not UTF-8. The kernel cuts the
 * name of the main thread inside a letter. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>

static void *work(void *name)
{
	pthread_setname_np(pthread_self(), name);
	return NULL;
}

int main(void)
{
	static char *const names[] = {"caf\xe9", "caf\xe8"};

	if (prctl(PR_SET_NAME, "12345678901234\xc3\xbc") != 0)
		return 1;
	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, names[i]) != 0 || pthread_join(thread, NULL) != 0)
			return 1;
	}
	return 0;
}
