/* Spans, communicators and messages (record.h). Any thread may call; one lock guards the
 * numbers of messages. */
#include "record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t mpi_run;
static int world_rank, key = MPI_KEYVAL_INVALID;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- spans ---- */

static const char *const fact_names[MPI_FACTS] = {"peer", "tag", "comm", "bytes", "root", "request"};

void mpi_set(struct mpi_call *call, enum mpi_fact fact, int64_t value)
{
	call->facts[fact].value = fxt_trace_int64_(value);
}

void mpi_begin(struct mpi_call *call, struct fxt_trace_site *site, void *call_site)
{
	for (int i = 0; i < MPI_FACTS; i++)
		call->facts[i].name = fact_names[i];
	call->site = site;
	call->span.begin = 0;
	if (!fxt_trace_is_on_(site))
		return;
	call->span.site = site;
	call->span.arguments = call->facts;
	call->span.count = MPI_FACTS;
	fxt_trace_agent_()->span_begin(&call->span, call_site);
}

void mpi_end(struct mpi_call *call)
{
	fxt_trace_span_end_(&call->span);
}

/* ---- numbers ---- */

/* Counts the messages or communicators of one kind, in an open table that grows. */
static struct stream {
	uint64_t kind, count; /* kind 0: the entry is free */
} * streams;
static size_t stream_count, stream_room;

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) + UINT64_C(0x632be59bd9b4e019);

	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 32;
}

static struct stream *stream_place(struct stream *in, size_t room, uint64_t kind)
{
	size_t at = kind & (room - 1);

	while (in[at].kind && in[at].kind != kind)
		at = (at + 1) & (room - 1);
	return &in[at];
}

static bool streams_grow(void)
{
	size_t room = stream_room ? 2 * stream_room : 256;
	struct stream *more = calloc(room, sizeof(*more));

	if (!more)
		return false;
	for (size_t i = 0; i < stream_room; i++)
		if (streams[i].kind)
			*stream_place(more, room, streams[i].kind) = streams[i];
	free(streams);
	streams = more;
	stream_room = room;
	return true;
}

/* The number of this one among those of its kind; UINT64_MAX: out of memory. */
static uint64_t stream_next(uint64_t kind)
{
	uint64_t number = UINT64_MAX;

	pthread_mutex_lock(&lock);
	if (2 * stream_count < stream_room || streams_grow()) {
		struct stream *stream = stream_place(streams, stream_room, kind);

		stream_count += !stream->kind;
		stream->kind = kind;
		number = stream->count++;
	}
	pthread_mutex_unlock(&lock);
	return number;
}

/* ---- communicators ---- */

void mpi_keep_comm(struct mpi_comm *comm)
{
	if (comm)
		__atomic_add_fetch(&comm->users, 1, __ATOMIC_RELAXED);
}

void mpi_drop_comm(struct mpi_comm *comm)
{
	if (comm && __atomic_sub_fetch(&comm->users, 1, __ATOMIC_ACQ_REL) == 0)
		free(comm);
}

static int comm_is_freed(MPI_Comm comm, int which, void *value, void *context)
{
	(void)comm, (void)which, (void)context;
	mpi_drop_comm(value);
	return MPI_SUCCESS;
}

struct mpi_comm *mpi_find_comm(MPI_Comm comm)
{
	void *found = NULL;
	int is_there = 0;

	if (key == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL ||
	        PMPI_Comm_get_attr(comm, key, &found, &is_there) != MPI_SUCCESS || !is_there)
		return NULL;
	return found;
}

/* Stores the ranks in MPI_COMM_WORLD of the ranks of a communicator; returns false if memory
 * is short. */
static bool comm_translate(MPI_Comm comm, int size, int *to)
{
	MPI_Group group, world;
	int *ranks = malloc((size_t)size * sizeof(*ranks));

	if (!ranks)
		return false;
	for (int i = 0; i < size; i++)
		ranks[i] = i;
	PMPI_Comm_group(comm, &group);
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_translate_ranks(group, size, ranks, world, to);
	PMPI_Group_free(&group);
	PMPI_Group_free(&world);
	free(ranks);
	return true;
}

static struct mpi_comm *comm_note(MPI_Comm comm)
{
	struct mpi_comm *noted;
	int size;

	PMPI_Comm_size(comm, &size);
	noted = malloc(sizeof(*noted) + (size_t)size * sizeof(noted->world[0]));
	if (!noted || !comm_translate(comm, size, noted->world)) {
		free(noted);
		return NULL;
	}
	noted->number = 0;
	noted->users = 1;
	noted->size = size;
	PMPI_Comm_set_attr(comm, key, noted);
	return noted;
}

/*
 * All ranks of a communicator compute its number from what they know: its parent, its ranks,
 * and how many communicators with the same parent and ranks were made before. MPI makes them in
 * the same order on all ranks. So no rank asks another one, which might not be recorded.
 */
void mpi_number_comm(MPI_Comm made, const struct mpi_comm *parent, int tag)
{
	struct mpi_comm *noted;
	uint64_t kind;
	int is_inter;

	if (made == MPI_COMM_NULL || key == MPI_KEYVAL_INVALID ||
	        PMPI_Comm_test_inter(made, &is_inter) != MPI_SUCCESS || is_inter)
		return;
	noted = comm_note(made);
	if (!noted)
		return;
	kind = mix(parent ? (uint64_t)parent->number : UINT64_MAX, (uint32_t)tag);
	for (int i = 0; i < noted->size; i++)
		kind = mix(kind, (uint32_t)noted->world[i]);
	noted->number = (int64_t)(mix(kind, stream_next(kind | 1)) >> 16 | 1);
}

/* Ranks that cannot ask each other take what the launcher tells each of them. */
static uint64_t run_of_launcher(void)
{
	static const char *const names[] = {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID"};
	uint64_t run = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (const char *at = getenv(names[i]); at && *at; at++)
			run = mix(run, (uint8_t)*at);
	return run;
}

void mpi_record_begin(MPI_Comm recorded)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	mpi_run = mix((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec, (uint64_t)getpid());
	if (recorded != MPI_COMM_NULL)
		PMPI_Bcast(&mpi_run, 1, MPI_UINT64_T, 0, recorded);
	else
		mpi_run = run_of_launcher();
	mpi_run |= 1;
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_is_freed, &key, NULL);
	comm_note(MPI_COMM_WORLD);
}

/* ---- facts ---- */

static int64_t world_of(const struct mpi_comm *comm, int rank)
{
	return comm && rank >= 0 && rank < comm->size ? comm->world[rank] : rank;
}

void mpi_set_comm(struct mpi_call *call, MPI_Comm comm)
{
	call->comm = mpi_find_comm(comm);
	if (call->comm)
		mpi_set(call, MPI_COMM_NUMBER, call->comm->number);
}

void mpi_set_bytes(struct mpi_call *call, int64_t count, MPI_Datatype type)
{
	int size = 0;

	if (type != MPI_DATATYPE_NULL)
		PMPI_Type_size(type, &size);
	if (size < 0) /* MPI_UNDEFINED: it is too large for an int */
		return;
	call->bytes = count * size;
	mpi_set(call, MPI_BYTES, call->bytes);
}

/* The message fills in a peer or tag that the call leaves open. */
static void set_envelope(struct mpi_call *call, int peer, int tag)
{
	call->peer = peer;
	call->tag = tag;
	if (peer >= 0)
		mpi_set(call, MPI_PEER, world_of(call->comm, peer));
	if (tag != MPI_ANY_TAG)
		mpi_set(call, MPI_TAG, tag);
}

void mpi_set_message(
        struct mpi_call *call, MPI_Comm comm, int peer, int tag, int64_t count, MPI_Datatype type)
{
	mpi_set_comm(call, comm);
	mpi_set_bytes(call, count, type);
	set_envelope(call, peer, tag);
}

void mpi_set_root(struct mpi_call *call, int root)
{
	mpi_set(call, MPI_ROOT_RANK, world_of(call->comm, root));
}

void mpi_set_received(struct mpi_call *call, const MPI_Status *status)
{
	int bytes = 0;

	if (status->MPI_SOURCE < 0)
		return;
	PMPI_Get_count(status, MPI_BYTE, &bytes);
	call->bytes = bytes == MPI_UNDEFINED ? 0 : bytes;
	mpi_set(call, MPI_BYTES, call->bytes);
	set_envelope(call, status->MPI_SOURCE, status->MPI_TAG);
}

/* ---- messages ---- */

/*
 * The id has its highest bit set, which no process's number in an id reaches, so fxt merge
 * leaves it as it is. Bit 32 is set too: the number of process 0 would be given anew.
 */
uint64_t mpi_next_message(const struct mpi_comm *comm, int peer, int tag, bool is_sent)
{
	uint64_t from, to, kind, number;

	if (!comm || peer < 0 || tag < 0)
		return 0;
	from = (uint64_t)(is_sent ? world_rank : world_of(comm, peer));
	to = (uint64_t)(is_sent ? world_of(comm, peer) : world_rank);
	kind = mix(mix(mix(mpi_run, (uint64_t)comm->number), from << 32 | to), (uint32_t)tag);
	/* A rank that sends to itself counts both ends. */
	number = stream_next((is_sent ? kind : ~kind) | 1);
	if (number == UINT64_MAX)
		return 0;
	return mix(kind, number) | UINT64_C(1) << 63 | UINT64_C(1) << 32;
}

void mpi_say_flow(bool is_sent, uint64_t id, const struct mpi_comm *comm, int peer, int tag, int64_t bytes)
{
	if (id == 0)
		return;
	if (is_sent)
		FXT_FLOW_BEGIN("mpi", "message", id, "peer", world_of(comm, peer), "tag", tag, "comm",
		        comm->number, "bytes", bytes);
	else
		FXT_FLOW_END("mpi", "message", id, "peer", world_of(comm, peer), "tag", tag, "comm",
		        comm->number, "bytes", bytes);
}

void mpi_sent(struct mpi_call *call)
{
	mpi_say_flow(true, mpi_next_message(call->comm, call->peer, call->tag, true), call->comm, call->peer,
	        call->tag, call->bytes);
}

void mpi_received(struct mpi_call *call, const MPI_Status *status)
{
	mpi_set_received(call, status);
	mpi_say_flow(false, mpi_next_message(call->comm, call->peer, call->tag, false), call->comm,
	        call->peer, call->tag, call->bytes);
}
