#include "self.h"
#include <string.h>
#include "frames.h"

__thread struct agent_self agent_self;
struct fxt_engine agent_engine;
int32_t agent_recording;
bool agent_is_standalone;

static void (*begin_anew)(void);

void agent_set_stack(uint64_t low, uint64_t bytes, uint64_t end)
{
	agent_self.stack_end = end;
	agent_self.stack_low = low;
	agent_self.stack_bytes = bytes;
}

struct fxt_block *agent_attach(void)
{
	uint64_t mask;

	if (load_relaxed(&sys_confinement) != SYS_FREE && !agent_self.block) { /* its id is not to be had */
		add_relaxed(&agent_engine.control->lost_without_slot, 1);
		return NULL;
	}
	/* A handler that came between taking the slot and noting it would take another. */
	mask = sys_block_signals();
	if (!agent_self.block) {
		struct fxt_block *block = fxt_thread_attach(&agent_engine);

		if (block) {
			agent_self.slot = fxt_slot(&agent_engine, block->number);
			if (!agent_self.stack_bytes)
				agent_set_stack(0, UINT64_MAX, 0);
			set_sentinel(agent_self.slot, agent_self.stack_bytes);
			agent_self.block = block;
		}
	}
	sys_restore_signals(mask);
	return agent_self.block;
}

bool agent_is_own_process(void)
{
	return agent_engine.state != FXT_ENGINE_NONE && !fxt_engine_was_forked(&agent_engine) &&
	       (load_relaxed(&sys_confinement) != SYS_FREE || sys_getpid() == agent_engine.pid);
}

void agent_register_rebirth(void (*function)(void))
{
	begin_anew = function;
}

void agent_rebirth(void)
{
	begin_anew();
}

void agent_self_forget(void)
{
	memset(&agent_engine, 0, sizeof(agent_engine));
	agent_self.block = agent_self.nested = NULL;
}
