/*
 * A job of MPI in which the clock of rank 0 drifts: it goes faster all the time. It runs until
 * libfxtmpi.so has compared the clocks twice in between. Each call of moment() is printed as
 * "moment RANK NUMBER EARLIEST LATEST", its time by the clock of rank 0. CLOCK_BOOTTIME is the
 * truth, which all ranks share if their CLOCK_MONOTONIC is in time namespaces.
 *
 * libfxtmpi.so asks the function clock_gettime() of the program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN_FROM_TRACE __attribute__((no_instrument_function))

enum { COMPARISONS = 2, TRIPS = 50, MOMENT_MS = 100 };

/* Of rank 0, which tells the others: when its clock began to drift, and how far it was then
 * ahead of CLOCK_BOOTTIME. */
static long long base[2];
static long asked;

HIDDEN_FROM_TRACE static long long read_clock(clockid_t clock)
{
	struct timespec t;

	syscall(SYS_clock_gettime, clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* 1,000 ppm more each second */
HIDDEN_FROM_TRACE static long long truth(void)
{
	long long at = read_clock(CLOCK_BOOTTIME);
	double s = (at - base[0]) / 1e9;

	return at + base[1] + (long long)(500e3 * s * s);
}

HIDDEN_FROM_TRACE int clock_gettime(clockid_t clock, struct timespec *t)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");
	long long ns = read_clock(clock);
	Dl_info caller;

	if (clock == CLOCK_MONOTONIC && rank && strcmp(rank, "0") == 0) {
		if (base[0] == 0) {
			base[0] = read_clock(CLOCK_BOOTTIME);
			base[1] = read_clock(CLOCK_MONOTONIC) - base[0];
		}
		ns = truth();
		asked +=
		        dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libfxtmpi");
	}
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return 0;
}

void moment(void)
{
}

HIDDEN_FROM_TRACE int main(int argc, char **argv)
{
	int rank, number = 0, compared = 0, told, said = 0;
	long long last = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(base, 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
	while (said != 2) {
		long before = asked;
		long long from, at = read_clock(CLOCK_BOOTTIME);

		if (rank == 0)
			nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL); /* a small trace */
		told = rank != 0 ? 0 : compared == COMPARISONS ? 2 : at - last > MOMENT_MS * 1000000LL;
		if (told)
			last = at;
		MPI_Allreduce(&told, &said, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
		compared += asked - before > TRIPS;
		if (said == 0)
			continue;
		from = truth();
		moment();
		printf("moment %d %d %lld %lld\n", rank, number++, from, truth());
	}
	return MPI_Finalize();
}
