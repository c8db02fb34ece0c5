/*
 * Calls that end without their exit hook: longjmp and its kind, exceptions, and switches of ucontext.
 *
 * A later call can begin lower on the stack than one that a jump has left, so its stack pointer alone would
 * lie. The jump itself knows how far it goes: the target's stack pointer is in its jmp_buf, mangled by the C
 * library with a key that a jmp_buf of our own gives away, because we know its stack pointer.
 */
#include <stddef.h>
#include "arch.h"
#include "attributes.h"
#include "real.h"
#include "shadow.h"
#include "slow_path.h"
#include "stacks.h"
#include "symbols.h"

#define NORETURN __attribute__((noreturn))

/* The key by which libc mangles saved stack pointers. Computed at each jump, of which there are few: a key
 * stored in writable memory would undo what the mangling protects.
 */
static __attribute__((noinline)) uint64_t jump_mangling_key(void)
{
	jmp_buf here;

	if (_setjmp(here) != 0)
		return 0;
	return arch_jump_saved_word(here) ^ arch_stack_pointer();
}

/* ---- jumps ---- */

/* Abandons what a jump to `target` leaves on the stack where that lies. */
static void jump_abandon_below(struct fxt_block *own, uint64_t target, bool keep_equal)
{
	struct fxt_block *coroutine = agent_stack_is_own(target) ? NULL : agent_coroutine_at(target, false);

	store_relaxed(&own->busy, FXT_SLOW_PATH);
	if (coroutine) {
		store_relaxed(&coroutine->busy, FXT_SLOW_PATH);
		if (agent_may_record(coroutine))
			agent_abandon_below(coroutine, target, UINT64_MAX, keep_equal);
		store_release(&coroutine->busy, FXT_IDLE);
	} else if (agent_may_record(own)) {
		agent_abandon_below(own, agent_stack_offset(target), agent_self.stack_bytes, keep_equal);
	}
	store_release(&own->busy, FXT_IDLE);
}

/*
 * A signal handler jumps that has interrupted a hook. A jump to a frame no higher than the handler's oldest
 * call stays inside the handler, and abandons calls of its own only. One beyond it leaves the handler, and
 * with it the hook that the handler interrupted.
 */
static void jump_out_of_handler(struct fxt_block *own, uint64_t target)
{
	struct fxt_block *nested = agent_self.nested;
	uint64_t stack_offset = agent_stack_offset(target);
	const struct fxt_frame *oldest =
	        nested ? fxt_slot_frames(&agent_engine, fxt_slot(&agent_engine, nested->number)) : NULL;
	bool has_calls = nested && !is_sentinel(slot_top(fxt_slot(&agent_engine, nested->number)) - 1);

	if (has_calls && stack_offset <= oldest->stack_offset) {
		store_relaxed(&nested->busy, FXT_SLOW_PATH);
		if (agent_may_record(nested))
			agent_abandon_below(nested, stack_offset, UINT64_MAX, false);
		store_release(&nested->busy, FXT_IDLE);
	} else if (has_calls || stack_offset >= slot_top(agent_self.slot)[-1].stack_offset) {
		agent_leave_hook();
		jump_abandon_below(own, target, false);
	}
}

static void jump_to_stack_pointer(uint64_t target)
{
	struct fxt_block *own = agent_self.block;

	if (load_relaxed(&agent_recording) == AGENT_QUIET)
		return;
	switch (agent_thread_state()) {
	case AGENT_THREAD_FORKED:
	case AGENT_THREAD_BORROWER:
	case AGENT_THREAD_UNATTACHED:
		return;
	case AGENT_THREAD_OUTSIDE:
		jump_abandon_below(own, target, false);
		break;
	case AGENT_THREAD_IN_HOOK:
	case AGENT_THREAD_IN_HANDLER:
		jump_out_of_handler(own, target);
	}
	agent_check_thread();
}

#define JUMP(name)                                                                              \
	EXPORT NORETURN void name(struct __jmp_buf_tag environment[1], int value)               \
	{                                                                                       \
		jump_to_stack_pointer(arch_jump_saved_word(environment) ^ jump_mangling_key()); \
		REAL(name)(environment, value);                                                 \
	}

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

/* ---- exceptions ---- */

typedef void *begin_catch(void *exception);

/* One is there, else the program would not have found ours (symbols.h). */
static begin_catch *real_begin_catch(void)
{
	static begin_catch *found;
	begin_catch *function = load_relaxed(&found);

	if (!function) {
		function = (begin_catch *)agent_next_symbol("__cxa_begin_catch");
		store_relaxed(&found, function);
	}
	return function;
}

EXPORT void *__cxa_begin_catch(void *exception)
{
	/* With gcc exit hooks run while the stack is unwound; with clang, and in C, they do not. */
	if (load_relaxed(&agent_recording) != AGENT_QUIET && agent_thread_state() == AGENT_THREAD_OUTSIDE)
		jump_abandon_below(agent_self.block, (uint64_t)(uintptr_t)__builtin_dwarf_cfa(), true);
	return real_begin_catch()(exception);
}

/* ---- contexts ---- */

/* Bounds are known of contexts that makecontext() made; others run on a stack that is known already, or not
 * at all. */
static void context_runs_next(const ucontext_t *context)
{
	uint64_t low = (uint64_t)(uintptr_t)context->uc_stack.ss_sp, bytes = context->uc_stack.ss_size;
	uint64_t stack_pointer = arch_context_stack_pointer(context);

	if (load_relaxed(&agent_recording) == AGENT_QUIET || fxt_engine_was_forked(&agent_engine))
		return;
	if (!agent_attach())
		return;
	if (stack_pointer - low <= bytes)
		agent_coroutine_bounds(low, bytes);
	/* The next hook may be the exit of another call of the function that is newest here. */
	agent_force_slow_path(agent_self.block);
}

EXPORT int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to)
{
	context_runs_next(to);
	return REAL(swapcontext)(from, to);
}

EXPORT int setcontext(const ucontext_t *to)
{
	context_runs_next(to);
	return REAL(setcontext)(to);
}
