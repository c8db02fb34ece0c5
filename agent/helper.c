/*
 * The helper thread. A fresh page costs more than the whole call that touches it first, so the helper
 * populates pages ahead of the writers, and ends when the whole buffer is. Without a manager it also saves
 * full buffers.
 *
 * It is a raw clone, not a pthread: it can be started inside a hook (pthread_create allocates), libc does not
 * count it (a program whose main thread ends by pthread_exit still ends), and it runs on nothing of the
 * program's: its thread pointer shows a page of zeros.
 */
#include "agent.h"
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>

#define STACK_BYTES    (UINT64_C(128) << 10)
#define TLS_BYTES      (UINT64_C(16) << 10)
#define AHEAD_BYTES    (UINT64_C(48) << 20)
#define STEP_BYTES     (UINT64_C(1) << 20)
#define POLL_NS        UINT64_C(1000000)
#define POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, Linux 5.14 */

static struct {
	uint32_t started; /* exchange decides who starts it */
	uint32_t stop;
	uint32_t tid; /* cleared and woken by the kernel when the thread is gone */
} helper;

/* Populates what lies within reach of the writers; true when every page was. */
static bool populate_ahead(uint64_t *done)
{
	const struct fxt_engine *e = &agent_engine;
	uint64_t total = e->header->total_size;
	unsigned buffer = e->mode == FXT_ONESHOT ? 0 : load_relaxed(&e->wrapped) & 1;
	uint64_t used = e->layout.rolling_offset[buffer] + load_relaxed(&e->rolling_used);

	if (load_relaxed(&e->wrapped) > 1) /* both halves were written to once */
		return true;
	if (*done < used) /* too late for these */
		*done = used & ~UINT64_C(4095);
	while (*done < total && *done < used + AHEAD_BYTES) {
		uint64_t bytes = total - *done < STEP_BYTES ? total - *done : STEP_BYTES;

		if (load_relaxed(&helper.stop))
			return true;
		if (sys_advise(e->buffer + *done, bytes, POPULATE_WRITE) < 0)
			return true; /* an older kernel, or no memory: the writers fault pages in themselves
			              */
		*done += bytes;
	}
	return *done >= total;
}

static int run(void *unused)
{
	struct fxt_control *control = agent_engine.control;
	uint64_t done = 0;
	bool populated = false;

	(void)unused;
	while (!load_acquire(&helper.stop)) {
		uint32_t seen = load_acquire(&control->to_manager.written);

		populated = populated || populate_ahead(&done);
		if (!agent_is_standalone) {
			if (populated)
				break;
			sys_pause_ns(POLL_NS);
			continue;
		}
		store_relaxed(&control->heartbeat, control->heartbeat + 1);
		if (!agent_standalone_save())
			sys_futex_wait(
			        &control->to_manager.written, seen, populated ? 100 * POLL_NS : POLL_NS);
	}
	return 0;
}

void agent_helper_start(void)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
	                  CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	uint8_t *memory;

	if (load_relaxed(&helper.started) || exchange_acquire(&helper.started, 1))
		return;
	memory = sys_map(
	        STACK_BYTES + TLS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1);
	if (!memory)
		return;
	uint8_t *thread_pointer = memory + STACK_BYTES + TLS_BYTES / 2;

#if defined(__x86_64__)
	*(void **)thread_pointer = thread_pointer; /* the ABI's pointer to itself */
#endif
	/* The thread inherits the mask: every signal stays with the program's own threads. */
	uint64_t mask = sys_block_signals();

	clone(run, memory + STACK_BYTES, flags, NULL, &helper.tid, thread_pointer, &helper.tid);
	sys_restore_signals(mask);
}

void agent_helper_forget(void)
{
	helper.started = helper.stop = helper.tid = 0;
}

void agent_helper_stop(void)
{
	uint32_t tid;

	store_release(&helper.stop, 1);
	sys_futex_wake(&agent_engine.control->to_manager.written, 1);
	while ((tid = load_acquire(&helper.tid)) != 0)
		sys_futex_wait(&helper.tid, tid, 100000000);
	agent_helper_forget();
}
