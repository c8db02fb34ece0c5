#include "claim.h"
#include "elided.h"
#include "shadow.h"
#include "stacks.h"
#include "writer/format/categories.h"
#include "writer/engine/waits.h"

struct fxt_thread_writer *agent_nested(void)
{
	uint64_t mask;

	if (load_relaxed(&sys_confinement) !=
	        SYS_FREE) /* the thread itself may hold the lock we would need */
		return NULL;
	if (!agent_self.writer) /* a handler has made a child since, and the thread is reborn there */
		return NULL;
	agent_self.writer->was_interrupted = 1;
	mask = sys_block_signals();
	if (!agent_self.nested)
		agent_self.nested = fxt_thread_attach_nested(&agent_engine, agent_self.writer->number);
	sys_restore_signals(mask);
	return agent_self.nested && agent_self.nested->busy == FXT_IDLE ? agent_self.nested : NULL;
}

uint64_t agent_stamp(struct fxt_thread_writer *writer)
{
	uint64_t now = fxt_later(fxt_clock_ticks(agent_engine.clock), writer->last + agent_engine.step);

	store_relaxed(&writer->last, now);
	return now;
}

/* A forked child's knowledge of itself before its rebirth. */
static struct {
	bool has_waits; /* whether its parent recorded any */
	pid_t process;  /* the child; a vfork child of it sees all this too, and shares its memory */
} claim_child;

void agent_child_before_fork(void)
{
	if (agent_engine.state != FXT_ENGINE_NONE)
		claim_child.has_waits = fxt_category_is_enabled(agent_engine.control, FXT_WAIT_CATEGORY);
}

void agent_child_made(void)
{
	claim_child.process = sys_getpid();
}

void agent_child_begins(void)
{
	if (unlikely(fxt_engine_was_forked(&agent_engine)) && claim_child.has_waits &&
	        load_relaxed(&agent_recording) != AGENT_QUIET && sys_getpid() == claim_child.process)
		agent_rebirth();
}

struct fxt_thread_writer *agent_claim_for_wait(void)
{
	uint64_t stack_pointer = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct fxt_thread_writer *own, *writer;

	if (load_relaxed(&agent_recording) == AGENT_QUIET || fxt_engine_was_forked(&agent_engine) ||
	        agent_is_borrower())
		return NULL;
	own = writer = agent_attach();
	if (!own)
		return NULL;
	agent_check_thread();
	if (own->busy != FXT_IDLE) {
		writer = agent_nested();
		if (writer) {
			store_relaxed(&writer->last, fxt_later(writer->last, own->last + agent_engine.step));
			store_relaxed(&writer->busy, FXT_SLOW_PATH);
			if (!agent_may_record(writer)) {
				store_release(&writer->busy, FXT_IDLE);
				return NULL;
			}
		}
		return writer;
	}
	store_relaxed(&own->busy, FXT_SLOW_PATH);
	writer = agent_writer_at(own, stack_pointer, false);
	if (!writer)
		writer = own;
	if (agent_may_record(writer))
		return writer;
	agent_release(writer);
	return NULL;
}

struct fxt_thread_writer *agent_claim(void)
{
	struct fxt_thread_writer *writer = agent_claim_for_wait();

	if (writer)
		agent_keep_newest(writer);
	return writer;
}

void agent_release(struct fxt_thread_writer *writer)
{
	struct fxt_thread_writer *own = agent_self.writer;

	/* The interrupted hook's next record ends later, so that no slice ends inside this
	 * one. */
	if (own && writer == agent_self.nested)
		store_relaxed(&own->last, fxt_later(own->last, writer->last));
	if (writer == agent_self.claimed)
		agent_coroutine_release(writer);
	else
		store_release(&writer->busy, FXT_IDLE);
	/* NULL: a handler has made a child since, and the thread is reborn there. */
	if (writer != agent_self.nested && own)
		store_release(&own->busy, FXT_IDLE);
	agent_check_thread();
}
