/* Says that MPI works here: an even number of ranks, two of which send each other a message,
 * and so do the next two. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, mine = 1, other = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Sendrecv(&mine, 1, MPI_INT, rank ^ 1, 0, &other, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD,
	        MPI_STATUS_IGNORE);
	if (rank == 0 && other == 1)
		puts("the other rank is there");
	return MPI_Finalize();
}
