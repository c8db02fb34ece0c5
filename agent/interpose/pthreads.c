/*
 * Interposed functions that create, name and end threads. They run on the creating thread,
 * and on the new one before its first code and after its last. They must never make the
 * program's own call fail: without memory, or without a key, a thread is only recorded less
 * well.
 */
#include "pthreads.h"
#include "agent/base/arch.h"
#include "agent/base/attributes.h"
#include "agent/hook/events.h"
#include "agent/heap/heap_state.h"
#include "agent/base/notice.h"
#include "logs.h"
#include "agent/base/real.h"
#include "sandbox.h"
#include "agent/hook/shadow.h"
#include "agent/hook/slow_path.h"
#include "agent/hook/stacks.h"
#include "sync.h"
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define CATEGORY "process"

struct start {
	void *(*routine)(void *);
	thrd_start_t c11_routine; /* from thrd_create(), in place of `routine` */
	void *argument;
	uint64_t stack_low, stack_bytes; /* low 0: the library places the stack */
	uint64_t guard_bytes;            /* at the low end of such a stack, unusable */
	uint64_t flow;                   /* from the call that creates the thread */
};

static pthread_key_t end_key;
static uint32_t has_end_key; /* 0: none was to be had, or the program has it now */

static void pthreads_end(void *unused)
{
	struct fxt_thread_writer *writer = agent_self.writer;

	(void)unused;
	agent_log_flush(true);
	if (!load_relaxed(&agent_recording) || !writer || fxt_engine_was_forked(&agent_engine))
		return;
	if (writer->busy != FXT_IDLE) /* ended by a handler that had interrupted a hook */
		agent_leave_hook();
	writer->busy = FXT_SLOW_PATH;
	agent_abandon_all(writer);
	store_release(&writer->busy, FXT_IDLE);
	agent_instant(CATEGORY, "thread ends", NULL, 0);
	agent_sync_released((const void *)(uintptr_t)pthread_self(), "wakes who joins it");
}

/* Bytes of thread-local variables, of all modules loaded at the start, behind a thread's
 * control block; 0 on machines that place them before it. */
static uint64_t bytes_behind;

static int pthreads_add_local_variables(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)bytes;
	(void)unused;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			bytes_behind += info->dlpi_phdr[i].p_memsz;
	return 0;
}

void agent_pthreads_prepare(void)
{
	if (ARCH_VARIABLES_BEHIND_THREAD)
		dl_iterate_phdr(pthreads_add_local_variables, NULL);
	has_end_key = REAL(pthread_key_create)(&end_key, pthreads_end) == 0;
	if (has_end_key)
		pthread_setspecific(end_key, &end_key);
}

/* Has pthreads_end() run when the calling thread ends. No code of the program has run on
 * the thread yet. */
static void pthreads_watch_end(void)
{
	if (!load_acquire(&has_end_key))
		return;
	pthread_setspecific(end_key, &end_key);
	/* The key was given to the program in between: takes back a value that libc would
	 * take for one of the new key. */
	if (!load_acquire(&has_end_key))
		pthread_setspecific(end_key, NULL);
}

/* A process has PTHREAD_KEYS_MAX keys, and the program gets the last one. Without our key
 * the ends of threads are not recorded. libc does not take a value of ours for one of a key
 * that it creates later. */
static bool pthreads_give_key_back(void)
{
	return exchange_acquire(&has_end_key, 0) && pthread_key_delete(end_key) == 0;
}

EXPORT int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	int error = REAL(pthread_key_create)(key, destructor);

	return error == EAGAIN && pthreads_give_key_back() ? REAL(pthread_key_create)(key, destructor)
	                                                   : error;
}

EXPORT int tss_create(tss_t *key, tss_dtor_t destructor)
{
	int result = REAL(tss_create)(key, destructor);

	return result == thrd_error && pthreads_give_key_back() ? REAL(tss_create)(key, destructor) : result;
}

/* In the new thread, before any code of the program: registers its stack, gives it a slot,
 * and records its beginning. */
static struct start pthreads_begin(struct start *given)
{
	struct start start = *given;

	sys_unmap(given, sizeof(start));
	/* The thread's control block lies at the end of its stack, in the last page or two,
	 * with only the thread-local variables behind it. */
	if (!start.stack_low)
		start.stack_low = ((uint64_t)pthread_self() + bytes_behind - start.stack_bytes + 4095) &
		                  ~UINT64_C(4095);
	else
		start.guard_bytes = 0;
	agent_set_stack(start.stack_low, start.stack_bytes, start.stack_low + start.guard_bytes);
	agent_coroutines_leave(start.stack_low, start.stack_bytes);
	if (load_relaxed(&agent_recording) != AGENT_QUIET && !agent_is_withheld()) {
		struct fxt_thread_writer *writer = agent_attach();

		if (writer)
			writer->pthread = (uint64_t)pthread_self();
		agent_mark_flow(CATEGORY, "thread begins", start.flow, true, NULL);
	}
	pthreads_watch_end();
	return start;
}

static void *pthreads_run(void *argument)
{
	struct start start = pthreads_begin(argument);

	return start.routine(start.argument);
}

static int pthreads_run_c11(void *argument)
{
	struct start start = pthreads_begin(argument);

	return start.c11_routine(start.argument);
}

static void pthreads_describe_stack(const pthread_attr_t *attributes, struct start *start)
{
	pthread_attr_t standard;
	void *low;
	size_t bytes;

	if (!attributes) {
		pthread_attr_init(&standard);
		attributes = &standard;
	}
	if (pthread_attr_getstack(attributes, &low, &bytes) == 0 && bytes && (uintptr_t)low + bytes)
		start->stack_low = (uint64_t)(uintptr_t)low;
	pthread_attr_getstacksize(attributes, &bytes);
	start->stack_bytes = bytes;
	pthread_attr_getguardsize(attributes, &bytes);
	start->guard_bytes = bytes;
}

/* The description of a new thread, in memory of its own. NULL: there is no memory, and the
 * thread enters the trace with its first call. */
static struct start *pthreads_new_start(const pthread_attr_t *attributes)
{
	struct start *start = NULL;

	agent_begin(false);
	/* Before there is another thread: only the thread that was forked can forget its
	 * parent's writers. */
	if (fxt_engine_was_forked(&agent_engine))
		agent_rebirth();
	if (agent_engine.state != FXT_ENGINE_NONE)
		start = sys_map(sizeof(*start), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (start)
		pthreads_describe_stack(attributes, start);
	return start;
}

/* Begins an arrow to a new thread; 0 = it is not recorded. */
static uint64_t pthreads_begin_flow(const char *name)
{
	uint64_t flow = agent_new_flow();

	return agent_mark_flow(CATEGORY, name, flow, false, NULL) ? flow : 0;
}

EXPORT int pthread_create(
        pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
	struct start *start = pthreads_new_start(attributes);
	int error;

	if (!start)
		return REAL(pthread_create)(thread, attributes, routine, argument);
	start->routine = routine;
	start->argument = argument;
	start->flow = pthreads_begin_flow("pthread_create: a new thread");
	error = REAL(pthread_create)(thread, attributes, pthreads_run, start);
	if (error)
		sys_unmap(start, sizeof(*start));
	return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
	struct start *start = pthreads_new_start(NULL);
	int result;

	if (!start)
		return REAL(thrd_create)(thread, routine, argument);
	start->c11_routine = routine;
	start->argument = argument;
	start->flow = pthreads_begin_flow("thrd_create: a new thread");
	result = REAL(thrd_create)(thread, pthreads_run_c11, start);
	if (result != thrd_success)
		sys_unmap(start, sizeof(*start));
	return result;
}

EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	void *more[3];
	va_list list;

	va_start(list, argument);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(list, void *);
	va_end(list);
	agent_clones((unsigned)flags);
	if (flags & (CLONE_VM | CLONE_SETTLS))
		return REAL(clone)(function, stack, flags, argument, more[0], more[1], more[2]);
	agent_self_before_fork(false);
	int child = REAL(clone)(function, stack, flags, argument, more[0], more[1], more[2]);

	agent_self_in_parent();
	return child;
}

/* A name given from another thread; the handle identifies the named thread. */
static void pthreads_rename_by_handle(uint64_t handle, const char *name)
{
	struct fxt_engine *e = &agent_engine;
	uint32_t used = load_acquire(&e->control->slots_used);

	for (uint32_t i = 0; i < used; i++)
		if (e->writers[i].pthread == handle && load_acquire(&fxt_slot(e, i)->state) == FXT_SLOT_LIVE)
			fxt_thread_rename(e, NULL, i, name);
}

void agent_rename_self(const char *name)
{
	struct fxt_thread_writer *writer =
	        load_relaxed(&agent_recording) ? agent_attach() : agent_self.writer;

	if (!writer || writer->busy != FXT_IDLE)
		return;
	writer->busy = FXT_SLOW_PATH;
	fxt_thread_rename(&agent_engine, writer, writer->number, name);
	store_release(&writer->busy, FXT_IDLE);
}

EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	int error = REAL(pthread_setname_np)(thread, name);

	if (error)
		return error;
	if (pthread_equal(thread, pthread_self()))
		agent_rename_self(name);
	else if (agent_engine.state != FXT_ENGINE_NONE && !fxt_engine_was_forked(&agent_engine) &&
	         load_relaxed(&sys_confinement) == SYS_FREE)
		pthreads_rename_by_handle((uint64_t)thread, name);
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
	bool confines = agent_prctl_confines((unsigned)operation, a[0], a[1]);

	if (confines)
		agent_sandbox_begins(a[0] == SECCOMP_MODE_STRICT);
	/* From now on the kernel kills this thread if it reads the counter. */
	if (operation == PR_SET_TSC)
		agent_clock_changes(a[0]);
	result = REAL(prctl)(operation, a[0], a[1], a[2], a[3]);
	if (operation == PR_SET_TSC)
		agent_clock_has_changed(a[0], result != 0);
	if (confines && result != 0)
		agent_sandbox_withdrawn();
	if (operation == PR_SET_NAME && result == 0)
		agent_rename_self((const char *)a[0]);
	return result;
}
