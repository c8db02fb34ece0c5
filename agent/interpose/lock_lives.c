/*
 * The set of locks that threads have waited for, the calls that have locks on their stacks,
 * and the functions that end a lock's life.
 * The set has a bit for each address and a bit for each page, both by a hash. If two locks
 * share a bit, the end of one hides that of the other, or a lock that was not awaited gets
 * an end, which readers pass over. An end must be recorded before the memory is used again.
 */
#include "lock_lives.h"
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>
#include "agent/base/real.h"
#include "agent/base/safe_copy.h"
#include "agent/hook/events.h"
#include "agent/hook/frames.h"
#include "agent/process/modules.h"
#include "writer/engine/waits.h"

#define PAGE_BYTES UINT64_C(4096)
#define LOCK_ALIGN UINT64_C(4)
#define SET_WORDS  1024

#define OBJECT_WORDS 8 /* with a type's name */

HIDDEN uint64_t agent_locks_high;

static uint64_t awaited[SET_WORDS];       /* by address */
static uint64_t described[SET_WORDS];     /* by address: those with an object record */
static uint64_t generation;               /* of those records: a buffer may be dropped */
static uint64_t awaited_pages[SET_WORDS]; /* pages are never taken out */

static uint64_t *lives_word(uint64_t set[SET_WORDS], uint64_t value, uint64_t *bit)
{
	uint64_t hash = fxt_function_hash(value);

	*bit = UINT64_C(1) << (hash % 64);
	return &set[hash / 64 % SET_WORDS];
}

static bool lives_has(uint64_t set[SET_WORDS], uint64_t value)
{
	uint64_t bit;

	return load_relaxed(lives_word(set, value, &bit)) & bit;
}

static void lives_add(uint64_t set[SET_WORDS], uint64_t value)
{
	uint64_t bit, *word = lives_word(set, value, &bit);

	if (!(load_relaxed(word) & bit))
		or_relaxed(word, bit);
}

/* True for the one thread that takes the value out. */
static bool lives_take(uint64_t set[SET_WORDS], uint64_t value)
{
	uint64_t bit, *word = lives_word(set, value, &bit);

	return and_relaxed(word, ~bit) & bit;
}

static void lives_end(uint64_t address)
{
	const struct fxt_argument lock = fxt_argument_pointer(agent_text("object"), address);

	if (!lives_has(awaited, address) || !lives_take(awaited, address))
		return;
	lives_take(described, address);
	agent_instant(FXT_WAIT_CATEGORY, "lock ends", &lock, 1);
}

/* ---- locks on stacks ---- */

/* The call that has an awaited lock on its stack, by a hash of the lock's address. */
static struct {
	uint64_t address, call;
} on_stack[256];

/* The slot of the thread on whose stack the address is. NULL: it is on no known stack. A
 * thread that died may have had the same memory, so the slot is that of the latest one. */
static const struct fxt_thread_slot *lives_slot_around(uint64_t address, uint64_t *low)
{
	struct fxt_engine *e = &agent_engine;
	uint32_t count = load_acquire(&e->control->slots_used); /* pairs with fxt_slot_open() */
	const struct fxt_thread_slot *latest = NULL;

	for (uint32_t i = 0; i < count; i++) {
		const struct fxt_thread_slot *slot = fxt_slot(e, i);
		uint64_t stack_low = load_relaxed(&e->writers[i].stack_low);

		if (!stack_low || load_acquire(&slot->state) != FXT_SLOT_LIVE || !slot->tid ||
		        slot->is_nested)
			continue;
		if (address - stack_low >= load_relaxed(&fxt_slot_frames(e, slot)[-1].stack_offset) ||
		        (latest && latest->began > slot->began))
			continue;
		latest = slot;
		*low = stack_low;
	}
	return latest;
}

static bool lives_was_called_from(const struct fxt_frame *frame, uint64_t stack_pointer)
{
	uint64_t return_address = 0, site = load_relaxed(&frame->call_site);

	return agent_copy(stack_pointer - sizeof(return_address), &return_address, sizeof(return_address)) ==
	               sizeof(return_address) &&
	       ((return_address ^ site) & ~FXT_FRAME_STATE) == 0;
}

/*
 * The start of the recorded call that has the address on its stack, or of a call around
 * that one; 0: there is none. Another thread may own the stack. Its frames down to that
 * call stay while the lock is in use.
 *
 * A frame's stack pointer may be that before or that after the function made room for its
 * variables. So the innermost frame above the address has the lock or is around the call
 * that has it. The next frame below has it if it was called from that frame itself: else
 * the lock may belong to a function in between that is not recorded.
 */
static uint64_t lives_call_around(uint64_t address)
{
	uint64_t low = 0;
	const struct fxt_thread_slot *slot = lives_slot_around(address, &low);
	const struct fxt_frame *frame, *outer, *top;

	if (!slot)
		return 0;
	frame = fxt_slot_frames(&agent_engine, slot);
	outer = frame - 1;
	for (top = slot_top(slot); frame < top; frame++) {
		if (!fxt_is_counted(load_relaxed(&frame->function)))
			continue;
		if (load_relaxed(&frame->stack_offset) <= address - low)
			break;
		outer = frame;
	}
	if (outer == fxt_slot_frames(&agent_engine, slot) - 1)
		return 0;
	if (frame < top && lives_was_called_from(frame, load_relaxed(&outer->stack_offset) + low))
		outer = frame;
	return load_relaxed(&outer->start);
}

/* Ends the life of the lock at this address if that was on the stack of another call. */
static void lives_look_at_stack(uint64_t address)
{
	size_t at = fxt_function_hash(address) % (sizeof(on_stack) / sizeof(*on_stack));
	uint64_t call = lives_call_around(address), before = load_relaxed(&on_stack[at].call);

	if (!call)
		return;
	if (load_relaxed(&on_stack[at].address) == address && before != call)
		lives_end(address);
	store_relaxed(&on_stack[at].call, call);
	store_relaxed(&on_stack[at].address, address);
}

/* ---- objects ---- */

static const char *lives_type(const char *call)
{
	static const struct {
		const char *begin, *type;
	} types[] = {
	        {"pthread_mutex_", "pthread_mutex_t"},
	        {"pthread_rwlock_", "pthread_rwlock_t"},
	        {"pthread_cond_", "pthread_cond_t"},
	        {"pthread_barrier_", "pthread_barrier_t"},
	        {"pthread_once", "pthread_once_t"},
	        {"pthread_", "pthread_t"}, /* a thread that is joined */
	        {"mtx_", "mtx_t"},
	        {"cnd_", "cnd_t"},
	        {"sem_", "sem_t"},
	        {"call_once", "once_flag"},
	        {"thrd_", "thrd_t"},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strncmp(call, types[i].begin, strlen(types[i].begin)) == 0)
			return types[i].type;
	return call;
}

void agent_lock_describe(struct fxt_thread_writer *writer, const void *lock, const char *call)
{
	uint64_t address = (uint64_t)(uintptr_t)lock, drops = load_relaxed(&agent_engine.drops);
	uint64_t record[OBJECT_WORDS];

	FXT_ASSERT_SLOW_PATH(writer);
	if (load_relaxed(&generation) != drops) {
		memset(described, 0, sizeof(described));
		store_relaxed(&generation, drops);
	}
	if (lives_has(described, address))
		return;
	lives_add(described, address);
	fxt_chunk_write(&agent_engine, writer, record,
	        fxt_put_userspace_object(record, OBJECT_WORDS,
	                fxt_thread_inline(agent_engine.process_koid, 0), address,
	                agent_text(lives_type(call)), NULL, 0));
}

/* ---- the interface ---- */

void agent_lock_is_awaited(const void *lock, bool is_static)
{
	uint64_t address = (uint64_t)(uintptr_t)lock, high = load_relaxed(&agent_locks_high);

	if (!is_static && address >= load_relaxed(&agent_lowest_stack))
		lives_look_at_stack(address);
	lives_add(awaited, address);
	lives_add(awaited_pages, address / PAGE_BYTES);
	while (address > high && !compare_exchange_acquire(&agent_locks_high, &high, address))
		;
}

void agent_lock_lives_forget(void)
{
	memset(awaited, 0, sizeof(awaited));
	memset(described, 0, sizeof(described));
	memset(awaited_pages, 0, sizeof(awaited_pages));
	agent_locks_high = 0;
}

void agent_locks_end(const void *memory, size_t bytes)
{
	uint64_t address = (uint64_t)(uintptr_t)memory, end = address + bytes;

	while (address < end) {
		uint64_t page_end = address / PAGE_BYTES * PAGE_BYTES + PAGE_BYTES;

		if (lives_has(awaited_pages, address / PAGE_BYTES))
			for (; address < page_end && address < end; address += LOCK_ALIGN)
				lives_end(address);
		address = page_end;
	}
}

/* A lock's life ends when it is destroyed, and when another one is made at its address. */
#define END_OF_LIFE(name, parameters, arguments)      \
	EXPORT int name parameters                    \
	{                                             \
		lives_end((uint64_t)(uintptr_t)lock); \
		return REAL(name) arguments;          \
	}

END_OF_LIFE(pthread_mutex_init, (pthread_mutex_t * lock, const pthread_mutexattr_t *attributes),
        (lock, attributes))
END_OF_LIFE(pthread_mutex_destroy, (pthread_mutex_t * lock), (lock))
END_OF_LIFE(pthread_rwlock_init,
        (pthread_rwlock_t *restrict lock, const pthread_rwlockattr_t *restrict attributes),
        (lock, attributes))
END_OF_LIFE(pthread_rwlock_destroy, (pthread_rwlock_t * lock), (lock))
END_OF_LIFE(sem_init, (sem_t * lock, int is_shared, unsigned value), (lock, is_shared, value))
END_OF_LIFE(sem_destroy, (sem_t * lock), (lock))
END_OF_LIFE(mtx_init, (mtx_t * lock, int type), (lock, type))

EXPORT void mtx_destroy(mtx_t *lock)
{
	lives_end((uint64_t)(uintptr_t)lock);
	REAL(mtx_destroy)(lock);
}
