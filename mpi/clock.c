/*
 * Compares the clock of each recorded rank's trace with the CLOCK_MONOTONIC of the first one,
 * which is rank 0 of the communicator of recorded ranks (peers.h). Rank 0 answers each other
 * rank in turn, so the answers meet no others. The slowest tenth of the round trips is
 * dropped. The fastest one counts. Its error is at most half of that trip's time, because
 * rank 0 read its clock somewhere within the trip.
 *
 * Between MPI_Init() and MPI_Finalize(), clocks are compared in collective calls that no rank
 * leaves before all have entered. So no rank waits that would not wait anyway. All ranks count
 * these calls alike. At some of them rank 0 looks at its clock, and tells the others whether to
 * compare now and at which call it looks next.
 */
#include "record.h"

#include <stdlib.h>
#include <time.h>

enum { TRIPS = 50, KEPT = TRIPS - TRIPS / 10, TAG = 1 };

#define SECOND   INT64_C(1000000000)
#define PART     100 /* comparing takes at most this part of the time */
#define STEP_MAX 256

struct trip {
	int64_t took, offset; /* ns; offset = rank 0's clock - this one's */
	int64_t ticks;        /* the trace's clock in the middle of the trip */
	int64_t reference;    /* rank 0's clock then, in ns */
};

static MPI_Comm clocks = MPI_COMM_NULL; /* has none of the program's messages */
static int own_rank;

/* The count of calls in which all ranks meet. MPI lets one thread at a time be in one. */
static uint64_t meetings, next_look, step = 1;
static int64_t looked_ns, compared_ns, pause_ns; /* rank 0 alone */

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static int64_t ticks(void)
{
	const struct fxt_trace_agent *agent = fxt_trace_agent_();

	return agent && __atomic_load_n(&agent->version, __ATOMIC_ACQUIRE) >= 2 ? (int64_t)agent->ticks() : 0;
}

/* ---- comparing ---- */

static int by_time(const void *left, const void *right)
{
	const struct trip *a = left, *b = right;

	return (a->took > b->took) - (a->took < b->took);
}

/* The spread is the distance between the least and the greatest offset of the kept
 * trips. */
static void clock_say(struct trip *trips)
{
	int64_t least, most;

	qsort(trips, TRIPS, sizeof(*trips), by_time);
	least = most = trips[0].offset;
	for (int i = 1; i < KEPT; i++) {
		least = trips[i].offset < least ? trips[i].offset : least;
		most = trips[i].offset > most ? trips[i].offset : most;
	}
	FXT_INSTANT("mpi", "clock", FXT_SCOPE_PROCESS, "run", (int64_t)mpi_run, "ticks", trips[0].ticks,
	        "reference_ns", trips[0].reference, "error_ns", (trips[0].took + 1) / 2, "spread_ns",
	        most - least);
}

/* Returns false if MPI fails, as after the death of a rank. */
static bool clock_answer(int rank)
{
	long long time;

	for (int i = 0; i < TRIPS; i++) {
		if (PMPI_Recv(&time, 1, MPI_LONG_LONG, rank, TAG, clocks, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return false;
		time = now();
		if (PMPI_Send(&time, 1, MPI_LONG_LONG, rank, TAG, clocks) != MPI_SUCCESS)
			return false;
	}
	return true;
}

static bool clock_ask(struct trip *trip)
{
	int64_t from = now(), from_ticks = ticks(), to_ticks, to;
	long long time = from;

	if (PMPI_Send(&time, 1, MPI_LONG_LONG, 0, TAG, clocks) != MPI_SUCCESS ||
	        PMPI_Recv(&time, 1, MPI_LONG_LONG, 0, TAG, clocks, MPI_STATUS_IGNORE) != MPI_SUCCESS)
		return false;
	to_ticks = ticks();
	to = now();
	*trip = (struct trip){.took = to - from,
	        .offset = time - (from + (to - from) / 2),
	        .ticks = from_ticks + (to_ticks - from_ticks) / 2,
	        .reference = time};
	return true;
}

/* Rank 0 compares its trace's clock with its own CLOCK_MONOTONIC. */
static void clock_ask_self(struct trip *trip)
{
	int64_t from = now(), middle = ticks(), to = now();

	*trip = (struct trip){.took = to - from, .ticks = middle, .reference = from + (to - from) / 2};
}

static bool clock_compare_all(void)
{
	struct trip trips[TRIPS];
	int size;

	PMPI_Comm_size(clocks, &size);
	if (PMPI_Barrier(clocks) != MPI_SUCCESS)
		return false;
	for (int i = 0; i < TRIPS; i++)
		if (own_rank == 0)
			clock_ask_self(&trips[i]);
		else if (!clock_ask(&trips[i]))
			return false;
	for (int other = 1; own_rank == 0 && other < size; other++)
		if (!clock_answer(other))
			return false;
	clock_say(trips);
	return true;
}

static void clock_compare(void)
{
	int64_t began = now();

	if (clocks == MPI_COMM_NULL)
		return;
	if (!clock_compare_all())
		clocks = MPI_COMM_NULL;
	compared_ns = now();
	pause_ns = PART * (compared_ns - began);
	if (pause_ns < SECOND)
		pause_ns = SECOND;
}

/* ---- when ---- */

/* Looks are about a second apart, as far as STEP_MAX allows. */
static long long clock_next_step(int64_t at)
{
	int64_t since = at - looked_ns;

	looked_ns = at;
	if (since < SECOND / 4 && step < STEP_MAX)
		return (long long)step * 2;
	return since > SECOND && step > 1 ? (long long)step / 2 : (long long)step;
}

void mpi_clock_meet(MPI_Comm comm, int count, MPI_Datatype type)
{
	long long told[2] = {0, 0}; /* whether to compare; calls until the next look */
	int bytes = 0;

	if (clocks == MPI_COMM_NULL || comm != MPI_COMM_WORLD || count == 0)
		return;
	PMPI_Type_size(type, &bytes);
	if (bytes == 0 || ++meetings < next_look)
		return;
	if (own_rank == 0) {
		int64_t at = now();

		told[0] = at - compared_ns >= pause_ns;
		told[1] = clock_next_step(at);
	}
	if (PMPI_Bcast(told, 2, MPI_LONG_LONG, 0, clocks) != MPI_SUCCESS) {
		clocks = MPI_COMM_NULL;
		return;
	}
	step = (uint64_t)told[1];
	next_look = meetings + step;
	if (told[0])
		clock_compare();
}

void mpi_clock_begin(MPI_Comm recorded)
{
	clocks = recorded;
	if (clocks != MPI_COMM_NULL)
		PMPI_Comm_rank(clocks, &own_rank);
	clock_compare();
}

void mpi_clock_end(void)
{
	clock_compare();
}
