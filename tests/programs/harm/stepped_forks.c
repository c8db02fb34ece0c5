/*
 * stepped_forks fork|_Fork|clone|instruction|returns FIRST STRIDE CHILDREN: as
 * handler_forks, but the instruction at which each child is made is known. All of CHILDREN
 * children stop before they allocate, call and free. They go on for FIRST instructions, and
 * STRIDE more each time, and get a signal. Its handler makes a grandchild; "clone" is the
 * system call alone, "returns" its instruction. Child and grandchild go on with the
 * interrupted code. Every second grandchild calls in the handler first. "instruction" is as
 * "returns", but there the grandchildren end in the handler, by an instruction too. Prints
 * a line for each process, "PID CALLS INSIDE", as handler_forks does. Status 1: a child
 * could not be made; 2: one did not end as it should, which a message says; 77: none can be
 * stopped here.
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "forks.h"

__attribute__((noinline)) static void nested(void)
{
	arrived++;
	CALL(leaf());
}

SILENT static void work(void)
{
	void *volatile memory = malloc(64);

	CALL(nested());
	free(memory);
}

SILENT static void make_grandchild(int signal)
{
	unsigned place = next_place(), before = arrived, inside = begun - arrived;
	long child = make_child();

	(void)signal;
	if (child < 0)
		_exit(1);
	if (child > 0)
		return;
	begin(place, before, inside);
	if (place / 2 % 2)
		in_handler();
	if (how == 'i') {
		processes[own].calls += arrived + handled;
		own_call(SYS_exit_group, 0, 0, 0);
	}
}

SILENT static void finish(void)
{
	int status, died = 0;

	for (int i = 0; i < 20; i++)
		work();
	while (wait(&status) > 0)
		died |= status != 0;
	processes[own].calls += arrived + handled;
	_exit(died ? 2 : 0);
}

SILENT static void be_stepped(unsigned place)
{
	begin(place, arrived, 0);
	work();
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
		_exit(77);
	syscall(SYS_tkill, getpid(), SIGSTOP);
	work();
	finish();
}

/* Returns the child's status. */
SILENT static int step(pid_t child, int instructions)
{
	int status, signal = 0;

	waitpid(child, &status, 0);
	for (int i = 0; i < instructions && WIFSTOPPED(status); i++) {
		ptrace(PTRACE_SINGLESTEP, child, 0, 0);
		waitpid(child, &status, 0);
	}
	for (signal = SIGUSR1; WIFSTOPPED(status); signal = WSTOPSIG(status)) {
		ptrace(PTRACE_CONT, child, 0, signal);
		waitpid(child, &status, 0);
	}
	return status;
}

SILENT int main(int argc, char **argv)
{
	int first, stride, children, died = 0;

	if (argc != 5)
		return 1;
	first = atoi(argv[2]);
	stride = atoi(argv[3]);
	children = atoi(argv[4]);
	begin_first(argv[1]);
	signal(SIGUSR1, make_grandchild);
	work();
	for (int i = 0; i < children; i++) {
		unsigned place = next_place();
		pid_t child = fork();
		int status;

		if (child == 0)
			be_stepped(place);
		status = step(child, first + i * stride);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			return 77;
		if (status != 0) {
			fprintf(stderr, "%d instructions: status %#x\n", first + i * stride,
			        (unsigned)status);
			died = 2;
		}
	}
	processes[0].calls += arrived;
	report_processes();
	return died;
}
