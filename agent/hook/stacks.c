#include "stacks.h"
#include <sys/auxv.h>
#include <sys/resource.h>

/* The kernel maps nothing of its own this near below the main stack. */
#define MAIN_STACK_LEAST (UINT64_C(128) << 20)
#define PAGE             UINT64_C(4096)

/* ---- a thread's own ---- */

void agent_set_main_stack(void)
{
	struct rlimit limit = {0, 0};
	uint64_t high =
	        /* a string just below the end of the stack */
	        (getauxval(AT_EXECFN) + PAGE) & ~(PAGE - 1);
	uint64_t bytes = MAIN_STACK_LEAST, usable = bytes;

	if (sys_call(SYS_prlimit64, 0, RLIMIT_STACK, 0, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		usable = limit.rlim_cur & ~(PAGE - 1);
	if (usable > bytes)
		bytes = usable;
	if (high > bytes)
		agent_set_stack(high - bytes, bytes, high - usable);
}

/* ---- signal stacks ---- */

/* Handlers can set another signal stack, and the kernel restores the previous one when they
 * return, without notice. Therefore the previous one is kept too. */
static void signal_stack_is(uint64_t low, uint64_t bytes)
{
	struct agent_range *stacks = agent_self.signal_stacks;

	if (bytes && stacks[0].low == low && stacks[0].bytes == bytes)
		return;
	stacks[1] = bytes ? stacks[0] : (struct agent_range){0, 0};
	stacks[0] = (struct agent_range){low, bytes};
}

void agent_set_signal_stack(const stack_t *stack)
{
	if (fxt_engine_was_forked(&agent_engine) || !agent_is_borrower())
		signal_stack_is(
		        (uint64_t)(uintptr_t)stack->ss_sp, stack->ss_flags & SS_DISABLE ? 0 : stack->ss_size);
}

void agent_look_for_signal_stack(uint64_t address)
{
	/* a store of zeros would need an aligned stack, which a coroutine may not have */
	stack_t stack;
	uint64_t low;

	if (agent_signal_stack_of(address) || sys_call(SYS_sigaltstack, 0, &stack, 0, 0) != 0)
		return;
	low = (uint64_t)(uintptr_t)stack.ss_sp;
	if ((stack.ss_flags & SS_ONSTACK) && address - low < stack.ss_size)
		signal_stack_is(low, stack.ss_size);
}

/* The bytes of its stack that are left for a hook at that address; UINT64_MAX: unknown. */
static uint64_t stack_bytes_left(uint64_t address)
{
	int signal_stack;

	if (agent_stack_offset(address) >= agent_self.stack_bytes && !agent_self.claimed)
		agent_look_for_signal_stack(address);
	signal_stack = agent_signal_stack_of(address);
	if (signal_stack)
		return address - agent_self.signal_stacks[signal_stack - 1].low;
	if (agent_stack_offset(address) >= agent_self.stack_bytes)
		return UINT64_MAX;
	return address > agent_self.stack_end ? address - agent_self.stack_end : 0;
}

bool agent_stack_has(uint64_t bytes)
{
	return stack_bytes_left((uint64_t)(uintptr_t)__builtin_frame_address(0)) >= bytes;
}

/* ---- the writer of a call ---- */

struct fxt_thread_writer *agent_writer_at(struct fxt_thread_writer *own, uint64_t stack_pointer, bool is_call)
{
	struct fxt_thread_writer *writer;

	if (!agent_signal_stack_of(stack_pointer)) {
		if (agent_stack_is_own(stack_pointer)) {
			agent_self.coroutine = NULL;
			return own;
		}
		if (agent_coroutine_claim(stack_pointer, is_call, &writer))
			return writer;
		if (agent_stack_offset(stack_pointer) < agent_self.stack_bytes)
			return own;
		agent_look_for_signal_stack(stack_pointer);
	}
	if (!agent_signal_stack_of(stack_pointer))
		return is_call ? agent_coroutine_claim_new(stack_pointer) : NULL;
	writer = agent_self.coroutine ? agent_coroutine_claim_interrupted() : NULL;
	return writer ? writer : own;
}
