/*
 * hidden plain|chroot|network|user|unseen: a child calls in_child() 1000 times where it has
 *
 * chroot   an empty directory, the working one, for a root
 * network  that, and a network namespace of its own
 * user     another user
 * unseen   another user, by the system call itself
 */
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS  1000
#define NOBODY 65534

static volatile int sum;

__attribute__((noinline)) void in_child(int i)
{
	sum += i;
}

__attribute__((no_instrument_function)) static int hide(const char *how)
{
	if (strcmp(how, "user") == 0)
		return setresuid(NOBODY, NOBODY, NOBODY);
	if (strcmp(how, "unseen") == 0)
		return (int)syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
	if (strcmp(how, "network") == 0 && unshare(CLONE_NEWNET) != 0)
		return -1;
	return strcmp(how, "plain") == 0 ? 0 : chroot(".");
}

int main(int argc, char **argv)
{
	int child, status = -1;

	if (argc != 2)
		return 2;
	child = fork();
	if (child == 0) {
		if (hide(argv[1]) != 0)
			_exit(1);
		for (int i = 0; i < CALLS; i++)
			in_child(i);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status != 0;
}
