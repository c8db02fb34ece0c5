/*
 * Spans of MPI calls, which libfxtmpi.so records by <fxt/trace.h>.
 *
 * Each call is a span of category "mpi" with these arguments, as far as it has them: peer
 * (rank in MPI_COMM_WORLD), tag, comm (a number, the same on all its ranks), bytes, root
 * (in MPI_COMM_WORLD), request. A message is a flow "message" from the span that sends it
 * to the span that receives it. Both ends compute the same id, so they meet in the merged
 * trace of all ranks. The id comes from the run, the communicator, the two ranks, the tag
 * and the message's number. MPI keeps the order of such messages, so both ends count alike.
 */
#ifndef FXT_MPI_RECORD_H
#define FXT_MPI_RECORD_H

#include <mpi.h>
#include <stdbool.h>
#include "include/fxt/trace.h"

/* A communicator. The program may free it while requests of it are under way. */
struct mpi_comm {
	int64_t number;
	int users;   /* MPI's communicator itself, and requests */
	int size;    /* of the group that peers belong to */
	int world[]; /* by rank in that group: rank in MPI_COMM_WORLD */
};

/* The arguments of a span, by their place; each span has all of them. */
enum mpi_fact { MPI_PEER, MPI_TAG, MPI_COMM_NUMBER, MPI_BYTES, MPI_ROOT_RANK, MPI_REQUEST_ID, MPI_FACTS };

struct mpi_call {
	struct fxt_trace_span span;
	struct fxt_trace_site *site;
	struct fxt_trace_argument facts[MPI_FACTS];
	struct mpi_comm *comm; /* NULL: not known */
	int peer, tag;         /* in `comm`, as the program gave them */
	int64_t bytes;
};

void mpi_begin(struct mpi_call *call, struct fxt_trace_site *site, void *call_site);
void mpi_end(struct mpi_call *call);
void mpi_set(struct mpi_call *call, enum mpi_fact fact, int64_t value);

/* Sets facts of a call before it begins. */
void mpi_set_comm(struct mpi_call *call, MPI_Comm comm);
void mpi_set_message(
        struct mpi_call *call, MPI_Comm comm, int peer, int tag, int64_t count, MPI_Datatype type);
void mpi_set_bytes(struct mpi_call *call, int64_t count, MPI_Datatype type);
void mpi_set_root(struct mpi_call *call, int root);

/* Sets the facts that the status of a received message has. */
void mpi_set_received(struct mpi_call *call, const MPI_Status *status);

/* Gives a new communicator its number, if this rank is in it. All of its recorded ranks call
 * it, with the same parent and tag. No parent: NULL, no tag: 0. */
void mpi_number_comm(MPI_Comm made, const struct mpi_comm *parent, int tag);
struct mpi_comm *mpi_find_comm(MPI_Comm comm);
/* Begins and ends a use of it; NULL: does nothing. */
void mpi_keep_comm(struct mpi_comm *comm);
void mpi_drop_comm(struct mpi_comm *comm);

/* The next message of its kind. Returns the id of its flow; 0: it has none. */
uint64_t mpi_next_message(const struct mpi_comm *comm, int peer, int tag, bool is_sent);
void mpi_say_flow(bool is_sent, uint64_t id, const struct mpi_comm *comm, int peer, int tag, int64_t bytes);

/* Call it in MPI_Init, behind MPI's own; `recorded` has the ranks that call it (peers.h). */
void mpi_record_begin(MPI_Comm recorded);
extern uint64_t mpi_run; /* a number that all ranks of the run have, and no other run */

/* Compares clocks (clock.c): call these behind MPI_Init and before MPI_Finalize. */
void mpi_clock_begin(MPI_Comm recorded);
void mpi_clock_end(void);
/* Call it behind a blocking collective call that no rank leaves before all have entered it,
 * unless the data that each rank gets is empty. Compares clocks if it is time. */
void mpi_clock_meet(MPI_Comm comm, int count, MPI_Datatype type);

/* Records the sending of a message. Call it before the message is sent. */
void mpi_sent(struct mpi_call *call);
/* Records a message that was received, by a call that waits for it. */
void mpi_received(struct mpi_call *call, const MPI_Status *status);

/*
 * Requests that are under way (requests.c). Each has an asynchronous slice with the name
 * and facts of the call that posted it. The slice ends in the call that tells the program
 * of the request's end.
 */
enum mpi_direction { MPI_NEITHER, MPI_SENT, MPI_RECEIVED };
void mpi_post(struct mpi_call *call, MPI_Request request, enum mpi_direction direction);
/* Makes a persistent request, and starts it. Call mpi_start() before MPI_Start(). */
void mpi_make(struct mpi_call *call, MPI_Request request, enum mpi_direction direction);
void mpi_start(MPI_Request request);
/* The program gave up a request. */
void mpi_forget(uintptr_t handle);
/* `handle` is the request's handle before the call in which it ended. */
void mpi_complete(uintptr_t handle, const MPI_Status *status);

#define MPI_HANDLE(request) ((uintptr_t)(request))

#endif
