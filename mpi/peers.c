/* Asks the launcher by PMIx (peers.h). */
#include "peers.h"

#include <stdbool.h>
#include <stdlib.h>

enum { TAG = 0x667874 }; /* of messages in MPI_Init(); the program has none then */

#if __has_include(<pmix.h>)
#include <dlfcn.h>
#include <pmix.h>
#include <string.h>

#define KEY             "fxt.mpi"
#define SECONDS_AT_MOST 10

/* The library that MPI itself has loaded or is going to load. */
static struct {
	__typeof__(PMIx_Init) *init;
	__typeof__(PMIx_Put) *put;
	__typeof__(PMIx_Commit) *commit;
	__typeof__(PMIx_Get) *get;
	__typeof__(PMIx_Finalize) *finalize;
} pmix;
static pmix_proc_t self;
static bool is_announced;

static bool peers_load(void)
{
	void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	pmix.init = (__typeof__(pmix.init))dlsym(library, "PMIx_Init");
	pmix.put = (__typeof__(pmix.put))dlsym(library, "PMIx_Put");
	pmix.commit = (__typeof__(pmix.commit))dlsym(library, "PMIx_Commit");
	pmix.get = (__typeof__(pmix.get))dlsym(library, "PMIx_Get");
	pmix.finalize = (__typeof__(pmix.finalize))dlsym(library, "PMIx_Finalize");
	return pmix.init && pmix.put && pmix.commit && pmix.get && pmix.finalize;
}

/* MPI_Init() waits until all ranks have told the launcher what they have to tell. So each rank
 * finds the announcements of the others after MPI_Init(). */
void mpi_peers_announce(void)
{
	pmix_value_t value = {.type = PMIX_BOOL, .data.flag = true};

	if (is_announced || !getenv("PMIX_NAMESPACE") || !peers_load() ||
	        pmix.init(&self, NULL, 0) != PMIX_SUCCESS)
		return;
	is_announced = true;
	pmix.put(PMIX_GLOBAL, KEY, &value);
	pmix.commit();
}

static bool peers_has(int rank)
{
	pmix_info_t how[] = {{.key = PMIX_IMMEDIATE, .value = {.type = PMIX_BOOL, .data.flag = true}},
	        {.key = PMIX_TIMEOUT, .value = {.type = PMIX_INT, .data.integer = SECONDS_AT_MOST}}};
	pmix_proc_t peer = self;
	pmix_value_t *value = NULL;

	peer.rank = (pmix_rank_t)rank;
	if (pmix.get(&peer, KEY, how, 2, &value) != PMIX_SUCCESS)
		return false;
	free(value); /* a bool has no more memory */
	return true;
}

/* MPI keeps its own connection to the launcher. */
static void peers_leave(void)
{
	pmix.finalize(NULL, 0);
}
#else
static const bool is_announced;

void mpi_peers_announce(void)
{
}

static bool peers_has(int rank)
{
	(void)rank;
	return false;
}

static void peers_leave(void)
{
}
#endif

/* Finds the recorded ranks. The first of them asks for all, and tells the others, which wait
 * for its message. Returns how many there are. */
static int peers_list(int ranks[], int size)
{
	int first = 0, count = 1, own;

	PMPI_Comm_rank(MPI_COMM_WORLD, &own);
	while (first < own && !peers_has(first))
		first++;
	if (first < own) {
		MPI_Status status;

		PMPI_Recv(ranks, size, MPI_INT, first, TAG, MPI_COMM_WORLD, &status);
		PMPI_Get_count(&status, MPI_INT, &count);
		return count;
	}
	ranks[0] = own;
	for (int rank = own + 1; rank < size; rank++)
		if (peers_has(rank))
			ranks[count++] = rank;
	for (int i = 1; i < count; i++)
		PMPI_Send(ranks, count, MPI_INT, ranks[i], TAG, MPI_COMM_WORLD);
	return count;
}

MPI_Comm mpi_peers_meet(void)
{
	MPI_Comm met = MPI_COMM_NULL;
	MPI_Group world, group;
	int size, count;

	if (!is_announced)
		return MPI_COMM_NULL;
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	int ranks[size]; /* no memory that could be short: the other ranks wait */

	count = peers_list(ranks, size);
	peers_leave();
	if (count == 1)
		return MPI_COMM_NULL;
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_incl(world, count, ranks, &group);
	PMPI_Comm_create_group(MPI_COMM_WORLD, group, TAG, &met);
	PMPI_Comm_set_errhandler(met, MPI_ERRORS_RETURN);
	PMPI_Group_free(&group);
	PMPI_Group_free(&world);
	return met;
}
