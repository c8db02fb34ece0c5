/* Makes calls, with more than a megabyte of records, then waits until none of its other
 * threads is woken up any more, and exits with 0, or with 1 if that takes longer than 20 s. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BARE __attribute__((no_instrument_function))

static volatile int sink;

static void work(int i)
{
	sink = i;
}

/* The number of times that the process's threads gave up their processor, without the main
 * thread's. */
static BARE long switches(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	long sum = 0, count;

	while (tasks && (task = readdir(tasks))) {
		char path[300], line[200];
		FILE *status;

		if (atoi(task->d_name) == 0 || atoi(task->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
		status = fopen(path, "r");
		while (status && fgets(line, sizeof(line), status))
			if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1)
				sum += count;
		if (status)
			fclose(status);
	}
	closedir(tasks);
	return sum;
}

int BARE main(void)
{
	long before = -1, now;

	for (int i = 0; i < 200000; i++)
		work(i);
	for (int tries = 0; tries < 100; tries++) {
		now = switches();
		if (now > 0 && now == before)
			return 0;
		before = now;
		usleep(200000);
	}
	return 1;
}
