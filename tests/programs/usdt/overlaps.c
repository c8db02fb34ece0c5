/*
 * Transactions and queries as PostgreSQL has them, by its probes' names: a transaction begins in
 * one query and ends in another. The same in a forked child, whose parent is in a transaction.
 * Prints what the trace has to count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each has room for a jump. */
static __attribute__((noinline)) long begin(long n)
{
	STAP_PROBE1(postgresql, transaction__start, n);
	return 3 * n + 1;
}

static __attribute__((noinline)) long commit(long n)
{
	STAP_PROBE1(postgresql, transaction__commit, n);
	return 5 * n + 1;
}

static __attribute__((noinline)) long abandon(long n)
{
	STAP_PROBE1(postgresql, transaction__abort, n);
	return 7 * n + 1;
}

static __attribute__((noinline)) long query(const char *text, long begins, long ends)
{
	long sum = 1;

	STAP_PROBE1(postgresql, query__start, text);
	sum += begins ? begin(begins) : 0;
	sum += ends > 0 ? commit(ends) : 0;
	sum += ends < 0 ? abandon(-ends) : 0;
	STAP_PROBE1(postgresql, query__done, text);
	return 3 * sum + 1;
}

static void transactions(int count)
{
	for (int i = 1; i <= count; i++) {
		query("BEGIN", i, 0);
		query("SELECT 1", 0, 0);
		query("END", 0, i & 1 ? i : -i);
	}
}

int main(void)
{
	pid_t child;

	transactions(2);
	query("BEGIN", 3, 0);
	child = fork();
	if (!child) {
		transactions(3);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	query("END", 0, 3);
	printf("async begin\tpostgresql\ttransaction\t6\nasync end\tpostgresql\ttransaction\t6\n");
	printf("begin\tpostgresql\tquery\t17\nend\tpostgresql\tquery\t17\n");
	return 0;
}
