/*
 * Waits for locks, other threads, time and descriptors, as open frames of a shadow stack
 * and as records. A wait is begun and ended like a call. Therefore a reader of the control
 * memory, at a snapshot or after a death, sees what the thread waits for and since when.
 *
 * Its frame's reference is object << FXT_FRAME_INDEX_BITS | FXT_WAIT_FIRST + the number of
 * the waiting call; the frame's call_site is the string index of the object's symbol, or 0.
 */
#ifndef FXT_WRITER_WAITS_H
#define FXT_WRITER_WAITS_H

#include "writer/format/encode.h"
#include "writer/format/inherited.h"
#include "writer/shared/slot.h"

/* The subject of a wait. */
enum fxt_wait_subject {
	/* an object at the address in the frame's reference; for a thread the reference has its
	 * handle */
	FXT_WAIT_FOR_OBJECT,
	FXT_WAIT_FOR_TIME, /* a time; the reference has nothing */
	/* a descriptor; the reference has it plus 1; 0 = there are several */
	FXT_WAIT_FOR_DESCRIPTOR,
	FXT_WAIT_FOR_EVENT, /* what the name says; the reference has nothing */
};

/* The calls that wait, by name, and their subjects. For each there is a constant
 * FXT_WAIT_name, which both processes know. */
#define FXT_WAITS(CALL)                          \
	CALL(pthread_mutex_lock, OBJECT)         \
	CALL(pthread_mutex_timedlock, OBJECT)    \
	CALL(pthread_mutex_clocklock, OBJECT)    \
	CALL(pthread_rwlock_rdlock, OBJECT)      \
	CALL(pthread_rwlock_timedrdlock, OBJECT) \
	CALL(pthread_rwlock_clockrdlock, OBJECT) \
	CALL(pthread_rwlock_wrlock, OBJECT)      \
	CALL(pthread_rwlock_timedwrlock, OBJECT) \
	CALL(pthread_rwlock_clockwrlock, OBJECT) \
	CALL(mtx_lock, OBJECT)                   \
	CALL(mtx_timedlock, OBJECT)              \
	CALL(sem_wait, OBJECT)                   \
	CALL(sem_timedwait, OBJECT)              \
	CALL(sem_clockwait, OBJECT)              \
	CALL(pthread_cond_wait, OBJECT)          \
	CALL(pthread_cond_timedwait, OBJECT)     \
	CALL(pthread_cond_clockwait, OBJECT)     \
	CALL(cnd_wait, OBJECT)                   \
	CALL(cnd_timedwait, OBJECT)              \
	CALL(pthread_join, OBJECT)               \
	CALL(pthread_timedjoin_np, OBJECT)       \
	CALL(pthread_clockjoin_np, OBJECT)       \
	CALL(thrd_join, OBJECT)                  \
	CALL(pthread_barrier_wait, OBJECT)       \
	CALL(nanosleep, TIME)                    \
	CALL(clock_nanosleep, TIME)              \
	CALL(usleep, TIME)                       \
	CALL(sleep, TIME)                        \
	CALL(thrd_sleep, TIME)                   \
	CALL(poll, DESCRIPTOR)                   \
	CALL(ppoll, DESCRIPTOR)                  \
	CALL(select, DESCRIPTOR)                 \
	CALL(pselect, DESCRIPTOR)                \
	CALL(epoll_wait, DESCRIPTOR)             \
	CALL(epoll_pwait, DESCRIPTOR)            \
	CALL(read, DESCRIPTOR)                   \
	CALL(readv, DESCRIPTOR)                  \
	CALL(recv, DESCRIPTOR)                   \
	CALL(recvfrom, DESCRIPTOR)               \
	CALL(recvmsg, DESCRIPTOR)                \
	CALL(recvmmsg, DESCRIPTOR)               \
	CALL(write, DESCRIPTOR)                  \
	CALL(writev, DESCRIPTOR)                 \
	CALL(send, DESCRIPTOR)                   \
	CALL(sendto, DESCRIPTOR)                 \
	CALL(sendmsg, DESCRIPTOR)                \
	CALL(sendmmsg, DESCRIPTOR)               \
	CALL(accept, DESCRIPTOR)                 \
	CALL(accept4, DESCRIPTOR)                \
	CALL(connect, DESCRIPTOR)                \
	CALL(fsync, DESCRIPTOR)                  \
	CALL(fdatasync, DESCRIPTOR)              \
	CALL(flock, DESCRIPTOR)                  \
	CALL(lockf, DESCRIPTOR)                  \
	CALL(fcntl, DESCRIPTOR)                  \
	CALL(pread, DESCRIPTOR)                  \
	CALL(pwrite, DESCRIPTOR)                 \
	CALL(sendfile, DESCRIPTOR)               \
	CALL(splice, DESCRIPTOR)                 \
	CALL(mq_receive, DESCRIPTOR)             \
	CALL(mq_timedreceive, DESCRIPTOR)        \
	CALL(mq_send, DESCRIPTOR)                \
	CALL(mq_timedsend, DESCRIPTOR)           \
	CALL(fgets, DESCRIPTOR)                  \
	CALL(getline, DESCRIPTOR)                \
	CALL(getdelim, DESCRIPTOR)               \
	CALL(fread, DESCRIPTOR)                  \
	CALL(fflush, DESCRIPTOR)                 \
	CALL(fclose, DESCRIPTOR)                 \
	CALL(pclose, DESCRIPTOR)                 \
	CALL(sigwait, EVENT)                     \
	CALL(sigwaitinfo, EVENT)                 \
	CALL(sigtimedwait, EVENT)                \
	CALL(sigsuspend, EVENT)                  \
	CALL(pause, EVENT)                       \
	CALL(msgrcv, EVENT)                      \
	CALL(msgsnd, EVENT)                      \
	CALL(semop, EVENT)                       \
	CALL(semtimedop, EVENT)                  \
	CALL(system, EVENT)                      \
	CALL(getaddrinfo, EVENT)                 \
	CALL(getnameinfo, EVENT)                 \
	CALL(gethostbyname, EVENT)               \
	CALL(msync, EVENT)                       \
	CALL(sync, EVENT)                        \
	CALL(futex, OBJECT)

#define FXT_WAIT_CONSTANT(name, subject) FXT_WAIT_##name,
enum fxt_wait { FXT_WAITS(FXT_WAIT_CONSTANT) FXT_WAIT_KINDS };
#undef FXT_WAIT_CONSTANT

#define FXT_WAIT_CATEGORY "sync"

/* The first value of the index field in the reference of a wait. A call has its string
 * index there, which is smaller, or FXT_INDEX_LOCAL, which is not a wait's value; the
 * indices of inherited calls are smaller too (inherited.h). */
#define FXT_WAIT_FIRST (FXT_INHERITED_BIT | FXT_STRING_LOCAL_FIRST)

#define FXT_WAIT_WORDS 16 /* words of the longest record of a wait */

static inline uint64_t fxt_wait_ref(enum fxt_wait wait, uint64_t object)
{
	return object << FXT_FRAME_INDEX_BITS | (FXT_WAIT_FIRST + (uint64_t)wait);
}

/* Whether a frame's reference belongs to a wait. */
static inline bool fxt_is_wait(uint64_t ref)
{
	uint64_t index = fxt_field(ref, 0, FXT_FRAME_INDEX_BITS);

	return index >= FXT_WAIT_FIRST && index < FXT_WAIT_FIRST + FXT_WAIT_KINDS;
}

const char *fxt_wait_name(enum fxt_wait wait);

/* Whether a frame's reference belongs to a call that counts: no wait, and not inherited. */
static inline bool fxt_is_counted(uint64_t ref)
{
	return !fxt_is_wait(ref) && !fxt_is_inherited(ref);
}

/* Returns how many of the frames belong to calls that count. */
uint64_t fxt_count_calls(const struct fxt_frame *frames, uint64_t count);

/*
 * Writes the duration event of a wait: a Duration Complete that ends at `end`, or a
 * Duration Begin. The frame may change during the call. Returns the size in words, at most
 * FXT_WAIT_WORDS.
 */
uint64_t fxt_put_wait(uint64_t record[FXT_WAIT_WORDS], enum fxt_event_type type, struct fxt_thread thread,
        const struct fxt_frame *frame, bool is_abandoned, uint64_t end);

#endif
