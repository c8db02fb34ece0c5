/*
 * Prints what a process can see of itself, one fact a line: descriptors, environment,
 * signals, limits, threads, identity. A tracer's own variables are skipped.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static void show_descriptors(void)
{
	char target[4096], path[64];
	struct dirent *entry;
	DIR *directory = opendir("/proc/self/fd");

	while ((entry = readdir(directory))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%.20s", entry->d_name);
		ssize_t bytes = readlink(path, target, sizeof(target) - 1);

		if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(directory))
			continue;
		target[bytes > 0 ? bytes : 0] = 0;
		printf("descriptor %s %s\n", entry->d_name, atoi(entry->d_name) < 3 ? "" : target);
	}
	closedir(directory);
}

static void show_status(void)
{
	static const char *const lines[] = {"Sig", "Shd", "NoNewPrivs", "Seccomp", "Cap", "Umask",
	        "TracerPid", "CoreDumping", "Uid", "Gid", "Groups", "Threads", "Speculation", "THP_enabled",
	        "Name"};
	char line[4096];
	FILE *file = fopen("/proc/self/status", "r");

	while (fgets(line, sizeof(line), file))
		for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
			if (strncmp(line, lines[i], strlen(lines[i])) == 0 && strncmp(line, "SigQ", 4) != 0)
				fputs(line, stdout);
	fclose(file);
}

static void show_signals(void)
{
	struct sigaction action;
	stack_t stack;

	for (int i = 1; i < NSIG; i++)
		if (sigaction(i, NULL, &action) == 0)
			printf("signal %d %d %d\n", i,
			        action.sa_handler == SIG_DFL   ? 0
			        : action.sa_handler == SIG_IGN ? 1
			                                       : 2,
			        action.sa_flags);
	sigaltstack(NULL, &stack);
	printf("stack %p %d\n", stack.ss_sp, stack.ss_flags);
}

int main(int argc, char **argv)
{
	for (char **entry = environ; *entry; entry++)
		if (strncmp(*entry, "FXT_", 4) != 0 && strncmp(*entry, "LD_PRELOAD=", 11) != 0)
			printf("variable %s\n", *entry);
	for (int i = 0; i < argc; i++)
		printf("argument %s\n", argv[i]);
	show_descriptors();
	show_status();
	show_signals();
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		getrlimit((__rlimit_resource_t)i, &limit);
		printf("limit %d %lx %lx\n", i, (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
	}
	printf("mask %o, dumpable %d, death signal %d, subreaper %d\n", umask(0), prctl(PR_GET_DUMPABLE),
	        prctl(PR_GET_PDEATHSIG, &(int){0}), prctl(PR_GET_CHILD_SUBREAPER, &(int){0}));
	printf("session %d, group %d, terminal %d\n", getsid(0) == getpid(), getpgrp() == getpid(),
	        isatty(0));
	printf("priority %d, stdio %d\n", getpriority(PRIO_PROCESS, 0), ftell(stdin) >= 0);
	return 3;
}
