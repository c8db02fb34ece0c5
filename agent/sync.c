/*
 * Each lock is tried first: only if that says "busy" is there a wait to tell of. Waiters announce the object
 * they wait for in a small table, so that an unlock costs one look there, and a record only if somebody
 * waits. Two objects that share an entry cost an arrow, never a wrong one.
 */
#include "sync.h"
#include <errno.h>
#include <semaphore.h>
#include "events.h"
#include "real.h"
#include "shadow.h"

#define EXPORT   __attribute__((visibility("default")))
#define CATEGORY "sync"
#define ENTRIES  1024

static struct entry {
	uint64_t object; /* the latest that is waited for */
	uint64_t flow;   /* left by the latest that released it; 0 = taken */
	uint32_t waiters;
} entries[ENTRIES];

static struct entry *entry_of(const void *object)
{
	return &entries[fxt_function_hash((uint64_t)(uintptr_t)object) % ENTRIES];
}

/* ---- arrows ---- */

uint64_t agent_new_flow(void)
{
	static uint64_t last;

	return add_relaxed(&last, 1) + 1;
}

bool agent_mark_flow(const char *category, const char *name, uint64_t flow, bool is_end)
{
	struct fxt_block *block = agent_tells(category) ? agent_claim() : NULL;
	enum fxt_event_type type = is_end ? FXT_EVENT_FLOW_END : FXT_EVENT_FLOW_BEGIN;
	bool written;

	if (!block)
		return false;
	uint64_t begin = agent_stamp(block), middle = agent_stamp(block), end = agent_stamp(block);

	written =
	        agent_write_event(block, FXT_EVENT_DURATION_COMPLETE, category, name, begin, NULL, 0, end) &&
	        flow && agent_write_event(block, type, category, name, middle, NULL, 0, flow);
	agent_release(block);
	return written;
}

void agent_released(const void *object, const char *name)
{
	struct entry *entry = entry_of(object);

	if (likely(load_relaxed(&entry->waiters) == 0))
		return;
	if (load_relaxed(&entry->object) == (uint64_t)(uintptr_t)object && agent_tells(CATEGORY)) {
		uint64_t flow = agent_new_flow();

		/* Release: who finds the flow comes after its beginning. */
		if (agent_mark_flow(CATEGORY, name, flow, false))
			store_release(&entry->flow, flow);
	}
}

/* ---- waits ---- */

/* Returns the time at which the wait begins; 0 = it is not recorded. */
static uint64_t begin_wait(const void *object)
{
	uint64_t begin = agent_slice_begin(CATEGORY);
	struct entry *entry = entry_of(object);

	if (begin) {
		store_relaxed(&entry->object, (uint64_t)(uintptr_t)object);
		store_relaxed(&entry->flow, 0);
		add_relaxed(&entry->waiters, 1);
	}
	return begin;
}

static void end_wait(uint64_t begin, const void *object, const char *name)
{
	struct entry *entry = entry_of(object);
	struct fxt_argument argument =
	        fxt_argument_pointer(agent_text("object"), (uint64_t)(uintptr_t)object);
	struct fxt_block *block;

	if (!begin)
		return;
	add_relaxed(&entry->waiters, -1);
	block = agent_tells(CATEGORY) ? agent_claim() : NULL;
	if (!block)
		return;
	uint64_t flow = load_relaxed(&entry->object) == (uint64_t)(uintptr_t)object
	                        ? exchange_acquire(&entry->flow, 0)
	                        : 0;
	uint64_t arrival = agent_stamp(block), end = agent_stamp(block);

	if (agent_write_event(block, FXT_EVENT_DURATION_COMPLETE, CATEGORY, name, begin, &argument, 1, end) &&
	        flow)
		agent_write_event(block, FXT_EVENT_FLOW_END, CATEGORY, name, arrival, NULL, 0, flow);
	agent_release(block);
}

/* A wait that is one call; its result is the value. errno is kept as the call leaves it. */
#define WAIT(object, name, call)                      \
	({                                            \
		uint64_t begin_ = begin_wait(object); \
		int result_ = (call);                 \
		int error_ = errno;                   \
                                                      \
		end_wait(begin_, object, name);       \
		errno = error_;                       \
		result_;                              \
	})

/* The thread is cancelled only inside of a wait: nothing of ours is held then, but the count of waiters. */
static void forget_wait(void *object)
{
	add_relaxed(&entry_of(object)->waiters, -1);
}

#define CANCELLABLE_WAIT(object, name, call)                       \
	({                                                         \
		uint64_t begin_ = begin_wait(object);              \
		int result_, error_;                               \
                                                                   \
		if (begin_) {                                      \
			pthread_cleanup_push(forget_wait, object); \
			result_ = (call);                          \
			error_ = errno;                            \
			pthread_cleanup_pop(0);                    \
		} else {                                           \
			result_ = (call);                          \
			error_ = errno;                            \
		}                                                  \
		end_wait(begin_, object, name);                    \
		errno = error_;                                    \
		result_;                                           \
	})

static bool is_quiet(void)
{
	return load_relaxed(&agent_recording) == AGENT_QUIET;
}

/* ---- mutexes ---- */

#define LOCK(name, attempt, parameters, arguments)                       \
	EXPORT int name parameters                                       \
	{                                                                \
		int result = is_quiet() ? EBUSY : REAL(attempt)(object); \
                                                                         \
		if (likely(result != EBUSY))                             \
			return result;                                   \
		return WAIT(object, #name, REAL(name) arguments);        \
	}

LOCK(pthread_mutex_lock, pthread_mutex_trylock, (pthread_mutex_t * object), (object))
LOCK(pthread_mutex_timedlock, pthread_mutex_trylock,
        (pthread_mutex_t *restrict object, const struct timespec *restrict limit), (object, limit))
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t * object), (object))
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t * object), (object))

EXPORT int pthread_mutex_unlock(pthread_mutex_t *object)
{
	agent_released(object, "pthread_mutex_unlock");
	return REAL(pthread_mutex_unlock)(object);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *object)
{
	agent_released(object, "pthread_rwlock_unlock");
	return REAL(pthread_rwlock_unlock)(object);
}

/* ---- condition variables ---- */

EXPORT int pthread_cond_wait(pthread_cond_t *restrict object, pthread_mutex_t *restrict mutex)
{
	agent_released(mutex, "pthread_cond_wait");
	return CANCELLABLE_WAIT(object, "pthread_cond_wait", REAL(pthread_cond_wait)(object, mutex));
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict object, pthread_mutex_t *restrict mutex,
        const struct timespec *restrict limit)
{
	agent_released(mutex, "pthread_cond_timedwait");
	return CANCELLABLE_WAIT(
	        object, "pthread_cond_timedwait", REAL(pthread_cond_timedwait)(object, mutex, limit));
}

EXPORT int pthread_cond_signal(pthread_cond_t *object)
{
	agent_released(object, "pthread_cond_signal");
	return REAL(pthread_cond_signal)(object);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *object)
{
	agent_released(object, "pthread_cond_broadcast");
	return REAL(pthread_cond_broadcast)(object);
}

/* ---- semaphores, barriers, threads ---- */

EXPORT int sem_wait(sem_t *object)
{
	int error = errno;

	pthread_testcancel(); /* as the wait itself does before it looks */
	if (!is_quiet() && REAL(sem_trywait)(object) == 0)
		return 0;
	errno = error;
	return CANCELLABLE_WAIT(object, "sem_wait", REAL(sem_wait)(object));
}

EXPORT int sem_timedwait(sem_t *restrict object, const struct timespec *restrict limit)
{
	int error = errno;

	pthread_testcancel();
	if (!is_quiet() && REAL(sem_trywait)(object) == 0)
		return 0;
	errno = error;
	return CANCELLABLE_WAIT(object, "sem_timedwait", REAL(sem_timedwait)(object, limit));
}

EXPORT int sem_post(sem_t *object)
{
	agent_released(object, "sem_post");
	return REAL(sem_post)(object);
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *object)
{
	agent_released(object, "pthread_barrier_wait");
	return WAIT(object, "pthread_barrier_wait", REAL(pthread_barrier_wait)(object));
}

EXPORT int pthread_join(pthread_t thread, void **value)
{
	void *object = (void *)(uintptr_t)thread;
	int result = is_quiet() ? EBUSY : REAL(pthread_tryjoin_np)(thread, value);

	if (result != EBUSY)
		return result;
	return CANCELLABLE_WAIT(object, "pthread_join", REAL(pthread_join)(thread, value));
}
