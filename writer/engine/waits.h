/*
 * Waits for locks, other threads, time and descriptors, as open frames of a shadow stack
 * and as records. A wait is begun and ended like a call. Therefore a reader of the control
 * memory, at a snapshot or after a death, sees what the thread waits for and since when.
 *
 * Its frame's reference is object << FXT_FRAME_INDEX_BITS | FXT_WAIT_FIRST + the number of
 * the waiting call; the frame's call_site is fxt_wait_site().
 */
#ifndef FXT_WRITER_WAITS_H
#define FXT_WRITER_WAITS_H

#include "writer/format/encode.h"
#include "writer/format/inherited.h"
#include "writer/shared/control.h"
#include "writer/shared/slot.h"

/* The subject of a wait. */
enum fxt_wait_subject {
	/* an object at the address in the frame's reference; for a thread the reference has
	 * its handle */
	FXT_WAIT_FOR_OBJECT,
	FXT_WAIT_FOR_TIME, /* a time; the reference has nothing */
	/* a descriptor; the reference has it plus 1; 0 = there are several */
	FXT_WAIT_FOR_DESCRIPTOR,
	FXT_WAIT_FOR_EVENT, /* what the name says; the reference has nothing */
};

/* The functions that wait: their names, their subjects, and whether waiting is their
 * purpose (true), or they mostly find done what they ask for (false). The agent interposes
 * each of them. */
#define FXT_WAIT_FUNCTIONS(CALL)                       \
	CALL(pthread_mutex_lock, OBJECT, true)         \
	CALL(pthread_mutex_timedlock, OBJECT, true)    \
	CALL(pthread_mutex_clocklock, OBJECT, true)    \
	CALL(pthread_rwlock_rdlock, OBJECT, true)      \
	CALL(pthread_rwlock_timedrdlock, OBJECT, true) \
	CALL(pthread_rwlock_clockrdlock, OBJECT, true) \
	CALL(pthread_rwlock_wrlock, OBJECT, true)      \
	CALL(pthread_rwlock_timedwrlock, OBJECT, true) \
	CALL(pthread_rwlock_clockwrlock, OBJECT, true) \
	CALL(mtx_lock, OBJECT, true)                   \
	CALL(mtx_timedlock, OBJECT, true)              \
	CALL(sem_wait, OBJECT, true)                   \
	CALL(sem_timedwait, OBJECT, true)              \
	CALL(sem_clockwait, OBJECT, true)              \
	CALL(pthread_cond_wait, OBJECT, true)          \
	CALL(pthread_cond_timedwait, OBJECT, true)     \
	CALL(pthread_cond_clockwait, OBJECT, true)     \
	CALL(cnd_wait, OBJECT, true)                   \
	CALL(cnd_timedwait, OBJECT, true)              \
	CALL(pthread_join, OBJECT, true)               \
	CALL(pthread_timedjoin_np, OBJECT, true)       \
	CALL(pthread_clockjoin_np, OBJECT, true)       \
	CALL(thrd_join, OBJECT, true)                  \
	CALL(pthread_barrier_wait, OBJECT, true)       \
	CALL(pthread_once, OBJECT, false)              \
	CALL(call_once, OBJECT, false)                 \
	CALL(nanosleep, TIME, true)                    \
	CALL(clock_nanosleep, TIME, true)              \
	CALL(usleep, TIME, true)                       \
	CALL(sleep, TIME, true)                        \
	CALL(thrd_sleep, TIME, true)                   \
	CALL(poll, DESCRIPTOR, true)                   \
	CALL(ppoll, DESCRIPTOR, true)                  \
	CALL(select, DESCRIPTOR, true)                 \
	CALL(pselect, DESCRIPTOR, true)                \
	CALL(epoll_wait, DESCRIPTOR, true)             \
	CALL(epoll_pwait, DESCRIPTOR, true)            \
	CALL(read, DESCRIPTOR, false)                  \
	CALL(readv, DESCRIPTOR, false)                 \
	CALL(recv, DESCRIPTOR, false)                  \
	CALL(recvfrom, DESCRIPTOR, false)              \
	CALL(recvmsg, DESCRIPTOR, false)               \
	CALL(recvmmsg, DESCRIPTOR, false)              \
	CALL(write, DESCRIPTOR, false)                 \
	CALL(writev, DESCRIPTOR, false)                \
	CALL(send, DESCRIPTOR, false)                  \
	CALL(sendto, DESCRIPTOR, false)                \
	CALL(sendmsg, DESCRIPTOR, false)               \
	CALL(sendmmsg, DESCRIPTOR, false)              \
	CALL(accept, DESCRIPTOR, true)                 \
	CALL(accept4, DESCRIPTOR, true)                \
	CALL(connect, DESCRIPTOR, false)               \
	CALL(fsync, DESCRIPTOR, false)                 \
	CALL(fdatasync, DESCRIPTOR, false)             \
	CALL(flock, DESCRIPTOR, false)                 \
	CALL(lockf, DESCRIPTOR, false)                 \
	CALL(fcntl, DESCRIPTOR, false)                 \
	CALL(pread, DESCRIPTOR, false)                 \
	CALL(pwrite, DESCRIPTOR, false)                \
	CALL(sendfile, DESCRIPTOR, false)              \
	CALL(splice, DESCRIPTOR, false)                \
	CALL(mq_receive, DESCRIPTOR, false)            \
	CALL(mq_timedreceive, DESCRIPTOR, false)       \
	CALL(mq_send, DESCRIPTOR, false)               \
	CALL(mq_timedsend, DESCRIPTOR, false)          \
	CALL(fgets, DESCRIPTOR, false)                 \
	CALL(getline, DESCRIPTOR, false)               \
	CALL(getdelim, DESCRIPTOR, false)              \
	CALL(fread, DESCRIPTOR, false)                 \
	CALL(fflush, DESCRIPTOR, false)                \
	CALL(fclose, DESCRIPTOR, false)                \
	CALL(pclose, DESCRIPTOR, false)                \
	CALL(sigwait, EVENT, true)                     \
	CALL(sigwaitinfo, EVENT, true)                 \
	CALL(sigtimedwait, EVENT, true)                \
	CALL(sigsuspend, EVENT, true)                  \
	CALL(pause, EVENT, true)                       \
	CALL(msgrcv, EVENT, false)                     \
	CALL(msgsnd, EVENT, false)                     \
	CALL(semop, EVENT, false)                      \
	CALL(semtimedop, EVENT, false)                 \
	CALL(wait4, EVENT, false)                      \
	CALL(waitid, EVENT, false)                     \
	CALL(system, EVENT, false)                     \
	CALL(getaddrinfo, EVENT, false)                \
	CALL(getnameinfo, EVENT, false)                \
	CALL(gethostbyname, EVENT, false)              \
	CALL(msync, EVENT, false)                      \
	CALL(sync, EVENT, false)

/* All calls that wait, with system calls and with functions that are made of another. For
 * each there is a constant FXT_WAIT_name, which both processes know. */
#define FXT_WAITS(CALL)                         \
	FXT_WAIT_FUNCTIONS(CALL)                \
	CALL(wait, EVENT, false)                \
	CALL(wait3, EVENT, false)               \
	CALL(waitpid, EVENT, false)             \
	CALL(epoll_pwait2, DESCRIPTOR, true)    \
	CALL(io_uring_enter, DESCRIPTOR, false) \
	CALL(io_getevents, EVENT, false)        \
	CALL(futex_waitv, EVENT, false)         \
	CALL(futex, OBJECT, false)

#define FXT_WAIT_CONSTANT(name, subject, is_purpose) FXT_WAIT_##name,
enum fxt_wait { FXT_WAITS(FXT_WAIT_CONSTANT) FXT_WAIT_KINDS };
#undef FXT_WAIT_CONSTANT

#define FXT_WAIT_CATEGORY "sync"

/* The first value of the index field in the reference of a wait. A call has its string
 * index there, which is smaller, or FXT_INDEX_LOCAL, which is not a wait's value; the
 * indices of inherited calls are smaller too (inherited.h). */
#define FXT_WAIT_FIRST (FXT_INHERITED_BIT | FXT_STRING_LOCAL_FIRST)

#define FXT_WAIT_WORDS 20 /* words of the longest record of a wait */

static inline uint64_t fxt_wait_ref(enum fxt_wait wait, uint64_t object)
{
	return object << FXT_FRAME_INDEX_BITS | (FXT_WAIT_FIRST + (uint64_t)wait);
}

/*
 * The call site of a wait's frame: the string index of the object's symbol, or 0, and above
 * it the thread that has the object when the wait begins (fxt_holder()), or 0. Its upper 16
 * bits stay free for the states of the filter.
 */
#define FXT_WAIT_SYMBOL_BITS 16

static inline uint64_t fxt_wait_site(uint32_t symbol, uint32_t holder)
{
	return symbol | (uint64_t)holder << FXT_WAIT_SYMBOL_BITS;
}

/*
 * The koid of a thread in 32 bits; 0: it does not fit. Bit 31 stands for the number of the
 * process in the koid's upper half (thread_set_koid() in threads.c). A koid does not fit if
 * the process has given the thread's id to 512 threads before.
 */
static inline uint32_t fxt_holder(uint64_t process_koid, uint64_t koid)
{
	uint64_t process = process_koid & ((1u << FXT_TID_BITS) - 1);

	if (koid >> 31 == 0)
		return (uint32_t)koid;
	koid ^= process << 40;
	return koid >> 31 == 1 ? (uint32_t)koid : 0;
}

/* The inverse of fxt_holder(): the koid. */
static inline uint64_t fxt_holder_koid(uint64_t process_koid, uint32_t holder)
{
	uint64_t process = process_koid & ((1u << FXT_TID_BITS) - 1);

	return holder >> 31 ? holder ^ process << 40 : holder;
}

/*
 * A span is a duration that the program states (include/fxt/trace.h), and has a frame like
 * a wait's. Its reference has the string indices of its category and its name; 0 = the text
 * has no durable index. Its arguments are not in the frame: a span that ends in the
 * ordinary way has them in its record, and one that is abandoned or left open has none.
 */
#define FXT_SPAN_INDEX        UINT64_C(0xfffe)
#define FXT_SPAN_TEXT_BITS    15
#define FXT_SPAN_NAME_BIT     FXT_FRAME_INDEX_BITS
#define FXT_SPAN_CATEGORY_BIT (FXT_SPAN_NAME_BIT + FXT_SPAN_TEXT_BITS)

static inline uint64_t fxt_span_ref(uint16_t category, uint16_t name)
{
	return FXT_SPAN_INDEX | (uint64_t)name << FXT_SPAN_NAME_BIT |
	       (uint64_t)category << FXT_SPAN_CATEGORY_BIT;
}

/* The string index of a span's name. */
static inline uint64_t fxt_span_name(uint64_t ref)
{
	return fxt_field(ref, FXT_SPAN_NAME_BIT, FXT_SPAN_TEXT_BITS);
}

static inline bool fxt_is_span(uint64_t ref)
{
	return fxt_field(ref, 0, FXT_FRAME_INDEX_BITS) == FXT_SPAN_INDEX;
}

/* Whether a frame's reference belongs to a wait or a span, and not to a call. */
static inline bool fxt_is_wait(uint64_t ref)
{
	uint64_t index = fxt_field(ref, 0, FXT_FRAME_INDEX_BITS);

	return index >= FXT_WAIT_FIRST && index < FXT_INDEX_LOCAL;
}

const char *fxt_wait_name(enum fxt_wait wait);

/* The descriptor that the wait with that reference is for; -1: for none, or for several. */
int32_t fxt_wait_descriptor(uint64_t ref);

/* Whether the wait is for several descriptors. Its reference does not name them. */
bool fxt_wait_has_several(uint64_t ref);

/* Whether a frame's reference belongs to a call that counts: no wait, and not inherited. */
static inline bool fxt_is_counted(uint64_t ref)
{
	return !fxt_is_wait(ref) && !fxt_is_inherited(ref);
}

/* Returns how many of the frames belong to calls that count. */
uint64_t fxt_count_calls(const struct fxt_frame *frames, uint64_t count);

/*
 * Writes the duration event of a wait or a span: a Duration Complete that ends at `end`, or
 * a Duration Begin. The process is the waiting thread's. The frame may change during the
 * call. Returns the size in words, at most FXT_WAIT_WORDS.
 */
uint64_t fxt_put_wait(uint64_t record[FXT_WAIT_WORDS], enum fxt_event_type type, uint64_t process_koid,
        struct fxt_thread thread, const struct fxt_frame *frame, bool is_abandoned, uint64_t end);

#endif
