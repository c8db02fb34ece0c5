/*
 * A job of four ranks of MPI with planted faults: rank 2 sends late to rank 1, rank 1 receives
 * late from rank 3, rank 0 is late at a barrier, and a function takes longer on rank 3 than
 * on the others. It sleeps in place of work.
 */
#include <mpi.h>
#include <time.h>

static void sleep_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

void prepares_late(void)
{
	sleep_ms(1500);
}

void uneven(int rank)
{
	sleep_ms(rank == 3 ? 900 : 10);
}

int main(int argc, char **argv)
{
	int rank, data = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 2) {
		prepares_late();
		MPI_Send(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	}
	if (rank == 1)
		MPI_Recv(&data, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 3)
		MPI_Ssend(&data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
	if (rank == 1) {
		prepares_late();
		MPI_Recv(&data, 1, MPI_INT, 3, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		prepares_late();
	MPI_Allreduce(MPI_IN_PLACE, &data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	uneven(rank);
	return MPI_Finalize();
}
