/*
 * Threads: born with a slot, so that each has a name in the trace even if it calls nothing we record; at
 * their end what they left open is recorded as abandoned (pthread_exit and cancellation run no exit hooks).
 */
#include "agent.h"
#include "real.h"
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define EXPORT __attribute__((visibility("default")))

struct start {
	void *(*routine)(void *);
	void *argument;
};

static pthread_key_t end_key;
static bool has_end_key;

static void thread_ends(void *unused)
{
	struct fxt_block *block = agent_self.block;

	(void)unused;
	if (load_relaxed(&agent_recording) && block && !fxt_engine_was_forked(&agent_engine))
		agent_abandon_all(block);
}

void agent_threads_prepare(void)
{
	has_end_key = pthread_key_create(&end_key, thread_ends) == 0;
	if (has_end_key)
		pthread_setspecific(end_key, &end_key);
}

static void *run(void *argument)
{
	struct start start = *(struct start *)argument;

	sys_unmap(argument, sizeof(start));
	if (load_relaxed(&agent_recording)) {
		struct fxt_block *block = agent_attach();

		if (block)
			block->handle = (uint64_t)pthread_self();
	}
	if (has_end_key)
		pthread_setspecific(end_key, &end_key);
	return start.routine(start.argument);
}

EXPORT int pthread_create(
        pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
	struct start *start;
	int error;

	if (!load_relaxed(&agent_recording))
		return real_pthread_create(thread, attributes, routine, argument);
	start = sys_map(sizeof(*start), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!start) /* the thread comes into the trace with its first call */
		return real_pthread_create(thread, attributes, routine, argument);
	*start = (struct start){routine, argument};
	error = real_pthread_create(thread, attributes, run, start);
	if (error)
		sys_unmap(start, sizeof(*start));
	return error;
}

/* A name given from another thread; the handle finds whose it is. */
static void rename_by_handle(uint64_t handle, const char *name)
{
	struct fxt_engine *e = &agent_engine;
	uint32_t used = load_acquire(&e->control->slots_used);

	for (uint32_t i = 0; i < used; i++)
		if (e->blocks[i].handle == handle && load_acquire(&fxt_slot(e, i)->state) == FXT_SLOT_LIVE)
			fxt_thread_rename(e, NULL, i, name);
}

static void rename_self(const char *name)
{
	struct fxt_block *block = load_relaxed(&agent_recording) ? agent_attach() : NULL;

	if (!block || block->busy != FXT_IDLE)
		return;
	block->busy = FXT_OUT_OF_LINE;
	fxt_thread_rename(&agent_engine, block, block->number, name);
	store_release(&block->busy, FXT_IDLE);
}

EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	int error = real_pthread_setname_np(thread, name);

	if (error)
		return error;
	if (pthread_equal(thread, pthread_self()))
		rename_self(name);
	else if (load_relaxed(&agent_recording) && !fxt_engine_was_forked(&agent_engine))
		rename_by_handle((uint64_t)thread, name);
	return 0;
}

EXPORT int prctl(int operation, ...)
{
	unsigned long a[4];
	va_list list;
	int result;

	va_start(list, operation);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	result = real_prctl(operation, a[0], a[1], a[2], a[3]);
	if (operation == PR_SET_NAME && result == 0)
		rename_self((const char *)a[0]);
	return result;
}
