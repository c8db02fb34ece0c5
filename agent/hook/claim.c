/*
 * Claims thread writers for records outside of hooks (claim.h). Runs on the thread that
 * records, also in its signal handlers. It must not wait for a thread that a handler may
 * have interrupted.
 */
#include "claim.h"
#include "elided.h"
#include "shadow.h"
#include "stacks.h"
#include "writer/format/categories.h"
#include "writer/engine/waits.h"

struct fxt_thread_writer *agent_nested(void)
{
	uint64_t mask;

	/* signals get through: we may hold the lock */
	if (load_relaxed(&sys_confinement) != SYS_FREE)
		return NULL;
	if (!agent_self.writer) /* a child that a handler forked in the hook, after its rebirth */
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

/* The functions around a fork store these facts. The child reads them until its rebirth. */
static struct {
	bool has_waits; /* its parent recorded waits */
	/* the child's pid; a vfork child of the child reads it too, and has another pid */
	pid_t process;
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

static struct fxt_thread_writer *claim_writer(bool is_call)
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
			agent_raise_last(writer, own->last + agent_engine.step);
			store_relaxed(&writer->busy, FXT_SLOW_PATH);
			if (!agent_may_record(writer)) {
				store_release(&writer->busy, FXT_IDLE);
				return NULL;
			}
		}
		return writer;
	}
	store_relaxed(&own->busy, FXT_SLOW_PATH);
	writer = agent_writer_at(own, stack_pointer, is_call);
	if (!writer && is_call) { /* counted as lost */
		store_release(&own->busy, FXT_IDLE);
		return NULL;
	}
	if (!writer)
		writer = own;
	if (agent_may_record(writer))
		return writer;
	agent_release(writer);
	return NULL;
}

static struct fxt_thread_writer *claim(bool is_call)
{
	uint64_t mask = load_relaxed(&agent_hooks_block_signals) ? sys_block_signals() : SYS_NO_MASK;
	struct fxt_thread_writer *writer = claim_writer(is_call);

	if (writer)
		agent_self.claim_mask = mask ^ SYS_NO_MASK;
	else
		sys_restore_signals(mask);
	return writer;
}

struct fxt_thread_writer *agent_claim_for_wait(void)
{
	return claim(false);
}

struct fxt_thread_writer *agent_claim_for_call(void)
{
	struct fxt_thread_writer *writer = claim(true);

	if (writer)
		agent_keep_newest(writer);
	return writer;
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
	uint64_t mask = agent_self.claim_mask ^ SYS_NO_MASK;

	agent_self.claim_mask = 0;
	/* The hook that was interrupted must not use an earlier time for its record: that
	 * slice would end inside this one. */
	if (own && writer == agent_self.nested)
		agent_raise_last(own, writer->last);
	if (writer == agent_self.claimed)
		agent_coroutine_release(writer);
	else
		store_release(&writer->busy, FXT_IDLE);
	/* `own` is NULL in a child that a handler forked since the claim, after its
	 * rebirth. */
	if (writer != agent_self.nested && own)
		store_release(&own->busy, FXT_IDLE);
	agent_check_thread();
	sys_restore_signals(mask);
}
