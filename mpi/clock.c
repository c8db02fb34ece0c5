/*
 * Compares each recorded rank's clock with that of the first one (record.h), which is rank 0
 * of the communicator of recorded ranks. Rank 0 answers each other rank
 * in turn, so the answers meet no others. The slowest tenth of the round trips is dropped.
 * The fastest gives the offset. Its error is at most half of that trip's time, because rank
 * 0 read its clock somewhere within the trip.
 */
#include "record.h"

#include <stdlib.h>
#include <time.h>

enum { TRIPS = 50, KEPT = TRIPS - TRIPS / 10, TAG = 1 };

struct trip {
	int64_t took, middle, offset; /* ns; offset = rank 0's clock - this one's */
};

static MPI_Comm clocks = MPI_COMM_NULL; /* of the recorded ranks; has none of the program's
                                           messages */

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void clock_answer(int rank)
{
	long long time;

	for (int i = 0; i < TRIPS; i++) {
		PMPI_Recv(&time, 1, MPI_LONG_LONG, rank, TAG, clocks, MPI_STATUS_IGNORE);
		time = now();
		PMPI_Send(&time, 1, MPI_LONG_LONG, rank, TAG, clocks);
	}
}

static int by_time(const void *left, const void *right)
{
	const struct trip *a = left, *b = right;

	return (a->took > b->took) - (a->took < b->took);
}

/* The spread is the distance between the least and the greatest offset of the kept
 * trips. */
static void clock_say(const struct trip *trips)
{
	int64_t least = trips[0].offset, most = least;

	for (int i = 1; i < KEPT; i++) {
		least = trips[i].offset < least ? trips[i].offset : least;
		most = trips[i].offset > most ? trips[i].offset : most;
	}
	FXT_INSTANT("mpi", "clock", FXT_SCOPE_PROCESS, "run", (int64_t)mpi_run, "monotonic_ns",
	        trips[0].middle, "offset_ns", trips[0].offset, "error_ns", (trips[0].took + 1) / 2,
	        "spread_ns", most - least);
}

static void clock_ask(void)
{
	struct trip trips[TRIPS];

	for (int i = 0; i < TRIPS; i++) {
		int64_t from = now(), to;
		long long time = from;

		PMPI_Send(&time, 1, MPI_LONG_LONG, 0, TAG, clocks);
		PMPI_Recv(&time, 1, MPI_LONG_LONG, 0, TAG, clocks, MPI_STATUS_IGNORE);
		to = now();
		trips[i] = (struct trip){to - from, from + (to - from) / 2, time - (from + (to - from) / 2)};
	}
	qsort(trips, TRIPS, sizeof(*trips), by_time);
	clock_say(trips);
}

static void clock_measure(void)
{
	int rank, size;

	if (clocks == MPI_COMM_NULL)
		return;
	PMPI_Comm_rank(clocks, &rank);
	PMPI_Comm_size(clocks, &size);
	PMPI_Barrier(clocks);
	if (rank != 0) {
		clock_ask();
		return;
	}
	const struct trip own[KEPT] = {{.took = 0, .middle = now()}};

	for (int other = 1; other < size; other++)
		clock_answer(other);
	clock_say(own);
}

void mpi_clock_begin(MPI_Comm recorded)
{
	clocks = recorded;
	clock_measure();
}

void mpi_clock_end(void)
{
	clock_measure();
}
