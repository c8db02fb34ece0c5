#include "claim.h"
#include "elided.h"
#include "shadow.h"
#include "stacks.h"
#include "writer/categories.h"
#include "writer/waits.h"

struct fxt_block *agent_nested(void)
{
	uint64_t mask;

	if (load_relaxed(&sys_confinement) !=
	        SYS_FREE) /* the thread itself may hold the lock we would need */
		return NULL;
	if (!agent_self.block) /* a handler has made a child since, and the thread is reborn there */
		return NULL;
	agent_self.block->was_interrupted = 1;
	mask = sys_block_signals();
	if (!agent_self.nested)
		agent_self.nested = fxt_thread_attach_nested(&agent_engine, agent_self.block->number);
	sys_restore_signals(mask);
	return agent_self.nested && agent_self.nested->busy == FXT_IDLE ? agent_self.nested : NULL;
}

uint64_t agent_stamp(struct fxt_block *block)
{
	uint64_t now = fxt_later(fxt_clock_ticks(agent_engine.clock), block->last + agent_engine.step);

	store_relaxed(&block->last, now);
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

struct fxt_block *agent_claim_for_wait(void)
{
	uint64_t stack_pointer = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct fxt_block *own, *block;

	if (load_relaxed(&agent_recording) == AGENT_QUIET || fxt_engine_was_forked(&agent_engine) ||
	        agent_is_borrower())
		return NULL;
	own = block = agent_attach();
	if (!own)
		return NULL;
	agent_check_thread();
	if (own->busy != FXT_IDLE) {
		block = agent_nested();
		if (block) {
			store_relaxed(&block->last, fxt_later(block->last, own->last + agent_engine.step));
			store_relaxed(&block->busy, FXT_SLOW_PATH);
			if (!agent_may_record(block)) {
				store_release(&block->busy, FXT_IDLE);
				return NULL;
			}
		}
		return block;
	}
	store_relaxed(&own->busy, FXT_SLOW_PATH);
	block = agent_block_at(own, stack_pointer, false);
	if (!block)
		block = own;
	if (agent_may_record(block))
		return block;
	agent_release(block);
	return NULL;
}

struct fxt_block *agent_claim(void)
{
	struct fxt_block *block = agent_claim_for_wait();

	if (block)
		agent_keep_newest(block);
	return block;
}

void agent_release(struct fxt_block *block)
{
	struct fxt_block *own = agent_self.block;

	/* The interrupted hook's next record ends later, so that no slice ends inside this
	 * one. */
	if (own && block == agent_self.nested)
		store_relaxed(&own->last, fxt_later(own->last, block->last));
	if (block == agent_self.claimed)
		agent_coroutine_release(block);
	else
		store_release(&block->busy, FXT_IDLE);
	/* NULL: a handler has made a child since, and the thread is reborn there. */
	if (block != agent_self.nested && own)
		store_release(&own->busy, FXT_IDLE);
	agent_check_thread();
}
