/*
 * The state of the calling thread and of the process (self.h): withheld threads, attaching,
 * the beginning, and forks. Runs on the program's threads, in hooks, interposed functions
 * and signal handlers. It must not change errno or touch the recording of a forked child's
 * parent.
 */
#include "self.h"
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <string.h>
#include <sys/prctl.h>
#include "agent/hook/filter.h"
#include "agent/hook/frames.h"
#include "libc.h"
#include "notice.h"
#include "symbols.h"

__thread struct agent_self agent_self;
struct fxt_engine agent_engine;
int32_t agent_recording, agent_hooks = AGENT_GENERAL;
bool agent_is_standalone;

uint32_t *agent_untraced;

static void (*begin_anew)(void), (*detach)(void);

void agent_set_stack(uint64_t low, uint64_t bytes, uint64_t end)
{
	agent_self.stack_end = end;
	agent_self.stack_low = low;
	agent_self.stack_bytes = bytes;
}

/* ---- threads that are not recorded ---- */

static uint32_t threads_lack_clock; /* 1: some may not read it, nor may their children */

bool agent_may_read_clock(void)
{
	int mode = PR_TSC_ENABLE;

	return sys_call(SYS_prctl, PR_GET_TSC, &mode, 0, 0) != 0 || mode != PR_TSC_SIGSEGV;
}

bool agent_is_withheld(void)
{
	if (unlikely(load_relaxed(&threads_lack_clock)) && !agent_self.withheld && !agent_may_read_clock())
		agent_self.withheld = AGENT_NO_CLOCK;
	return agent_self.withheld;
}

void agent_withhold(enum agent_withheld why)
{
	if (why == AGENT_NO_CLOCK)
		store_relaxed(&threads_lack_clock, 1);
	agent_self.withheld = why;
	if (!agent_self.writer) /* else the slot stays the thread's */
		agent_self.slot = NULL;
	agent_self.writer = agent_self.nested = NULL;
}

void agent_withhold_no_more(void)
{
	const struct fxt_thread_slot *slots = fxt_control_slot(agent_engine.control, 0);

	agent_self.withheld = AGENT_NOT_WITHHELD;
	if (agent_self.slot)
		agent_self.writer = &agent_engine.writers[agent_self.slot - slots];
}

/* ---- a thread's writer ---- */

/* The `agent_self` of the threads that have slots, by slot. NULL: they are not noted. */
static struct agent_self **threads;

#define THREADS_BYTES (FXT_SLOTS * sizeof(*threads))

void agent_note_threads(void)
{
	if (!threads)
		threads = sys_map(THREADS_BYTES, PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

/* A thread's memory may be gone, and in use by others. It is still the thread's if it has
 * the address of the thread's writer. */
void agent_forget_threads(bool (*read)(uint64_t address, void *bytes, size_t count),
        bool (*write)(uint64_t address, const void *bytes, size_t count))
{
	for (uint32_t i = 0; threads && i < agent_engine.control->slots_used; i++) {
		uint64_t address = (uint64_t)(uintptr_t)threads[i];
		struct agent_self self;

		if (!address || !read(address, &self, sizeof(self)) ||
		        self.writer != &agent_engine.writers[i])
			continue;
		self.writer = self.nested = self.claimed = self.other = self.entered = NULL;
		self.coroutine = NULL;
		self.claim_mask = 0;
		self.owner = 0;
		write(address, &self, sizeof(self));
	}
	if (threads)
		sys_advise(threads, THREADS_BYTES, MADV_DONTNEED);
}

uint64_t agent_lowest_stack = UINT64_MAX;

/* Tells other threads where the stack of the calling one is, if that is known. */
static void self_tell_stack(struct fxt_thread_writer *writer)
{
	uint64_t low = agent_self.stack_low, lowest = load_relaxed(&agent_lowest_stack);

	store_relaxed(&writer->stack_low, low);
	while (low && low < lowest && !compare_exchange_acquire(&agent_lowest_stack, &lowest, low))
		;
}

struct fxt_thread_writer *agent_attach(void)
{
	uint64_t mask;

	if (likely(agent_self.writer)) {
		agent_check_thread();
		return agent_self.writer;
	}
	/* The id of a confined thread is not available. */
	if (agent_is_withheld() || load_relaxed(&sys_confinement) != SYS_FREE) {
		add_relaxed(&agent_engine.control->lost_without_slot, 1);
		return NULL;
	}
	/* A handler between taking the slot and storing it would take another slot. */
	mask = sys_block_signals();
	/* A handler may have made a child, and this is not that child's first call any
	 * more. */
	if (!agent_self.writer && !fxt_engine_was_forked(&agent_engine)) {
		struct fxt_thread_writer *writer = fxt_thread_attach(&agent_engine);

		if (writer) {
			agent_self.slot = fxt_slot(&agent_engine, writer->number);
			if (!agent_self.stack_bytes)
				agent_set_stack(0, UINT64_MAX, 0);
			set_sentinel(agent_self.slot, agent_self.stack_bytes);
			self_tell_stack(writer);
			agent_self.writer = writer;
			if (threads)
				threads[writer->number] = &agent_self;
		}
	}
	sys_restore_signals(mask);
	agent_check_thread();
	return agent_self.writer;
}

/* ---- threads that share agent_self ---- */

static uint32_t threads_lend;

void agent_clones(unsigned long flags)
{
	/* A vfork child uses it while its parent waits. */
	if ((flags & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS)) != CLONE_VM || agent_self.owner)
		return;
	if (load_relaxed(&agent_recording) == AGENT_QUIET || !agent_is_own_process() || !agent_attach())
		return;
	agent_self.owner = sys_gettid();
	store_relaxed(&threads_lend, 1);
	if (agent_records_calls())
		agent_set_recording(agent_recording_of_calls());
}

uint32_t agent_notes;
uint32_t agent_counts_only;
static enum agent_recording recording_before; /* AGENT_QUIET: agent_end_counting() does nothing */

void agent_set_recording(enum agent_recording recording)
{
	store_relaxed(&agent_counts_only, 0);
	recording_before = AGENT_QUIET;
	store_release(&agent_recording, recording);
	store_release(&agent_hooks, recording >= AGENT_BY_COUNTER ? recording
	                            : load_relaxed(&agent_notes)  ? AGENT_GENERAL
	                                                          : AGENT_QUIET);
}

void agent_begin_counting(void)
{
	enum agent_recording before = load_relaxed(&agent_recording);

	if (before == AGENT_QUIET)
		return;
	agent_set_recording(AGENT_QUIET);
	recording_before = before;
	if (before >= AGENT_BY_COUNTER) {
		store_relaxed(&agent_counts_only, 1);
		store_release(&agent_hooks, AGENT_GENERAL);
	}
}

void agent_end_counting(void)
{
	if (recording_before != AGENT_QUIET)
		agent_set_recording(recording_before);
}

void agent_set_begun(void)
{
	if (load_relaxed(&agent_recording) == AGENT_QUIET)
		agent_set_recording(AGENT_QUIET);
}

void agent_set_noting(bool is_noting)
{
	int32_t before = is_noting ? AGENT_QUIET : AGENT_GENERAL;

	store_relaxed(&agent_notes, is_noting);
	if (!agent_records_calls())
		compare_exchange_acquire(&agent_hooks, &before, is_noting ? AGENT_GENERAL : AGENT_QUIET);
}

uint32_t agent_hooks_block_signals;

void agent_block_signals_in_hooks(void)
{
	if (load_relaxed(&agent_hooks_block_signals))
		return;
	store_relaxed(&agent_hooks_block_signals, 1);
	if (agent_records_calls())
		agent_set_recording(agent_recording_of_calls());
}

enum agent_recording agent_recording_of_calls(void)
{
	return agent_engine.clock == FXT_CLOCK_COUNTER && !load_relaxed(&threads_lend) &&
	                       !load_relaxed(&agent_hooks_block_signals) && !agent_filters_calls()
	               ? AGENT_BY_COUNTER
	               : AGENT_GENERAL;
}

/* ---- the beginning ---- */

uint32_t agent_has_begun;

static void (*begin)(void);
static uint32_t is_beginning;
static uint64_t calls_before;

void agent_register_beginning(void (*beginning)(void))
{
	begin = beginning;
}

/* Acquire and release: one thread counts a call and another ends the beginning. The later
 * of the two sees what the other did. */
static void self_report_calls_before(void)
{
	uint64_t calls = __atomic_exchange_n(&calls_before, 0, __ATOMIC_ACQ_REL);

	if (calls && agent_records_calls())
		add_relaxed(&agent_engine.control->lost_without_slot, calls);
}

bool agent_begin(bool is_ready)
{
	int error;

	if (load_acquire(&agent_has_begun))
		return true;
	if (!(is_ready || agent_objects_are_ready()) || !begin || !agent_libc_environment() ||
	        exchange_acquire(&is_beginning, 1))
		return false;
	error = errno;
	begin();
	errno = error;
	store_release(&agent_has_begun, 1);
	self_report_calls_before();
	return true;
}

enum agent_call agent_begin_with_call(void)
{
	if (likely(load_acquire(&agent_has_begun)))
		return AGENT_CALL_NOT_RECORDED;
	if (agent_begin(false))
		return agent_records_calls() ? AGENT_CALL_RECORDED : AGENT_CALL_NOT_RECORDED;
	__atomic_fetch_add(&calls_before, 1, __ATOMIC_ACQ_REL);
	if (load_relaxed(&agent_has_begun))
		self_report_calls_before();
	return AGENT_CALL_TOO_EARLY;
}

/* ---- checks of the thread's state ---- */

/* Whether every frame is complete, began later than the one around it, and no later than
 * the thread's latest time. */
static bool self_frames_are_valid(const struct fxt_thread_writer *writer, const struct fxt_thread_slot *slot)
{
	const struct fxt_frame *first = fxt_slot_frames(&agent_engine, slot), *top = slot_top(slot);
	uint64_t end = (uint64_t)(uintptr_t)(first - 1) + slot->stack_bytes;

	if (top < first || (uint64_t)(uintptr_t)top > end || !is_sentinel(first - 1))
		return false;
	/* Only the newest may be no call: the mark of a full buffer. */
	for (const struct fxt_frame *frame = first; frame < top - writer->is_full; frame++)
		if (is_sentinel(frame) || frame->start > writer->last ||
		        (frame > first && frame->start <= frame[-1].start))
			return false;
	return true;
}

static bool self_writer_is_valid(const struct fxt_thread_writer *writer)
{
	const struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);
	uint64_t limit = load_relaxed(&writer->limit), committed = load_relaxed(&slot->committed);

	return writer == &agent_engine.writers[writer->number] &&
	       writer->number < load_acquire(&agent_engine.control->slots_used) &&
	       load_acquire(&slot->state) == FXT_SLOT_LIVE && load_relaxed(&writer->busy) <= FXT_SLOW_PATH &&
	       (limit == 0 || (committed != 0 && committed <= limit)) && self_frames_are_valid(writer, slot);
}

bool agent_thread_is_valid(void)
{
	const struct fxt_thread_writer *own = agent_self.writer, *nested = agent_self.nested;

	switch (agent_thread_state()) {
	case AGENT_THREAD_FORKED:
	case AGENT_THREAD_BORROWER:
		return true;
	case AGENT_THREAD_UNATTACHED:
		return !nested;
	case AGENT_THREAD_OUTSIDE: /* a handler's hook ends before the one that it interrupted */
		if (nested && load_relaxed(&nested->busy) != FXT_IDLE)
			return false;
		break;
	case AGENT_THREAD_IN_HOOK:
	case AGENT_THREAD_IN_HANDLER:
		break;
	}
	return agent_self.slot == fxt_slot(&agent_engine, own->number) && self_writer_is_valid(own) &&
	       (!nested || (nested != own && fxt_slot(&agent_engine, nested->number)->is_nested &&
	                           self_writer_is_valid(nested)));
}

#ifdef FXT_DEBUG
void agent_check_thread(void)
{
	if (agent_thread_is_valid())
		return;
	agent_notice("the agent's state of this thread is not valid", NULL);
	__builtin_trap();
}
#endif

/* ---- the process ---- */

bool agent_is_own_process(void)
{
	return agent_engine.state != FXT_ENGINE_NONE && !fxt_engine_was_forked(&agent_engine) &&
	       (load_relaxed(&sys_confinement) != SYS_FREE || agent_self.withheld == AGENT_NO_SYSTEM_CALL ||
	               sys_getpid() == agent_engine.pid);
}

void agent_register_rebirth(void (*rebirth)(void), void (*detachment)(void))
{
	begin_anew = rebirth;
	detach = detachment;
}

void agent_rebirth(void)
{
	begin_anew();
}

void (*agent_awaiting_call)(void);

void agent_await_call(void (*function)(void))
{
	store_relaxed(&agent_awaiting_call, function);
}

void agent_report_call(void)
{
	void (*function)(void) = exchange_acquire(&agent_awaiting_call, NULL);

	if (function)
		function();
}

/* This many slots are reserved, since hooks of ancestors may continue. */
static uint32_t self_slots_of_hooks;

/* In a child before its rebirth the writer is wiped, and a hook can only have made it
 * busy. */
static bool self_is_outside(enum agent_thread_state state)
{
	if (state != AGENT_THREAD_FORKED)
		return state <= AGENT_THREAD_OUTSIDE;
	return agent_self.was_outside &&
	       !(agent_self.writer && load_relaxed(&agent_self.writer->busy) != FXT_IDLE);
}

void agent_self_before_fork(bool child_goes_on)
{
	enum agent_thread_state state = agent_thread_state();

	if (state == AGENT_THREAD_BORROWER)
		return;
	agent_self.was_outside = agent_self.forks_outside;
	agent_self.forks_outside = !child_goes_on || self_is_outside(state);
}

void agent_self_in_parent(void)
{
	enum agent_thread_state state = agent_thread_state();

	if (state != AGENT_THREAD_BORROWER)
		agent_self.forks_outside = state == AGENT_THREAD_FORKED && agent_self.was_outside;
}

void agent_self_in_child(void)
{
	/* Slots known to an earlier generation's hook stay reserved: that hook may continue
	 * too. */
	if (fxt_engine_was_forked(&agent_engine) && (agent_continues_hook() || self_slots_of_hooks))
		detach();
}

/*
 * The first slot that a thread of the child gets. Slots that a continuing hook of the
 * parent's knows stay unused, in the child and in its children. Outside of hooks, a hook
 * that has just begun may also have read the thread's writer and the function's reference.
 * It finds no room in that writer, and looks again. A hook cannot come this far twice: four
 * generations later a number is free again.
 */
static uint32_t self_first_slot(void)
{
	uint32_t next = agent_self.writer ? (uint32_t)(agent_self.writer - agent_engine.writers) + 1 : 0;

	if (!agent_engine.control) /* it was ended */
		return 0;
	if (agent_continues_hook())
		self_slots_of_hooks = agent_engine.control->slots_used;
	return next > self_slots_of_hooks && next < self_slots_of_hooks + 4 ? next : self_slots_of_hooks;
}

void agent_self_forget(void)
{
	uint32_t first_slot = self_first_slot();

	fxt_engine_forget(&agent_engine, first_slot);
	agent_self.forks_outside = false;
	agent_self.writer = agent_self.nested = agent_self.other = NULL;
	agent_self.owner = 0;
	threads_lend = 0;
}
