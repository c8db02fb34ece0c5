/*
 * A job of MPI that knows what it does: sends messages by all kinds of calls, and prints for
 * each function how often this rank called it, and for each message received
 * "message FROM TO TAG BYTES", where ranks are those in MPI_COMM_WORLD.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	const char *name;
	long calls;
} counted[64];

static void count(const char *name)
{
	int i = 0;

	while (counted[i].name && strcmp(counted[i].name, name) != 0)
		i++;
	counted[i].name = name;
	counted[i].calls++;
}

#define DO(name, ...) (count("MPI_" #name), MPI_##name(__VA_ARGS__))

static int rank, size;

static void received(int from, int tag, int bytes)
{
	printf("message %d %d %d %d\n", from, rank, tag, bytes);
}

static void told(const MPI_Status *status)
{
	int bytes;

	MPI_Get_count(status, MPI_BYTE, &bytes);
	received(status->MPI_SOURCE, status->MPI_TAG, bytes);
}

static void blocking(int right, int left)
{
	int data[100] = {0};
	MPI_Status status;

	for (int i = 0; i < 3; i++) {
		if (rank % 2 == 0) {
			DO(Send, data, i + 1, MPI_INT, right, 7, MPI_COMM_WORLD);
			DO(Recv, data, 100, MPI_INT, left, 7, MPI_COMM_WORLD, &status);
		} else {
			DO(Recv, data, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
			DO(Ssend, data, i + 1, MPI_INT, right, 7, MPI_COMM_WORLD);
		}
		told(&status);
	}
	DO(Sendrecv, data, 4, MPI_CHAR, right, 8, data + 50, 4, MPI_CHAR, left, 8, MPI_COMM_WORLD,
	        MPI_STATUS_IGNORE);
	received(left, 8, 4);
}

static void nonblocking(int right, int left)
{
	int out[4] = {0}, in[4] = {0}, which, flag = 0;
	MPI_Request requests[8];
	MPI_Status status;

	/* Two of one kind: the later one is waited for first. */
	for (int i = 0; i < 2; i++)
		DO(Irecv, &in[i], i + 1, MPI_INT, left, 9, MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < 2; i++)
		DO(Isend, out, i + 1, MPI_INT, right, 9, MPI_COMM_WORLD, &requests[2 + i]);
	DO(Wait, &requests[1], &status);
	told(&status);
	DO(Wait, &requests[0], MPI_STATUS_IGNORE);
	received(left, 9, 4);
	DO(Waitall, 2, requests + 2, MPI_STATUSES_IGNORE);
	DO(Irecv, in, 4, MPI_INT, left, 10, MPI_COMM_WORLD, &requests[0]);
	DO(Isend, out, 4, MPI_INT, right, 10, MPI_COMM_WORLD, &requests[1]);
	for (int i = 0; i < 2; i++) {
		DO(Waitany, 2, requests, &which, &status);
		if (which == 0)
			told(&status);
	}
	DO(Irecv, in, 4, MPI_INT, left, 11, MPI_COMM_WORLD, &requests[0]);
	DO(Isend, out, 1, MPI_INT, right, 11, MPI_COMM_WORLD, &requests[1]);
	while (!flag)
		DO(Testall, 2, requests, &flag, MPI_STATUSES_IGNORE);
	received(left, 11, 4);
}

static void persistent(int right, int left)
{
	int out = 0, in;
	MPI_Request requests[2];

	DO(Send_init, &out, 1, MPI_INT, right, 12, MPI_COMM_WORLD, &requests[0]);
	DO(Recv_init, &in, 1, MPI_INT, left, 12, MPI_COMM_WORLD, &requests[1]);
	for (int i = 0; i < 3; i++) {
		DO(Startall, 2, requests);
		DO(Waitall, 2, requests, MPI_STATUSES_IGNORE);
		received(left, 12, 4);
	}
	DO(Request_free, &requests[0]);
	DO(Request_free, &requests[1]);
}

/* In the order of ranks backward, so ranks in it are not those of the world. */
static void another(void)
{
	int data = rank, sum, mine;
	MPI_Request request;
	MPI_Comm comm;

	DO(Comm_split, MPI_COMM_WORLD, 0, -rank, &comm);
	MPI_Comm_rank(comm, &mine);
	if (mine == 0)
		DO(Send, &data, 1, MPI_INT, size - 1, 13, comm);
	if (mine == size - 1) {
		DO(Recv, &data, 1, MPI_INT, 0, 13, comm, MPI_STATUS_IGNORE);
		received(size - 1, 13, 4);
	}
	DO(Bcast, &data, 1, MPI_INT, 1, comm);
	DO(Allreduce, &data, &sum, 1, MPI_INT, MPI_SUM, comm);
	DO(Ibarrier, comm, &request);
	DO(Wait, &request, MPI_STATUS_IGNORE);
	DO(Comm_free, &comm);
}

/* A communicator that is freed while messages in it are under way; and a part in place, whose
 * count and type MPI ignores. */
static void freed(int right, int left)
{
	int in, all[64], out = rank;
	MPI_Request requests[2];
	char *blocks[64];
	MPI_Comm comm;

	DO(Comm_dup, MPI_COMM_WORLD, &comm);
	DO(Irecv, &in, 1, MPI_INT, left, 14, comm, &requests[0]);
	DO(Isend, &out, 1, MPI_INT, right, 14, comm, &requests[1]);
	DO(Comm_free, &comm);
	for (size_t i = 0; i < 64; i++)
		blocks[i] = memset(malloc(8 + 8 * i), 0x7f, 8 + 8 * i);
	DO(Waitall, 2, requests, MPI_STATUSES_IGNORE);
	received(left, 14, 4);
	for (size_t i = 0; i < 64; i++)
		free(blocks[i]);
	if (rank == 0)
		DO(Gather, MPI_IN_PLACE, 0, (MPI_Datatype)0, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
	else
		DO(Gather, &out, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	DO(Init, &argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	blocking((rank + 1) % size, (rank + size - 1) % size);
	nonblocking((rank + 1) % size, (rank + size - 1) % size);
	persistent((rank + 1) % size, (rank + size - 1) % size);
	another();
	freed((rank + 1) % size, (rank + size - 1) % size);
	DO(Barrier, MPI_COMM_WORLD);
	count("MPI_Finalize");
	for (int i = 0; counted[i].name; i++)
		printf("calls %d %s %ld\n", rank, counted[i].name, counted[i].calls);
	fflush(stdout);
	return MPI_Finalize();
}
