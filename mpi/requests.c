/* Requests that are under way (record.h). Any thread may call; a lock guards the table. */
#include "record.h"

#include <pthread.h>
#include <stdlib.h>

struct request {
	struct request *next; /* in its list */
	uintptr_t handle;     /* of MPI */
	uint64_t id;          /* of its slice; 0: it is not under way */
	uint64_t flow;        /* of the message; 0: only the end tells which message it is */
	struct mpi_call call; /* the call that posted it; its span has ended */
	struct fxt_trace_site *site;
	enum mpi_direction direction;
	bool is_persistent;
};

enum { ASYNC_BEGIN = 5, ASYNC_END = 7 }; /* of the trace format */
enum { LIST_BITS = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct request *lists[1 << LIST_BITS]; /* by handle; the latest request first */

static struct request **request_list(uintptr_t handle)
{
	return &lists[handle * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LIST_BITS)];
}

/* Finds the link to a request; it leads to NULL if the handle is not known. With the lock
 * held. */
static struct request **request_find(uintptr_t handle)
{
	struct request **link = request_list(handle);

	while (*link && (*link)->handle != handle)
		link = &(*link)->next;
	return link;
}

/* With the lock held. */
static void request_remove(struct request **link)
{
	struct request *request = *link;

	*link = request->next;
	free(request);
}

static void request_say(const struct request *request, uint32_t type)
{
	if (request->id && fxt_trace_is_on_(request->site))
		fxt_trace_agent_()->event(request->site, type, request->id, request->call.facts, MPI_FACTS);
}

/* A receive takes its place among the messages of its kind when it is posted, as MPI
 * matches them. One that leaves the peer or the tag open takes it when it ends. */
static void request_begin(struct request *request)
{
	request->id = FXT_NONCE();
	if (request->direction == MPI_RECEIVED)
		request->flow =
		        mpi_next_message(request->call.comm, request->call.peer, request->call.tag, false);
	mpi_set(&request->call, MPI_REQUEST_ID, (int64_t)(request->id & UINT32_MAX));
	request_say(request, ASYNC_BEGIN);
}

/* Out of memory: the request has no slice. */
static void request_add(const struct request *request)
{
	struct request *added = malloc(sizeof(*added));

	if (!added)
		return;
	*added = *request;
	mpi_keep_comm(added->call.comm);
	pthread_mutex_lock(&lock);
	struct request **list = request_list(added->handle);

	added->next = *list;
	*list = added;
	pthread_mutex_unlock(&lock);
}

void mpi_post(struct mpi_call *call, MPI_Request handle, enum mpi_direction direction)
{
	struct request request = {
	        .handle = MPI_HANDLE(handle), .call = *call, .site = call->site, .direction = direction};

	if (handle == MPI_REQUEST_NULL)
		return;
	request_begin(&request);
	call->facts[MPI_REQUEST_ID] = request.call.facts[MPI_REQUEST_ID];
	request_add(&request);
}

void mpi_make(struct mpi_call *call, MPI_Request handle, enum mpi_direction direction)
{
	const struct request request = {.handle = MPI_HANDLE(handle),
	        .call = *call,
	        .site = call->site,
	        .direction = direction,
	        .is_persistent = true};

	if (handle != MPI_REQUEST_NULL)
		request_add(&request);
}

void mpi_start(MPI_Request handle)
{
	struct request *request;

	pthread_mutex_lock(&lock);
	request = *request_find(MPI_HANDLE(handle));
	if (request) {
		request_begin(request);
		if (request->direction == MPI_SENT)
			mpi_sent(&request->call);
	}
	pthread_mutex_unlock(&lock);
}

void mpi_forget(uintptr_t handle)
{
	struct request **link;

	pthread_mutex_lock(&lock);
	link = request_find(handle);
	if (*link) {
		mpi_drop_comm((*link)->call.comm);
		request_remove(link);
	}
	pthread_mutex_unlock(&lock);
}

/* Takes an ended request out of the table; unless it is persistent, the caller drops its
 * communicator. Returns false if it is not under way, as a persistent one before its start. */
static bool request_take(uintptr_t handle, struct request *ended)
{
	struct request **link;

	pthread_mutex_lock(&lock);
	link = request_find(handle);
	*ended = *link ? **link : (struct request){.id = 0};
	if (ended->is_persistent)
		(*link)->id = 0;
	else if (*link)
		request_remove(link);
	pthread_mutex_unlock(&lock);
	return ended->id != 0;
}

void mpi_complete(uintptr_t handle, const MPI_Status *status)
{
	struct request ended;
	struct mpi_call *call = &ended.call;
	int is_cancelled = 0;

	if (request_take(handle, &ended)) {
		if (ended.direction == MPI_RECEIVED)
			PMPI_Test_cancelled(status, &is_cancelled);
		if (ended.direction == MPI_RECEIVED && !is_cancelled) {
			mpi_set_received(call, status);
			if (ended.flow == 0)
				ended.flow = mpi_next_message(call->comm, call->peer, call->tag, false);
			mpi_say_flow(false, ended.flow, call->comm, call->peer, call->tag, call->bytes);
		}
		request_say(&ended, ASYNC_END);
	}
	if (!ended.is_persistent)
		mpi_drop_comm(call->comm);
}
