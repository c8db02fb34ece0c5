/*
 * Things that a process can notice of a thread that it did not start, and must not be
 * hindered by: signals that it waits for, changes of user in all its threads, also in
 * itself, calls that only a process of one thread may make.
 */
#include "count.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 50 };

UNTRACED static void *spin(void *unused)
{
	for (int i = 0; i < 4 * ROUNDS; i++) {
		nest(3);
		sched_yield();
	}
	return unused;
}

/* Sent to the process: only who waits for them may get them. */
UNTRACED static void wait_for_signals(void)
{
	struct signalfd_siginfo info;
	sigset_t set;
	int got, fd;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, 0);
	for (int i = 0; i < ROUNDS; i++) {
		leaf();
		kill(getpid(), SIGUSR1);
		if (sigwait(&set, &got) != 0 || got != SIGUSR1)
			printf("sigwait: %d\n", got);
		kill(getpid(), SIGRTMIN);
		if (read(fd, &info, sizeof(info)) != sizeof(info) || info.ssi_signo != (unsigned)SIGRTMIN)
			printf("signalfd: %u\n", info.ssi_signo);
	}
	close(fd);
}

/* A change of user is one for all threads. */
UNTRACED static void change_user(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, spin, NULL);
	for (int i = 0; i < ROUNDS; i++)
		printf("%d", setreuid(-1, geteuid()) | setegid(getegid()) | setresuid(-1, -1, -1));
	printf(" %d\n", geteuid() == 0 ? setgid(1) | setuid(1) : 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* In children, as there is no way back. */
UNTRACED static void be_alone(const char *what, int flags, long (*call)(int))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		nest(5);
		int error = call(flags) == 0 ? 0 : errno;

		nest(5);
		_exit(error);
	}
	waitpid(child, &status, 0);
	printf("%s: %s\n", what,
	        WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : strsignal(WTERMSIG(status)));
}

UNTRACED static long call_unshare(int flags)
{
	return unshare(flags);
}

UNTRACED static long call_setns(int flags)
{
	int fd = open("/proc/self/ns/mnt", O_RDONLY);

	(void)flags;
	return setns(fd, CLONE_NEWNS);
}

/* Says who all threads are, or each where they differ. */
UNTRACED static void tell_credentials(const char *after)
{
	char first[512] = "", line[256], path[512], all[512];
	DIR *threads = opendir("/proc/self/task");

	for (struct dirent *entry; threads && (entry = readdir(threads));) {
		FILE *status;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		status = fopen(path, "r");
		all[0] = 0;
		while (status && fgets(line, sizeof(line), status))
			if (!strncmp(line, "Uid:", 4) || !strncmp(line, "Gid:", 4) ||
			        !strncmp(line, "Groups:", 7))
				strncat(all, line, sizeof(all) - strlen(all) - 1);
		if (status)
			fclose(status);
		if (strcmp(all, first) != 0)
			printf("after %s:\n%s", after, all);
		strcpy(first, all);
	}
	if (threads)
		closedir(threads);
}

/* The ways to become somebody else; 1 is anybody. */
static const gid_t groups[] = {1, 2};

#define WAYS(X)                 \
	X(setuid, 1)            \
	X(seteuid, 1)           \
	X(setreuid, 1, 1)       \
	X(setresuid, 1, 1, 1)   \
	X(setgid, 1)            \
	X(setegid, 1)           \
	X(setregid, 1, 1)       \
	X(setresgid, 1, 1, 1)   \
	X(setgroups, 2, groups) \
	X(initgroups, "root", 1)

#define X(name, ...)                                \
	UNTRACED static void change_by_##name(void) \
	{                                           \
		if (name(__VA_ARGS__) == 0)         \
			tell_credentials(#name);    \
		else                                \
			printf("%s: %m\n", #name);  \
	}
WAYS(X)
#undef X

/* In children of one thread that the program knows of. */
UNTRACED static void drop_privileges(void)
{
#define X(name, ...) change_by_##name,
	static void (*const ways[])(void) = {WAYS(X)};
#undef X

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		fflush(stdout);
		pid_t child = fork();

		if (child == 0) {
			nest(5);
			ways[i]();
			nest(5);
			fflush(stdout);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

UNTRACED int main(void)
{
	begin_counting();
	wait_for_signals();
	for (int i = 0; i < ROUNDS / 2; i++) {
		be_alone("unshare", CLONE_NEWUSER, call_unshare);
		be_alone("setns", 0, call_setns);
	}
	drop_privileges();
	change_user();
	report();
	return 0;
}
