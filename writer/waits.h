/*
 * Waits for locks and other threads, as open frames of a shadow stack and as records. A wait is begun and
 * ended like a call, so whoever looks at the control memory meanwhile, at a snapshot or after a death, sees
 * what the thread waits for and since when.
 *
 * Its frame's word is object << FXT_FRAME_INDEX_BITS | FXT_WAIT_BIT | which call it is; the frame's call_site
 * is the string index of the object's symbol, or 0.
 */
#ifndef FXT_WRITER_WAITS_H
#define FXT_WRITER_WAITS_H

#include "encode.h"
#include "slot.h"

/* The calls that wait, by their names: of each there is a constant FXT_WAIT_name, which both processes know.
 */
#define FXT_WAITS(CALL)                  \
	CALL(pthread_mutex_lock)         \
	CALL(pthread_mutex_timedlock)    \
	CALL(pthread_mutex_clocklock)    \
	CALL(pthread_rwlock_rdlock)      \
	CALL(pthread_rwlock_timedrdlock) \
	CALL(pthread_rwlock_clockrdlock) \
	CALL(pthread_rwlock_wrlock)      \
	CALL(pthread_rwlock_timedwrlock) \
	CALL(pthread_rwlock_clockwrlock) \
	CALL(mtx_lock)                   \
	CALL(mtx_timedlock)              \
	CALL(sem_wait)                   \
	CALL(sem_timedwait)              \
	CALL(sem_clockwait)              \
	CALL(pthread_cond_wait)          \
	CALL(pthread_cond_timedwait)     \
	CALL(pthread_cond_clockwait)     \
	CALL(cnd_wait)                   \
	CALL(cnd_timedwait)              \
	CALL(pthread_join)               \
	CALL(pthread_timedjoin_np)       \
	CALL(pthread_clockjoin_np)       \
	CALL(thrd_join)                  \
	CALL(pthread_barrier_wait)

#define FXT_WAIT_CONSTANT(name) FXT_WAIT_##name,
enum fxt_wait { FXT_WAITS(FXT_WAIT_CONSTANT) FXT_WAIT_KINDS };
#undef FXT_WAIT_CONSTANT

#define FXT_WAIT_CATEGORY "sync"

/* In a frame's word where a call has its string index, which is smaller, or FXT_INDEX_LOCAL, which is none.
 */
#define FXT_WAIT_BIT FXT_STRING_INLINE_BIT

#define FXT_WAIT_WORDS 16 /* of the longest record of a wait */

static inline uint64_t fxt_wait_word(enum fxt_wait wait, const void *object)
{
	return (uint64_t)(uintptr_t)object << FXT_FRAME_INDEX_BITS | FXT_WAIT_BIT | wait;
}

/* Whether a frame's word is of a wait. */
static inline bool fxt_is_wait(uint64_t word)
{
	uint64_t index = fxt_field(word, 0, FXT_FRAME_INDEX_BITS);

	return index >= FXT_WAIT_BIT && index < FXT_WAIT_BIT + FXT_WAIT_KINDS;
}

const char *fxt_wait_name(enum fxt_wait wait);

/* How many of the frames are calls. */
uint64_t fxt_count_calls(const struct fxt_frame *frames, uint64_t count);

/*
 * Writes the duration event of a wait, whose frame need not stand still: a Duration Complete that ends at
 * `end`, or a Duration Begin. Returns its size in words, at most FXT_WAIT_WORDS.
 */
uint64_t fxt_put_wait(uint64_t record[FXT_WAIT_WORDS], enum fxt_event_type type, struct fxt_thread thread,
        const struct fxt_frame *frame, bool is_abandoned, uint64_t end);

#endif
