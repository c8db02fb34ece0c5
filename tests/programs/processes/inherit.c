/*
 * A program with a forked child that runs on inside the calls it was made in, and leaves
 * them in the way of the first argument. The functions count their calls in memory that the
 * processes share. The parent prints the counts when its children have ended, a function a
 * line.
 */
#include <pthread.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

#define FUNCTIONS(F) F(main) F(serve) F(begin_child) F(handle) F(work) F(in_thread) F(second_image)
enum {
#define CONSTANT(name) CALLS_##name,
	FUNCTIONS(CONSTANT) KINDS
};
static uint64_t *calls;
#define COUNT(name) __atomic_add_fetch(&calls[CALLS_##name], 1, __ATOMIC_RELAXED)

static const char *how;
static char *own_path;
static jmp_buf top;
static void *volatile kept;

UNTRACED static int is(const char *word)
{
	return strcmp(how, word) == 0;
}

UNTRACED static void allocate(void)
{
	if (is("allocate"))
		kept = malloc(1000);
}

KEPT void work(void)
{
	COUNT(work);
	allocate();
}

KEPT void handle(void)
{
	unsigned long times = is("many") ? 300000 : 3;

	COUNT(handle);
	for (unsigned long i = 0; i < times; i++)
		work();
}

KEPT void *in_thread(void *unused)
{
	COUNT(in_thread);
	work();
	return unused;
}

UNTRACED static pid_t fork_once(void)
{
	int master;

	if (is("raw"))
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (is("unhandled"))
		return _Fork();
	return is("forkpty") ? forkpty(&master, NULL, NULL, NULL) : fork();
}

KEPT pid_t begin_child(void)
{
	pid_t child;

	COUNT(begin_child);
	child = fork_once();
	if (child == 0 && is("twice")) { /* the child has called nothing when it forks */
		child = fork();
		if (child) {
			waitpid(child, NULL, 0);
			_exit(0);
		}
	}
	return child;
}

KEPT int serve(int deeper)
{
	pthread_t thread;
	pid_t child;

	COUNT(serve);
	if (deeper > 0)
		return serve(deeper - 1);
	child = begin_child();
	if (child > 0) {
		waitpid(child, NULL, 0);
		return 0;
	}
	if (is("thread")) {
		pthread_create(&thread, NULL, in_thread, NULL);
		pthread_join(thread, NULL);
	}
	if (is("again")) { /* a grandchild of one that has inherited calls and others */
		handle();
		child = begin_child();
		if (child > 0) {
			waitpid(child, NULL, 0);
			return 1;
		}
	}
	allocate();
	handle();
	if (is("exit"))
		exit(0);
	if (is("killed"))
		raise(SIGKILL);
	if (is("jump"))
		longjmp(top, 1);
	if (is("exec"))
		execl(own_path, own_path, "second", (char *)NULL);
	return 1;
}

KEPT void second_image(void)
{
	work();
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
#define NAME(name) #name,
	        FUNCTIONS(NAME)};
	pid_t pid = getpid();

	how = argc > 1 ? argv[1] : "return";
	own_path = argv[0];
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (is("second")) {
		second_image();
		return 0;
	}
	COUNT(main);
	if (setjmp(top) == 0 ? serve(2) : 1)
		work();
	if (getpid() != pid)
		return 0;
	for (int i = 0; i < KINDS; i++)
		if (calls[i])
			printf("%s\t%lu\n", names[i], (unsigned long)calls[i]);
	return 0;
}
