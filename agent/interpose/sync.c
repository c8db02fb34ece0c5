/*
 * Waits for libc's locks, on the thread that waits or releases. Each lock is tried first:
 * only if the attempt reports "busy" is there a wait to record. Waiters announce their
 * object in a small table, so an unlock costs one look there. It costs a record if it lets
 * a waiter go on, which the lock's memory tells (lock_state.h). Two objects that share an
 * entry may lose an arrow, but never cause a wrong one.
 */
#include "sync.h"
#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include "agent/base/attributes.h"
#include "agent/hook/events.h"
#include "agent/process/modules.h"
#include "agent/base/real.h"
#include "agent/hook/shadow.h"
#include "blocking.h"
#include "lock_lives.h"
#include "lock_state.h"
#include "agent/base/symbols.h"

#define ENTRIES 1024
/* the slice only carries an arrow; its duration means nothing */
#define WAKES ": wakes a waiter"

static struct entry {
	uint64_t object; /* the latest object with a waiter */
	uint64_t flows;  /* left by the latest release of that object (sync_flows()) */
	uint32_t waiters;
	uint32_t has_begun; /* a wait, since the latest release with an arrow */
	uint32_t leaving;   /* threads inside pthread_rwlock_unlock() */
} entries[ENTRIES];

/* Packs `count` arrows from number `first` on, for up to `takers` waiters: those that
 * waited when the arrows began. 0 = none is left. */
static uint64_t sync_flows(uint32_t first, uint16_t count, uint16_t takers)
{
	return (uint64_t)takers << 48 | (uint64_t)count << 32 | first;
}

static struct entry *sync_entry(const void *object)
{
	return &entries[fxt_function_hash((uint64_t)(uintptr_t)object) % ENTRIES];
}

void agent_sync_forget(void)
{
	memset(entries, 0, sizeof(entries));
}

/* ---- names ---- */

/* The name of a variable with static storage, as an index to which the symbolizer gives a
 * text, like a function's. 0 = the object has none, or there is no room. */
static uint32_t sync_symbol(const void *object)
{
	struct fxt_engine *e = &agent_engine;
	uint64_t address = (uint64_t)(uintptr_t)object, ref = fxt_function_find(&e->functions, address);

	if (!ref) {
		uint64_t mask = fxt_lock(&e->lock);
		uint32_t module = agent_module_around(address);

		if (module)
			ref = fxt_function_register(e, address, module);
		fxt_unlock(&e->lock, mask);
	}
	return ref & FXT_STRING_INLINE_BIT ? 0 : ref & FXT_STRING_INDEX_MAX;
}

/* ---- arrows ---- */

static bool sync_has_flows(const struct entry *entry)
{
	return load_relaxed(&entry->flows) != 0;
}

/* The entry of an object that a thread waits for; NULL: no thread waits. */
static struct entry *sync_awaited(const void *object)
{
	struct entry *entry = sync_entry(object);

	if (likely(load_relaxed(&entry->waiters) == 0))
		return NULL;
	return load_relaxed(&entry->object) == (uint64_t)(uintptr_t)object ? entry : NULL;
}

/* Begins arrows to one waiter, or to all of them. Returns the first; 0 = none is
 * recorded. */
static uint64_t sync_release(struct entry *entry, const void *object, const char *name, bool is_for_all)
{
	uint32_t waiters = load_relaxed(&entry->waiters), count = 0, takers, first;

	if (!agent_records_category(FXT_WAIT_CATEGORY))
		return 0;
	store_relaxed(&entry->has_begun, 0);
	takers = waiters < UINT16_MAX ? waiters : UINT16_MAX;
	waiters = is_for_all ? takers : 1;
	first = agent_new_flows(waiters);
	while (count < waiters &&
	        agent_mark_flow(FXT_WAIT_CATEGORY, name, agent_flow_id(first + count), false, object))
		count++;
	if (count == 0)
		return 0;
	/* Release: a thread that finds a flow comes after its beginning. */
	store_release(&entry->flows, sync_flows(first, (uint16_t)count, (uint16_t)takers));
	return agent_flow_id(first);
}

uint64_t agent_sync_released(const void *object, const char *name)
{
	struct entry *entry = sync_awaited(object);

	return entry ? sync_release(entry, object, name, false) : 0;
}

/* Offers no flows while others are pending, because a waiter could not tell whose it takes.
 * The times are those before the call: a record that is written after it must not begin
 * after the waiter went on. */
bool agent_sync_offer(struct agent_offer *offer, const void *object, uint32_t most)
{
	struct entry *entry = sync_awaited(object);
	struct fxt_thread_writer *writer;

	if (likely(!entry) || sync_has_flows(entry) || !agent_records_category(FXT_WAIT_CATEGORY))
		return false;
	uint32_t waiters = load_relaxed(&entry->waiters);

	if (waiters > UINT16_MAX)
		waiters = UINT16_MAX;
	*offer = (struct agent_offer){.object = object, .count = most < waiters ? most : waiters};
	writer = offer->count ? agent_claim_for_wait() : NULL;
	if (!writer)
		return false;
	for (int i = 0; i < 3; i++)
		offer->ticks[i] = agent_stamp(writer);
	agent_release(writer);
	offer->first = agent_new_flows(offer->count);
	store_release(&entry->flows, sync_flows(offer->first, (uint16_t)offer->count, (uint16_t)waiters));
	return true;
}

/* Takes back the flows that no waiter will take: all but `woken`. */
static void sync_withdraw(struct entry *entry, const struct agent_offer *offer, uint32_t woken)
{
	uint64_t flows = load_relaxed(&entry->flows), rest;

	do {
		uint32_t taken = (uint32_t)flows - offer->first;

		if (!flows || taken >= offer->count)
			return;
		rest = woken > taken ? sync_flows((uint32_t)flows, (uint16_t)(woken - taken), flows >> 48)
		                     : 0;
	} while (!compare_exchange_acquire(&entry->flows, &flows, rest));
}

void agent_sync_woke(const struct agent_offer *offer, uint64_t woken, const char *name)
{
	uint32_t count = woken < offer->count ? (uint32_t)woken : offer->count;
	struct fxt_thread_writer *writer;

	if (count < offer->count)
		sync_withdraw(sync_entry(offer->object), offer, count);
	writer = count && agent_records_category(FXT_WAIT_CATEGORY) ? agent_claim() : NULL;
	if (!writer)
		return;
	for (uint32_t i = 0; i < count; i++)
		agent_write_arrow(writer, FXT_EVENT_FLOW_BEGIN, FXT_WAIT_CATEGORY, name, name, offer->ticks,
		        agent_flow_id(offer->first + i), offer->object);
	agent_release(writer);
}

/* ---- waits ---- */

/*
 * Returns the koid of a thread that is joined; 0: it is not known. A thread that is not
 * attached yet has a number all the same. The id of its processor-time clock has it: the
 * kernel keeps ~number above the lowest 3 bits. If an earlier thread of the process had
 * this number, its koid cannot be known from that.
 */
static uint64_t sync_joined(pthread_t thread)
{
	const struct fxt_engine *e = &agent_engine;
	uint64_t koid = fxt_koid_of_pthread(e, (uint64_t)thread);
	clockid_t clock;

	if (koid || pthread_getcpuclockid(thread, &clock) != 0)
		return koid;
	uint32_t tid = (~(uint32_t)clock >> 3) & (FXT_TIDS - 1);

	return load_relaxed(&e->tids[tid].uses) == 0 ? fxt_koid_of_tid(e, tid) : 0;
}

/* Returns the koid of the thread that has to act before the wait ends: it holds the lock,
 * or is joined. 0: the object's memory does not show it. */
static uint64_t sync_holder(const struct agent_wait *wait)
{
	const struct fxt_engine *e = &agent_engine;

	switch (wait->call) {
	case FXT_WAIT_pthread_mutex_lock:
	case FXT_WAIT_pthread_mutex_timedlock:
	case FXT_WAIT_pthread_mutex_clocklock:
	case FXT_WAIT_mtx_lock:
	case FXT_WAIT_mtx_timedlock:
		return fxt_koid_of_tid(e, lock_holder_of_mutex(wait->object));
	case FXT_WAIT_pthread_rwlock_rdlock:
	case FXT_WAIT_pthread_rwlock_timedrdlock:
	case FXT_WAIT_pthread_rwlock_clockrdlock:
	case FXT_WAIT_pthread_rwlock_wrlock:
	case FXT_WAIT_pthread_rwlock_timedwrlock:
	case FXT_WAIT_pthread_rwlock_clockwrlock:
		return fxt_koid_of_tid(e, lock_holder_of_rwlock(wait->object));
	case FXT_WAIT_pthread_join:
	case FXT_WAIT_pthread_timedjoin_np:
	case FXT_WAIT_pthread_clockjoin_np:
	case FXT_WAIT_thrd_join:
		return sync_joined((pthread_t)(uintptr_t)wait->object);
	default:
		return 0;
	}
}

static void sync_announce(struct entry *entry, const void *object)
{
	if (load_relaxed(&entry->object) != (uint64_t)(uintptr_t)object ||
	        load_relaxed(&entry->waiters) == 0) {
		store_relaxed(&entry->object, (uint64_t)(uintptr_t)object);
		store_relaxed(&entry->flows, 0);
	}
	store_relaxed(&entry->has_begun, 1);
	add_relaxed(&entry->waiters, 1);
}

/* A wait that may be brief is like those of blocking.c, and costs no more. */
static struct fxt_thread_writer *sync_claim(const struct agent_wait *wait)
{
	agent_child_begins();
	if (wait->may_be_brief)
		return agent_blocking_is_recorded() ? agent_claim_for_wait() : NULL;
	return agent_records_category(FXT_WAIT_CATEGORY) ? agent_claim() : NULL;
}

/* Announces the wait before it reads the holder. So a release that comes in between writes
 * an arrow. It tells readers that the holder in the wait's record may have changed. */
void agent_sync_begin(struct agent_wait *wait)
{
	uint64_t stack_pointer = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	const void *object = wait->object;
	struct entry *entry = sync_entry(object);
	struct fxt_thread_writer *writer;

	writer = sync_claim(wait);
	if (!writer)
		return;
	uint32_t symbol = sync_symbol(object);

	wait->earlier = agent_latest_flow();
	agent_lock_is_awaited(object, symbol != 0);
	sync_announce(entry, object);
	if (!symbol && !wait->may_be_brief)
		agent_lock_describe(writer, object, fxt_wait_name(wait->call));
	wait->begin = agent_begin_wait(writer, fxt_wait_ref(wait->call, (uint64_t)(uintptr_t)object),
	        fxt_wait_site(symbol, fxt_holder(agent_engine.process_koid, sync_holder(wait))),
	        stack_pointer);
	agent_release(writer);
	if (!wait->begin)
		add_relaxed(&entry->waiters, -1);
}

/*
 * Takes a pending flow for a waiter that was woken; at a barrier never its own. Flows that
 * began before the wait were meant for earlier waiters, which did not take them: they are
 * stale, and a woken waiter discards them. A waiter that was not woken leaves a pending
 * flow to the other waiters. If there are none it discards the flow, which would otherwise
 * suppress the next signal's arrow.
 */
static uint64_t sync_take_flow(struct entry *entry, const struct agent_wait *wait, bool is_woken)
{
	uint64_t flows = load_relaxed(&entry->flows), rest;
	uint32_t number;
	bool is_stale;

	if (load_relaxed(&entry->object) != (uint64_t)(uintptr_t)wait->object)
		return 0;
	do {
		uint16_t count = (uint16_t)(flows >> 32), takers = (uint16_t)((flows >> 48) - 1);

		number = (uint32_t)flows;
		is_stale = (int32_t)(number - wait->earlier) <= 0;
		if (!flows || agent_flow_id(number) == wait->own_flow || (is_stale && !is_woken))
			return 0;
		count = (uint16_t)(count - is_woken);
		rest = is_stale || !count || !takers ? 0 : sync_flows(number + is_woken, count, takers);
	} while (!compare_exchange_acquire(&entry->flows, &flows, rest));
	return is_stale || !is_woken ? 0 : agent_flow_id(number);
}

void agent_sync_end(const struct agent_wait *wait, enum agent_wait_end end)
{
	struct entry *entry = sync_entry(wait->object);
	const char *name = fxt_wait_name(wait->call);
	struct fxt_thread_writer *writer;

	if (!wait->begin)
		return;
	add_relaxed(&entry->waiters, -1);
	uint64_t flow = sync_take_flow(entry, wait, end == WAIT_WOKEN);

	writer = agent_records_category(FXT_WAIT_CATEGORY) ? agent_claim() : NULL;
	if (!writer)
		return;
	const struct fxt_frame *frame = agent_find_wait(writer, wait->begin);

	if (frame && wait->may_be_brief && !flow && agent_blocking_is_brief(writer, wait->begin)) {
		agent_blocking_drop(writer, frame);
	} else if (frame) {
		uint64_t ticks[3];

		for (int i = 0; i < 3; i++)
			ticks[i] = agent_stamp(writer);

		/*
		 * Viewers draw an arrow from the slice that began first, which is the wait.
		 * Therefore the arrow ends in a slice of its own. An instant that came
		 * during the wait cannot hide that slice; viewers would bind the arrow to
		 * the instant otherwise.
		 */
		/* A name that the symbolizer finds is that of its own object record. */
		if (wait->may_be_brief && !fxt_field(frame->call_site, 0, FXT_WAIT_SYMBOL_BITS))
			agent_lock_describe(writer, wait->object, name);
		if (flow)
			agent_write_arrow(writer, FXT_EVENT_FLOW_END, FXT_WAIT_CATEGORY, "woken", name, ticks,
			        flow, NULL);
		agent_end_frame(writer, frame, ticks[2], end == WAIT_ABANDONED);
	}
	agent_release(writer);
}

/* A wait that is one call, as an expression with the call's result. errno stays as the call
 * leaves it. */
#define WAIT(waited_for, name, flow, call_it)                                                   \
	({                                                                                      \
		struct agent_wait wait_ = {                                                     \
		        .call = FXT_WAIT_##name, .object = (waited_for), .own_flow = (flow)};   \
		int result_, error_;                                                            \
                                                                                                \
		agent_sync_begin(&wait_);                                                       \
		result_ = (call_it);                                                            \
		error_ = errno;                                                                 \
		agent_sync_end(&wait_, result_ == 0 || result_ == PTHREAD_BARRIER_SERIAL_THREAD \
		                               ? WAIT_WOKEN                                     \
		                               : WAIT_IN_VAIN);                                 \
		errno = error_;                                                                 \
		result_;                                                                        \
	})

/* Runs if the thread is cancelled inside a wait, where it holds nothing of ours. */
static void sync_cancel_wait(void *wait)
{
	agent_sync_end(wait, WAIT_ABANDONED);
}

#define CANCELLABLE_WAIT(waited_for, name, call_it)                                          \
	({                                                                                   \
		struct agent_wait wait_ = {.call = FXT_WAIT_##name, .object = (waited_for)}; \
		int result_, error_;                                                         \
                                                                                             \
		agent_sync_begin(&wait_);                                                    \
		if (wait_.begin) {                                                           \
			pthread_cleanup_push(sync_cancel_wait, &wait_);                      \
			result_ = (call_it);                                                 \
			error_ = errno;                                                      \
			pthread_cleanup_pop(0);                                              \
		} else {                                                                     \
			result_ = (call_it);                                                 \
			error_ = errno;                                                      \
		}                                                                            \
		agent_sync_end(&wait_, result_ == 0 ? WAIT_WOKEN : WAIT_IN_VAIN);            \
		errno = error_;                                                              \
		result_;                                                                     \
	})

/* The attempt for each call that may wait. */
#define ATTEMPTS(X)                                             \
	X(pthread_mutex_lock, pthread_mutex_trylock)            \
	X(pthread_mutex_timedlock, pthread_mutex_trylock)       \
	X(pthread_mutex_clocklock, pthread_mutex_trylock)       \
	X(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock)      \
	X(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock) \
	X(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock) \
	X(pthread_rwlock_wrlock, pthread_rwlock_trywrlock)      \
	X(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock) \
	X(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock) \
	X(mtx_lock, mtx_trylock)                                \
	X(mtx_timedlock, mtx_trylock)                           \
	X(sem_wait, sem_trywait)                                \
	X(sem_timedwait, sem_trywait)                           \
	X(sem_clockwait, sem_trywait)                           \
	X(pthread_join, pthread_tryjoin_np)                     \
	X(pthread_timedjoin_np, pthread_tryjoin_np)             \
	X(pthread_clockjoin_np, pthread_tryjoin_np)             \
	X(thrd_join, pthread_tryjoin_np)

/* libc's own attempts, which no other interposing library sees. NULL: the call goes to such
 * a library, which must see every call; its waits are not recorded. */
static struct {
#define X(name, attempt) __typeof__(&attempt) name;
	ATTEMPTS(X)
#undef X
} attempts;

void agent_sync_prepare(void)
{
#define X(name, attempt)                                    \
	if ((void *)REAL(name) == agent_libc_symbol(#name)) \
		attempts.name = (__typeof__(&attempt))agent_libc_symbol(#attempt);
	ATTEMPTS(X)
#undef X
}

/* The attempt before a call of this function; NULL: the call is only passed on. */
#define ATTEMPT(name) (load_relaxed(&agent_recording) == AGENT_QUIET ? NULL : attempts.name)

/* True if a call with this time-out looks at the object. An invalid time-out may be refused
 * without a look, and then there was no wait. */
static bool sync_is_time(const struct timespec *limit)
{
	return limit && limit->tv_nsec >= 0 && limit->tv_nsec < 1000000000;
}

static bool sync_is_clock_time(clockid_t clock, const struct timespec *limit)
{
	return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && sync_is_time(limit);
}

typedef const struct timespec *restrict time_limit;

/* ---- locks: tried first, where the call would look at them ---- */

#define LOCK(name, busy, may_be_tried, parameters, arguments)                                           \
	EXPORT int name parameters                                                                      \
	{                                                                                               \
		__typeof__(attempts.name) attempt = ATTEMPT(name);                                      \
		int result;                                                                             \
                                                                                                        \
		if (!attempt || !(may_be_tried))                                                        \
			return REAL(name) arguments;                                                    \
		result = attempt(object);                                                               \
		return likely(result != (busy)) ? result : WAIT(object, name, 0, REAL(name) arguments); \
	}

#define LOCKS(type, lock, timed, clocked)                                                                   \
	LOCK(lock, EBUSY, true, (type * object), (object))                                                  \
	LOCK(timed, EBUSY, sync_is_time(limit), (type *restrict object, time_limit limit), (object, limit)) \
	LOCK(clocked, EBUSY, sync_is_clock_time(clock, limit),                                              \
	        (type *restrict object, clockid_t clock, time_limit limit), (object, clock, limit))

LOCKS(pthread_mutex_t, pthread_mutex_lock, pthread_mutex_timedlock, pthread_mutex_clocklock)
LOCKS(pthread_rwlock_t, pthread_rwlock_rdlock, pthread_rwlock_timedrdlock, pthread_rwlock_clockrdlock)
LOCKS(pthread_rwlock_t, pthread_rwlock_wrlock, pthread_rwlock_timedwrlock, pthread_rwlock_clockwrlock)
LOCK(mtx_lock, thrd_busy, true, (mtx_t * object), (object))
LOCK(mtx_timedlock, thrd_busy, sync_is_time(limit), (mtx_t *restrict object, time_limit limit),
        (object, limit))

/* ---- semaphores: the same, and a point of cancellation before they are looked at ---- */

#define SEMAPHORE(name, may_be_tried, parameters, arguments)                 \
	EXPORT int name parameters                                           \
	{                                                                    \
		__typeof__(attempts.name) attempt = ATTEMPT(name);           \
		int error = errno;                                           \
                                                                             \
		if (!attempt || !(may_be_tried))                             \
			return REAL(name) arguments;                         \
		pthread_testcancel();                                        \
		if (attempt(object) == 0)                                    \
			return 0;                                            \
		errno = error;                                               \
		return CANCELLABLE_WAIT(object, name, REAL(name) arguments); \
	}

SEMAPHORE(sem_wait, true, (sem_t * object), (object))
SEMAPHORE(sem_timedwait, sync_is_time(limit), (sem_t *restrict object, time_limit limit), (object, limit))
SEMAPHORE(sem_clockwait, sync_is_clock_time(clock, limit),
        (sem_t *restrict object, clockid_t clock, time_limit limit), (object, clock, limit))

/*
 * Writes an arrow if the release may let a waiter go on. Every arrow replaces the pending
 * one, since the waiter gets the lock from the last release before it runs. A release that
 * wakes no thread has an arrow only if a wait has begun since the latest arrow. That waiter
 * may not be asleep yet, and then it finds the lock free. An arrow from every release would
 * cost a contended lock many records for each wait: a thread may lock and unlock a hundred
 * thousand times before a woken waiter runs.
 */
static void sync_frees(struct entry *entry, const void *object, const char *name, enum lock_release release)
{
	if (release == LOCK_WAKES || (release == LOCK_FREED && load_relaxed(&entry->has_begun)))
		sync_release(entry, object, name, false);
}

/* A mutex of C11 has the same memory. */
static void sync_unlocks_mutex(const void *object, const char *name)
{
	struct entry *entry = sync_awaited(object);

	if (entry)
		sync_frees(entry, object, name, lock_release_of_mutex(object));
}

/* ---- condition variables, which release a mutex meanwhile ---- */

#define CONDITION(name, parameters, arguments)                               \
	EXPORT int name parameters                                           \
	{                                                                    \
		sync_unlocks_mutex(mutex, #name WAKES);                      \
		return CANCELLABLE_WAIT(object, name, REAL(name) arguments); \
	}

CONDITION(pthread_cond_wait, (pthread_cond_t *restrict object, pthread_mutex_t *restrict mutex),
        (object, mutex))
CONDITION(pthread_cond_timedwait,
        (pthread_cond_t *restrict object, pthread_mutex_t *restrict mutex, time_limit limit),
        (object, mutex, limit))
CONDITION(pthread_cond_clockwait,
        (pthread_cond_t *restrict object, pthread_mutex_t *restrict mutex, clockid_t clock, time_limit limit),
        (object, mutex, clock, limit))
CONDITION(cnd_wait, (cnd_t * object, mtx_t *mutex), (object, mutex))
CONDITION(cnd_timedwait, (cnd_t *restrict object, mtx_t *restrict mutex, time_limit limit),
        (object, mutex, limit))

/* ---- threads ---- */

#define JOIN(name, may_be_tried, parameters, arguments)                                                 \
	EXPORT int name parameters                                                                      \
	{                                                                                               \
		__typeof__(attempts.name) attempt = ATTEMPT(name);                                      \
		void *object = (void *)(uintptr_t)thread;                                               \
		int result;                                                                             \
                                                                                                        \
		if (!attempt || !(may_be_tried))                                                        \
			return REAL(name) arguments;                                                    \
		result = attempt(thread, value);                                                        \
		return result != EBUSY ? result : CANCELLABLE_WAIT(object, name, REAL(name) arguments); \
	}

JOIN(pthread_join, true, (pthread_t thread, void **value), (thread, value))
JOIN(pthread_timedjoin_np, !limit || sync_is_time(limit),
        (pthread_t thread, void **value, const struct timespec *limit), (thread, value, limit))
JOIN(pthread_clockjoin_np, !limit || sync_is_clock_time(clock, limit),
        (pthread_t thread, void **value, clockid_t clock, const struct timespec *limit),
        (thread, value, clock, limit))

EXPORT int thrd_join(thrd_t thread, int *code)
{
	__typeof__(attempts.thrd_join) attempt = ATTEMPT(thrd_join);
	void *value;
	int result;

	if (!attempt)
		return REAL(thrd_join)(thread, code);
	result = attempt(thread, &value);
	if (result == EBUSY)
		return CANCELLABLE_WAIT((void *)(uintptr_t)thread, thrd_join, REAL(thrd_join)(thread, code));
	if (result == 0 && code)
		*code = (int)(intptr_t)value;
	return result == 0 ? thrd_success : thrd_error;
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *object)
{
	uint64_t flow = agent_sync_released(object, "pthread_barrier_wait" WAKES);

	return WAIT(object, pthread_barrier_wait, flow, REAL(pthread_barrier_wait)(object));
}

/* ---- what lets others go on ---- */

/* A condition's first signal wakes a waiter. Further signals before that waiter runs begin
 * no arrow. */
static void sync_signals(const void *object, const char *name, bool is_for_all)
{
	struct entry *entry = sync_awaited(object);

	if (entry && !sync_has_flows(entry))
		sync_release(entry, object, name, is_for_all);
}

static void sync_signals_one(const void *object, const char *name)
{
	sync_signals(object, name, false);
}

static void sync_signals_all(const void *object, const char *name)
{
	sync_signals(object, name, true);
}

static void sync_posts(const void *object, const char *name)
{
	struct entry *entry = sync_awaited(object);

	if (entry)
		sync_frees(entry, object, name, lock_release_of_semaphore(object));
}

#define RELEASE(name, type, releases)          \
	EXPORT int name(type *object)          \
	{                                      \
		releases(object, #name WAKES); \
		return REAL(name)(object);     \
	}

RELEASE(pthread_mutex_unlock, pthread_mutex_t, sync_unlocks_mutex)
RELEASE(mtx_unlock, mtx_t, sync_unlocks_mutex)
RELEASE(sem_post, sem_t, sync_posts)
RELEASE(pthread_cond_signal, pthread_cond_t, sync_signals_one)
RELEASE(cnd_signal, cnd_t, sync_signals_one)
RELEASE(pthread_cond_broadcast, pthread_cond_t, sync_signals_all)
RELEASE(cnd_broadcast, cnd_t, sync_signals_all)

/* Several readers may leave at once, and the lock still counts each of them. So each
 * subtracts those that are leaving too. Otherwise none of them would see that it is the
 * last one. */
EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *object)
{
	struct entry *entry = sync_awaited(object);
	int error;

	if (likely(!entry))
		return REAL(pthread_rwlock_unlock)(object);
	uint32_t leaving = add_relaxed(&entry->leaving, 1);

	sync_frees(entry, object, "pthread_rwlock_unlock" WAKES, lock_release_of_rwlock(object, leaving));
	error = REAL(pthread_rwlock_unlock)(object);
	add_relaxed(&entry->leaving, -1);
	return error;
}

/* ---- what is done once ---- */

/* The state of a pthread_once_t and a once_flag of glibc. */
enum { ONCE_IS_RUNNING = 1, ONCE_IS_DONE = 2 };

/* The innermost call that has yet to run its routine. */
static __thread struct once {
	void (*routine)(void);
	const void *control;
	struct agent_wait wait; /* its begin: 0 = this call does not wait */
	struct once *outer;
} * sync_once;

static void sync_end_once(struct once *once, enum agent_wait_end end)
{
	int error = errno;

	agent_sync_end(&once->wait, end);
	once->wait.begin = 0;
	errno = error;
}

/* Runs in place of the routine, because all waiters go on behind it. A thread that waited
 * runs it if the one before was cancelled or left it by an exception. */
static void sync_run_once(void)
{
	struct once *once = sync_once;
	const void *control = once->control;

	sync_once = once->outer;
	sync_end_once(once, WAIT_IN_VAIN);
	once->routine();
	int error = errno;
	struct entry *entry = sync_awaited(control);

	if (entry)
		sync_release(entry, control, "pthread_once" WAKES, true);
	errno = error;
}

static void sync_begin_once(struct once *once, enum fxt_wait call, int state)
{
	once->outer = sync_once;
	once->wait = (struct agent_wait){.call = call, .object = once->control};
	sync_once = once;
	if (state & ONCE_IS_RUNNING)
		agent_sync_begin(&once->wait);
}

static bool sync_is_once(const int *control)
{
	return load_relaxed(&agent_recording) != AGENT_QUIET && !(load_relaxed(control) & ONCE_IS_DONE);
}

EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
	struct once once = {.routine = routine, .control = control};

	if (!sync_is_once(control))
		return REAL(pthread_once)(control, routine);
	sync_begin_once(&once, FXT_WAIT_pthread_once, load_relaxed(control));
	int error = REAL(pthread_once)(control, sync_run_once);

	sync_once = once.outer;
	sync_end_once(&once, WAIT_WOKEN);
	return error;
}

EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
	struct once once = {.routine = routine, .control = flag};

	if (!sync_is_once(&flag->__data)) {
		REAL(call_once)(flag, routine);
		return;
	}
	sync_begin_once(&once, FXT_WAIT_call_once, load_relaxed(&flag->__data));
	REAL(call_once)(flag, sync_run_once);
	sync_once = once.outer;
	sync_end_once(&once, WAIT_WOKEN);
}
