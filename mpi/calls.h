/*
 * The MPI calls that are recorded, as data: mpi.c makes a function of each row.
 *
 *     CALL(name, parameters, arguments, facts, before, after)
 *
 * `facts` sets the span's arguments before it begins. `before` and `after` run inside the
 * span, around the call. mpi.c defines the words that they consist of.
 */

/* messages */
CALL(Send, (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm),
        (buffer, count, type, peer, tag, comm), MESSAGE, SENT, NOTHING)
CALL(Bsend, (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm),
        (buffer, count, type, peer, tag, comm), MESSAGE, SENT, NOTHING)
CALL(Ssend, (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm),
        (buffer, count, type, peer, tag, comm), MESSAGE, SENT, NOTHING)
CALL(Rsend, (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm),
        (buffer, count, type, peer, tag, comm), MESSAGE, SENT, NOTHING)
CALL(Isend,
        (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                MPI_Request *request),
        (buffer, count, type, peer, tag, comm, request), MESSAGE, SENT, POSTED(MPI_SENT))
CALL(Ibsend,
        (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                MPI_Request *request),
        (buffer, count, type, peer, tag, comm, request), MESSAGE, SENT, POSTED(MPI_SENT))
CALL(Issend,
        (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                MPI_Request *request),
        (buffer, count, type, peer, tag, comm, request), MESSAGE, SENT, POSTED(MPI_SENT))
CALL(Irsend,
        (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                MPI_Request *request),
        (buffer, count, type, peer, tag, comm, request), MESSAGE, SENT, POSTED(MPI_SENT))
CALL(Recv, (void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status *status),
        (buffer, count, type, peer, tag, comm, status), MESSAGE, OWN_STATUS, RECEIVED)
CALL(Irecv,
        (void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, peer, tag, comm, request), MESSAGE, NOTHING, POSTED(MPI_RECEIVED))
CALL(Sendrecv,
        (const void *buffer, int count, MPI_Datatype type, int peer, int tag, void *received,
                int received_count, MPI_Datatype received_type, int source, int received_tag, MPI_Comm comm,
                MPI_Status *status),
        (buffer, count, type, peer, tag, received, received_count, received_type, source, received_tag, comm,
                status),
        MESSAGE, SENT OWN_STATUS, RECEIVED)
CALL(Sendrecv_replace,
        (void *buffer, int count, MPI_Datatype type, int peer, int tag, int source, int received_tag,
                MPI_Comm comm, MPI_Status *status),
        (buffer, count, type, peer, tag, source, received_tag, comm, status), MESSAGE, SENT OWN_STATUS,
        RECEIVED)
CALL(Probe, (int peer, int tag, MPI_Comm comm, MPI_Status *status), (peer, tag, comm, status), ENVELOPE,
        NOTHING, NOTHING)
CALL(Iprobe, (int peer, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
        (peer, tag, comm, flag, status), ENVELOPE, NOTHING, NOTHING)
CALL(Mprobe, (int peer, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
        (peer, tag, comm, message, status), ENVELOPE, NOTHING, NOTHING)
CALL(Improbe, (int peer, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status),
        (peer, tag, comm, flag, message, status), ENVELOPE, NOTHING, NOTHING)
CALL(Mrecv, (void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status),
        (buffer, count, type, message, status), BYTES, OWN_STATUS, STATUS)

/* requests */
CALL(Send_init,
        (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                MPI_Request *request),
        (buffer, count, type, peer, tag, comm, request), MESSAGE, NOTHING, MADE(MPI_SENT))
CALL(Bsend_init,
        (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                MPI_Request *request),
        (buffer, count, type, peer, tag, comm, request), MESSAGE, NOTHING, MADE(MPI_SENT))
CALL(Ssend_init,
        (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                MPI_Request *request),
        (buffer, count, type, peer, tag, comm, request), MESSAGE, NOTHING, MADE(MPI_SENT))
CALL(Rsend_init,
        (const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                MPI_Request *request),
        (buffer, count, type, peer, tag, comm, request), MESSAGE, NOTHING, MADE(MPI_SENT))
CALL(Recv_init,
        (void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, peer, tag, comm, request), MESSAGE, NOTHING, MADE(MPI_RECEIVED))
CALL(Start, (MPI_Request * request), (request), NOTHING, STARTS(1, request), NOTHING)
CALL(Startall, (int count, MPI_Request requests[]), (count, requests), NOTHING, STARTS(count, requests),
        NOTHING)
CALL(Wait, (MPI_Request * request, MPI_Status *status), (request, status), NOTHING, ONE_HANDLE OWN_STATUS,
        ONE_ENDED(true))
CALL(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status), NOTHING,
        ONE_HANDLE OWN_STATUS, ONE_ENDED(*flag))
CALL(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), (count, requests, statuses),
        NOTHING, HANDLES(count) OWN_STATUSES(count), ALL_ENDED(true))
CALL(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
        (count, requests, flag, statuses), NOTHING, HANDLES(count) OWN_STATUSES(count), ALL_ENDED(*flag))
CALL(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status),
        (count, requests, index, status), NOTHING, HANDLES(count) OWN_STATUS, ANY_ENDED(true))
CALL(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
        (count, requests, index, flag, status), NOTHING, HANDLES(count) OWN_STATUS, ANY_ENDED(*flag))
CALL(Waitsome, (int count, MPI_Request requests[], int *ended, int indices[], MPI_Status statuses[]),
        (count, requests, ended, indices, statuses), NOTHING, HANDLES(count) OWN_STATUSES(count), SOME_ENDED)
CALL(Testsome, (int count, MPI_Request requests[], int *ended, int indices[], MPI_Status statuses[]),
        (count, requests, ended, indices, statuses), NOTHING, HANDLES(count) OWN_STATUSES(count), SOME_ENDED)
CALL(Request_free, (MPI_Request * request), (request), NOTHING, ONE_HANDLE, FREED)
CALL(Cancel, (MPI_Request * request), (request), NOTHING, NOTHING, NOTHING)

/* collectives, blocking and not */
CALL(Barrier, (MPI_Comm comm), (comm), GROUP, NOTHING, MET(1, MPI_BYTE))
CALL(Bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
        (buffer, count, type, root, comm), GROUP BYTES ROOT, NOTHING, NOTHING)
CALL(Reduce,
        (const void *buffer, void *output, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
        (buffer, output, count, type, op, root, comm), GROUP BYTES ROOT, NOTHING, NOTHING)
CALL(Allreduce, (const void *buffer, void *output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (buffer, output, count, type, op, comm), GROUP BYTES, NOTHING, MET(count, type))
CALL(Gather,
        (const void *buffer, int count, MPI_Datatype type, void *output, int results,
                MPI_Datatype result_type, int root, MPI_Comm comm),
        (buffer, count, type, output, results, result_type, root, comm), GROUP PART(buffer) ROOT, NOTHING,
        NOTHING)
CALL(Gatherv,
        (const void *buffer, int count, MPI_Datatype type, void *output, const int results[], const int at[],
                MPI_Datatype result_type, int root, MPI_Comm comm),
        (buffer, count, type, output, results, at, result_type, root, comm), GROUP PART(buffer) ROOT, NOTHING,
        NOTHING)
CALL(Scatter,
        (const void *buffer, int counts, MPI_Datatype from, void *output, int count, MPI_Datatype type,
                int root, MPI_Comm comm),
        (buffer, counts, from, output, count, type, root, comm), GROUP PART(output) ROOT, NOTHING, NOTHING)
CALL(Scatterv,
        (const void *buffer, const int counts[], const int at[], MPI_Datatype from, void *output, int count,
                MPI_Datatype type, int root, MPI_Comm comm),
        (buffer, counts, at, from, output, count, type, root, comm), GROUP PART(output) ROOT, NOTHING,
        NOTHING)
CALL(Allgather,
        (const void *buffer, int count, MPI_Datatype type, void *output, int results,
                MPI_Datatype result_type, MPI_Comm comm),
        (buffer, count, type, output, results, result_type, comm), GROUP PART(buffer), NOTHING,
        MET(results, result_type))
CALL(Allgatherv,
        (const void *buffer, int count, MPI_Datatype type, void *output, const int results[], const int at[],
                MPI_Datatype result_type, MPI_Comm comm),
        (buffer, count, type, output, results, at, result_type, comm), GROUP PART(buffer), NOTHING, NOTHING)
CALL(Alltoall,
        (const void *buffer, int count, MPI_Datatype type, void *output, int results,
                MPI_Datatype result_type, MPI_Comm comm),
        (buffer, count, type, output, results, result_type, comm), GROUP EACH_PART(buffer), NOTHING,
        MET(results, result_type))
CALL(Alltoallv,
        (const void *buffer, const int counts[], const int from[], MPI_Datatype type, void *output,
                const int results[], const int at[], MPI_Datatype result_type, MPI_Comm comm),
        (buffer, counts, from, type, output, results, at, result_type, comm), GROUP, NOTHING, NOTHING)
CALL(Reduce_scatter,
        (const void *buffer, void *output, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (buffer, output, counts, type, op, comm), GROUP, NOTHING, NOTHING)
CALL(Reduce_scatter_block,
        (const void *buffer, void *output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (buffer, output, count, type, op, comm), GROUP EACH_BYTES, NOTHING, NOTHING)
CALL(Scan, (const void *buffer, void *output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (buffer, output, count, type, op, comm), GROUP BYTES, NOTHING, NOTHING)
CALL(Exscan, (const void *buffer, void *output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (buffer, output, count, type, op, comm), GROUP BYTES, NOTHING, NOTHING)
CALL(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request), GROUP, NOTHING, POSTED(MPI_NEITHER))
CALL(Ibcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, root, comm, request), GROUP BYTES ROOT, NOTHING, POSTED(MPI_NEITHER))
CALL(Ireduce,
        (const void *buffer, void *output, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request *request),
        (buffer, output, count, type, op, root, comm, request), GROUP BYTES ROOT, NOTHING,
        POSTED(MPI_NEITHER))
CALL(Iallreduce,
        (const void *buffer, void *output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request *request),
        (buffer, output, count, type, op, comm, request), GROUP BYTES, NOTHING, POSTED(MPI_NEITHER))
CALL(Igather,
        (const void *buffer, int count, MPI_Datatype type, void *output, int results,
                MPI_Datatype result_type, int root, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, output, results, result_type, root, comm, request), GROUP PART(buffer) ROOT,
        NOTHING, POSTED(MPI_NEITHER))
CALL(Igatherv,
        (const void *buffer, int count, MPI_Datatype type, void *output, const int results[], const int at[],
                MPI_Datatype result_type, int root, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, output, results, at, result_type, root, comm, request), GROUP PART(buffer) ROOT,
        NOTHING, POSTED(MPI_NEITHER))
CALL(Iscatter,
        (const void *buffer, int counts, MPI_Datatype from, void *output, int count, MPI_Datatype type,
                int root, MPI_Comm comm, MPI_Request *request),
        (buffer, counts, from, output, count, type, root, comm, request), GROUP PART(output) ROOT, NOTHING,
        POSTED(MPI_NEITHER))
CALL(Iscatterv,
        (const void *buffer, const int counts[], const int at[], MPI_Datatype from, void *output, int count,
                MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
        (buffer, counts, at, from, output, count, type, root, comm, request), GROUP PART(output) ROOT,
        NOTHING, POSTED(MPI_NEITHER))
CALL(Iallgather,
        (const void *buffer, int count, MPI_Datatype type, void *output, int results,
                MPI_Datatype result_type, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, output, results, result_type, comm, request), GROUP PART(buffer), NOTHING,
        POSTED(MPI_NEITHER))
CALL(Iallgatherv,
        (const void *buffer, int count, MPI_Datatype type, void *output, const int results[], const int at[],
                MPI_Datatype result_type, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, output, results, at, result_type, comm, request), GROUP PART(buffer), NOTHING,
        POSTED(MPI_NEITHER))
CALL(Ialltoall,
        (const void *buffer, int count, MPI_Datatype type, void *output, int results,
                MPI_Datatype result_type, MPI_Comm comm, MPI_Request *request),
        (buffer, count, type, output, results, result_type, comm, request), GROUP EACH_PART(buffer), NOTHING,
        POSTED(MPI_NEITHER))
CALL(Ialltoallv,
        (const void *buffer, const int counts[], const int from[], MPI_Datatype type, void *output,
                const int results[], const int at[], MPI_Datatype result_type, MPI_Comm comm,
                MPI_Request *request),
        (buffer, counts, from, type, output, results, at, result_type, comm, request), GROUP, NOTHING,
        POSTED(MPI_NEITHER))
CALL(Ireduce_scatter,
        (const void *buffer, void *output, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request *request),
        (buffer, output, counts, type, op, comm, request), GROUP, NOTHING, POSTED(MPI_NEITHER))
CALL(Ireduce_scatter_block,
        (const void *buffer, void *output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request *request),
        (buffer, output, count, type, op, comm, request), GROUP EACH_BYTES, NOTHING, POSTED(MPI_NEITHER))
CALL(Iscan,
        (const void *buffer, void *output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request *request),
        (buffer, output, count, type, op, comm, request), GROUP BYTES, NOTHING, POSTED(MPI_NEITHER))
CALL(Iexscan,
        (const void *buffer, void *output, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request *request),
        (buffer, output, count, type, op, comm, request), GROUP BYTES, NOTHING, POSTED(MPI_NEITHER))

/* communicators */
CALL(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made), GROUP, NOTHING, NEW_COMM)
CALL(Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm *made), (comm, colour, key, made), GROUP,
        NOTHING, NEW_COMM)
CALL(Comm_split_type, (MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *made),
        (comm, kind, key, info, made), GROUP, NOTHING, NEW_COMM)
CALL(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made), GROUP, NOTHING,
        NEW_COMM)
CALL(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), (comm, group, tag, made),
        GROUP, NOTHING, NEW_COMM_OF_TAG)
CALL(Cart_create,
        (MPI_Comm comm, int count, const int sizes[], const int periods[], int reorder, MPI_Comm *made),
        (comm, count, sizes, periods, reorder, made), GROUP, NOTHING, NEW_COMM)
CALL(Cart_sub, (MPI_Comm comm, const int kept[], MPI_Comm *made), (comm, kept, made), GROUP, NOTHING,
        NEW_COMM)
CALL(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made), NOTHING, NOTHING,
        NEW_COMM)
CALL(Comm_free, (MPI_Comm * freed), (freed), NOTHING, NOTHING, NOTHING)

/* windows */
CALL(Win_fence, (int assertion, MPI_Win window), (assertion, window), NOTHING, NOTHING, NOTHING)
CALL(Put,
        (const void *buffer, int count, MPI_Datatype type, int target, MPI_Aint at, int counts,
                MPI_Datatype to, MPI_Win window),
        (buffer, count, type, target, at, counts, to, window), BYTES, NOTHING, NOTHING)
CALL(Get,
        (void *buffer, int count, MPI_Datatype type, int target, MPI_Aint at, int counts, MPI_Datatype from,
                MPI_Win window),
        (buffer, count, type, target, at, counts, from, window), BYTES, NOTHING, NOTHING)
CALL(Win_lock, (int kind, int target, int assertion, MPI_Win window), (kind, target, assertion, window),
        NOTHING, NOTHING, NOTHING)
CALL(Win_unlock, (int target, MPI_Win window), (target, window), NOTHING, NOTHING, NOTHING)

/* the beginning and the end */
CALL(Init, (int *count, char ***arguments), (count, arguments), NOTHING, BEGINS, BEGUN)
CALL(Init_thread, (int *count, char ***arguments, int wanted, int *given), (count, arguments, wanted, given),
        NOTHING, BEGINS, BEGUN)
CALL(Finalize, (void), (), NOTHING, ENDS, NOTHING)
