/*
 * Helpers of the agent's tests: the agent's engine on memory of its own, and a decoder of
 * its output, with a few lines of its own. The agent's interposed functions are not linked
 * in unless a test names their objects (Makefile).
 */
#ifndef FXT_TESTS_UNIT_AGENT_RIG_H
#define FXT_TESTS_UNIT_AGENT_RIG_H

#include "rig.h"
#include "agent/hook/claim.h"
#include "agent/hook/hooks.h"
#include "agent/process/modules.h"
#include "agent/base/notice.h"
#include "agent/hook/shadow.h"
#include "agent/hook/stacks.h"

#define UNUSED __attribute__((unused))

static inline UNUSED void agent_rig_begin(struct rig *rig)
{
	rig_map(rig, FXT_ONESHOT, UINT64_C(64) << 20, FXT_ON_FULL_DROP);
	assert_int_equal(
	        fxt_engine_initialize(&agent_engine, rig->buffer, rig->buffer_bytes, rig->control, "agent"),
	        0);
	assert_int_equal(fxt_engine_start(&agent_engine, FXT_START_RETAIN), 0);
	agent_set_recording(AGENT_BY_COUNTER);
}

static inline UNUSED void agent_rig_end(struct rig *rig)
{
	agent_set_recording(AGENT_QUIET);
	assert_int_equal(fxt_engine_terminate(&agent_engine), 0);
	agent_self_forget();
	agent_coroutines_forget();
	rig_end(rig);
}

/* Begins a call of `function` on the calling thread, its frame where the stack pointer
 * says. */
static inline UNUSED void agent_call(uint64_t function, uint64_t stack_pointer)
{
	struct fxt_thread_writer *writer = agent_attach();

	assert_non_null(writer);
	writer->busy = FXT_SLOW_PATH;
	assert_true(agent_may_record(writer));
	agent_push(writer, agent_self.slot, slot_top(agent_self.slot), agent_function_ref(function),
	        (void *)(uintptr_t)function, agent_stack_offset(stack_pointer), FXT_CLOCK_COUNTER);
	writer->busy = FXT_IDLE;
}

/* Open calls of the calling thread. */
static inline UNUSED size_t agent_open_calls(void)
{
	return agent_self.writer
	               ? (size_t)(slot_top(agent_self.slot) - fxt_slot_frames(&agent_engine, agent_self.slot))
	               : 0;
}

#endif
