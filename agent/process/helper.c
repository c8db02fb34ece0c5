/* The helper thread (helper.h): its loop, its start and its end. Threads in hooks start it;
 * the loop runs on the helper alone. The loop must use nothing of the program's: neither
 * its thread-local storage nor the state of libc. */
#include "helper.h"
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include "agent/base/arch.h"
#include "agent/base/notice.h"
#include "writer/engine/last_thread.h"

#define STACK_BYTES (UINT64_C(128) << 10)
#define TLS_BYTES   (UINT64_C(16) << 10)
#define PAGE_BYTES  UINT64_C(4096) /* the smallest page of any kernel */
#define POLL_NS     UINT64_C(1000000)
/* After this many polls without a page to touch, the writers must wake the helper again. */
#define POLLS 100
/* A dismissed helper is waited for as often. */
#define DISMISSAL_POLLS 500

static struct {
	struct agent_helper_job job;
	uint32_t started; /* 1: it runs, or the thread that stored this is starting it */
	/* The helper has seen that agent_helper_wanted() is true, and need not be woken for
	 * it. */
	uint32_t populates;
	uint32_t stop;
	uint32_t tid; /* cleared and woken by the kernel when the thread is gone */
	/* Its stack, then its thread-local storage; kept for the next helper. */
	uint8_t *memory;
	struct fxt_lock way; /* held from agent_helper_make_way() to agent_helper_come_back() */
} helper;

/* The end of the pages that the helper may touch. The manager has yet to allocate those
 * beyond it. If the helper did that, it would lock the program's memory for longer on
 * kernels without a lock for each mapping. */
static uint64_t helper_pages_end(void)
{
	return agent_is_standalone ? agent_engine.header->total_size
	                           : load_acquire(&agent_engine.control->pages_end);
}

/*
 * Touches pages within reach of the writers; true when every page was touched. A read is
 * enough: in shared memory the kernel at once maps a page for writing, and with it the
 * existing pages among the 64 KiB around it. A touch takes the lock of this one mapping. An
 * madvise() that populates pages takes the lock of all memory: if the helper lost its
 * processor during that, any thread in mmap() or munmap() would wait for it.
 */
static bool helper_touch_ahead(uint64_t *done)
{
	const struct fxt_engine *e = &agent_engine;
	uint64_t total = e->header->total_size, end = helper_pages_end();
	unsigned buffer = e->mode == FXT_ONESHOT ? 0 : load_relaxed(&e->wrapped) & 1;
	uint64_t used = e->layout.rolling_offset[buffer] + load_relaxed(&e->rolling_used);

	/* Both halves were written to once, so all their pages are there. */
	if (load_relaxed(&e->wrapped) > 1)
		return true;
	if (*done < used) /* the writers were there: they faulted these pages in themselves */
		*done = used & ~(PAGE_BYTES - 1);
	if (end < total && end < used + FXT_PAGES_AHEAD_BYTES / 2)
		sys_futex_wake(&e->control->to_manager.written, 1); /* it may be asleep for 32 ms */
	if (end > total)
		end = total;
	for (; *done < end && *done < used + FXT_PAGES_AHEAD_BYTES; *done += PAGE_BYTES) {
		if (load_relaxed(&helper.stop))
			return true;
		(void)*(const volatile uint8_t *)(e->buffer + *done);
	}
	return *done >= total;
}

/* Ends the process in the way that the kernel ended its main thread: if a seccomp filter
 * kills the only thread, the kernel kills the process too. */
static void helper_die(uint32_t signal)
{
	/* Handler, flags, restorer and mask, in the kernel's layout. */
	static const uint64_t standard[4];
	const uint64_t others = ~(UINT64_C(1) << (signal - 1));

	arch_system_call(SYS_rt_sigaction, signal, (long)standard, 0, 8, 0, 0);
	arch_system_call(SYS_tgkill, sys_getpid(), sys_gettid(), signal, 0, 0, 0);
	arch_system_call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&others, 0, 8, 0, 0);
}

/* All other threads have ended, and the process ends with this one. As the exit code of the
 * process the kernel takes that of the main thread or, from Linux 5.19 on, that of the
 * thread that ended last. */
static void helper_end_process(struct fxt_control *control)
{
	uint32_t status = load_relaxed(&control->last_status);

	if (status & 0x7f)
		helper_die(status & 0x7f);
	store_release(&control->exiting, 1);
	arch_system_call(SYS_exit, status >> 8 & 0xff, 0, 0, 0, 0, 0);
}

static void helper_run(void)
{
	struct fxt_control *control = agent_engine.control;
	uint32_t number = load_relaxed(&control->helper) + 1;
	uint64_t done = 0, before;
	uint32_t recording = agent_engine.recording;
	unsigned polls = 0;
	bool populated = control->populate;

	/* Release: a thread that looks for a last thread after this counts the helper. */
	store_release(&control->helper, number);
	while (!load_acquire(&helper.stop) && !helper.job.is_over()) {
		uint32_t seen = load_acquire(helper.job.wakeup);
		bool is_more = helper.job.work();
		bool is_wanted = agent_helper_wanted() && agent_engine.state == FXT_ENGINE_STARTED;
		bool is_polling;

		/* The pages were given back in between. */
		if (recording != agent_engine.recording) {
			recording = agent_engine.recording;
			done = 0;
			populated = false;
		}
		store_relaxed(&helper.populates, is_wanted);
		before = done;
		populated = populated || (is_wanted && helper_touch_ahead(&done));
		polls = done == before ? polls + 1 : 0;
		is_polling = is_wanted && !populated && polls < POLLS;
		if (!is_polling && !populated)
			store_relaxed(&helper.populates, 0);
		if (fxt_last_thread_is(control, number))
			helper_end_process(control);
		if (!is_more && !helper.job.is_over())
			sys_futex_wait(helper.job.wakeup, seen, is_polling ? POLL_NS : helper.job.idle_ns);
	}
	if (helper.job.end)
		helper.job.end();
}

/* Creates the thread, which inherits its creator's credentials and signal mask: the caller
 * has blocked every signal. If the user's limit of threads is reached, the process
 * continues without a helper. */
static void helper_spawn(void)
{
	const unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
	                            CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

	if (!helper.memory)
		helper.memory = sys_map(STACK_BYTES + TLS_BYTES, PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1);
	uint8_t *thread_pointer = helper.memory + STACK_BYTES + TLS_BYTES / 2;
	bool is_there = helper.memory && arch_clone(helper_run, helper.memory + STACK_BYTES, flags,
	                                         &helper.tid, thread_pointer) > 0;

	if (!is_there && agent_is_standalone)
		agent_notice(
		        "no thread can be made to write the trace: it has only what the buffer holds", NULL);
}

void agent_helper_set_idle(uint64_t nanoseconds)
{
	helper.job.idle_ns = nanoseconds;
}

void agent_helper_prepare(struct agent_helper_job job)
{
	helper.job = job;
}

void agent_helper_start(void)
{
	if (load_relaxed(&sys_confinement) != SYS_FREE)
		return;
	if (load_relaxed(&helper.started) || exchange_acquire(&helper.started, 1)) {
		if (!load_relaxed(&helper.populates) && agent_helper_wanted())
			sys_futex_wake(helper.job.wakeup, 1);
		return;
	}
	/* Every signal stays with the program's own threads. */
	uint64_t mask = sys_block_signals();

	helper_spawn();
	sys_restore_signals(mask);
}

void agent_helper_forget(void)
{
	helper.started = helper.populates = helper.stop = helper.tid = helper.way.word = 0;
}

static void helper_end(void)
{
	uint32_t tid, gone = 0;

	store_release(&helper.stop, 1);
	while ((tid = load_acquire(&helper.tid)) != 0) {
		gone = tid;
		/* Again: the helper may have looked at `stop` before, and go to sleep only
		 * now. */
		sys_futex_wake(helper.job.wakeup, 1);
		sys_futex_wait(&helper.tid, tid, POLL_NS);
	}
	/* The kernel clears `tid` a moment before the thread is gone: until then unshare()
	 * and setns() would still fail. */
	while (gone && sys_thread_is_alive(sys_getpid(), (int)gone))
		sys_pause_ns(POLL_NS / 20);
}

bool agent_helper_dismiss(void)
{
	uint32_t tid = 0;

	store_release(&helper.stop, 1);
	for (unsigned polls = 0; polls < DISMISSAL_POLLS && (tid = load_acquire(&helper.tid)) != 0; polls++) {
		sys_futex_wake(helper.job.wakeup, 1);
		sys_futex_wait(&helper.tid, tid, POLL_NS);
	}
	if (tid)
		store_release(&helper.stop, 0);
	else
		agent_helper_forget();
	return !tid;
}

void agent_helper_stop(void)
{
	helper_end();
	agent_helper_forget();
}

/* ---- making way ---- */

bool agent_helper_is_running(void)
{
	return load_relaxed(&helper.started) && agent_is_own_process();
}

uint64_t agent_helper_make_way(void)
{
	uint64_t mask = fxt_lock(&helper.way);

	helper_end();
	return mask;
}

void agent_helper_come_back(uint64_t mask)
{
	int error = errno;

	store_relaxed(&helper.stop, 0);
	helper_spawn();
	fxt_unlock(&helper.way, mask);
	errno = error;
}
