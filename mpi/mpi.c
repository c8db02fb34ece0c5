/*
 * Interposes functions of MPI, those of the table in calls.h. Each calls MPI's function of
 * the same name with a P in front, which the standard provides for this. The program gets
 * MPI's own answer, and its memory is only read.
 */
#include <stdlib.h>
#include "peers.h"
#include "record.h"

#define NOTHING

/* ---- facts ---- */

#define MESSAGE    mpi_set_message(&call, comm, peer, tag, count, type);
#define ENVELOPE   mpi_set_message(&call, comm, peer, tag, 0, MPI_DATATYPE_NULL);
#define BYTES      mpi_set_bytes(&call, count, type);
#define GROUP      mpi_set_comm(&call, comm);
#define EACH_BYTES mpi_set_bytes(&call, (int64_t)count *(call.comm ? call.comm->size : 1), type);
#define ROOT       mpi_set_root(&call, root);
/* Bytes of a part that may be in place. Such a part has neither a count nor a type. */
#define PART(place)                    \
	if ((place) != MPI_IN_PLACE) { \
		BYTES                  \
	}
#define EACH_PART(place)               \
	if ((place) != MPI_IN_PLACE) { \
		EACH_BYTES             \
	}

/* ---- messages ---- */

#define SENT mpi_sent(&call);
#define RECEIVED                   \
	if (result == MPI_SUCCESS) \
		mpi_received(&call, status);
#define STATUS                     \
	if (result == MPI_SUCCESS) \
		mpi_set_received(&call, status);
/* The program may have no use for a status. */
#define OWN_STATUS                       \
	MPI_Status own_status;           \
	if (status == MPI_STATUS_IGNORE) \
		status = &own_status;

/* ---- requests ---- */

/* Handles and statuses of a call with a list of requests. Few of them are on the stack. If
 * memory for more is short, the requests have no end. */
#define FEW 64
#define HANDLES(count)                                                \
	uintptr_t few_handles[FEW], *handles = few_handles;           \
	if ((count) > FEW)                                            \
		handles = malloc((size_t)(count) * sizeof(*handles)); \
	for (int i = 0; handles && i < (count); i++)                  \
		handles[i] = MPI_HANDLE(requests[i]);
#define OWN_STATUSES(count)                                                             \
	MPI_Status few_statuses[FEW], *own_statuses = few_statuses;                     \
	if (statuses == MPI_STATUSES_IGNORE) {                                          \
		if ((count) > FEW)                                                      \
			own_statuses = malloc((size_t)(count) * sizeof(*own_statuses)); \
		if (own_statuses)                                                       \
			statuses = own_statuses;                                        \
	}
#define FREE(array, few)  \
	if (array != few) \
		free(array);
#define ONE_HANDLE const uintptr_t handle = MPI_HANDLE(*request);
#define POSTED(direction)          \
	if (result == MPI_SUCCESS) \
		mpi_post(&call, *request, direction);
#define MADE(direction)            \
	if (result == MPI_SUCCESS) \
		mpi_make(&call, *request, direction);
#define STARTS(count, requests)           \
	for (int i = 0; i < (count); i++) \
		mpi_start((requests)[i]);
#define FREED mpi_forget(handle);
#define ONE_ENDED(is_ended)                      \
	if (result == MPI_SUCCESS && (is_ended)) \
		mpi_complete(handle, status);
#define ALL_ENDED(are_ended)                                                            \
	for (int i = 0; result == MPI_SUCCESS && (are_ended) && i < count && handles && \
	                statuses != MPI_STATUSES_IGNORE;                                \
	        i++)                                                                    \
		mpi_complete(handles[i], &statuses[i]);                                 \
	FREE(handles, few_handles)                                                      \
	FREE(own_statuses, few_statuses)
#define ANY_ENDED(is_ended)                                                            \
	if (result == MPI_SUCCESS && (is_ended) && *index != MPI_UNDEFINED && handles) \
		mpi_complete(handles[*index], status);                                 \
	FREE(handles, few_handles)
#define SOME_ENDED                                                                                   \
	for (int i = 0; result == MPI_SUCCESS && *ended != MPI_UNDEFINED && i < *ended && handles && \
	                statuses != MPI_STATUSES_IGNORE;                                             \
	        i++)                                                                                 \
		mpi_complete(handles[indices[i]], &statuses[i]);                                     \
	FREE(handles, few_handles)                                                                   \
	FREE(own_statuses, few_statuses)

/* ---- the rest ---- */

#define NEW_COMM                   \
	if (result == MPI_SUCCESS) \
		mpi_number_comm(*made, call.comm, 0);
#define NEW_COMM_OF_TAG            \
	if (result == MPI_SUCCESS) \
		mpi_number_comm(*made, call.comm, tag);
#define BEGINS mpi_peers_announce();
#define BEGUN                                               \
	if (result == MPI_SUCCESS) {                        \
		const MPI_Comm recorded = mpi_peers_meet(); \
                                                            \
		mpi_record_begin(recorded);                 \
		mpi_clock_begin(recorded);                  \
	}
#define ENDS mpi_clock_end();
/* The span is ended: the comparison is no wait of the program. */
#define MET(count, type) \
	mpi_end(&call);  \
	mpi_clock_meet(comm, count, type);

#define CALL(name, parameters, arguments, facts, before, after)                                    \
	__attribute__((visibility("default"))) int MPI_##name parameters                           \
	{                                                                                          \
		static uint16_t texts[4 + MPI_FACTS];                                              \
		static struct fxt_trace_site site = {&site.own, "mpi", "MPI_" #name, texts, 1, 0}; \
		struct mpi_call call = {.comm = NULL};                                             \
		int result;                                                                        \
		facts mpi_begin(&call, &site, __builtin_return_address(0));                        \
		before result = PMPI_##name arguments;                                             \
		after mpi_end(&call);                                                              \
		return result;                                                                     \
	}
#include "calls.h"

FXT_CATEGORY("mpi", "calls of MPI, their messages and requests");
