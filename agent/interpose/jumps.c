/*
 * Calls that end without their exit hook: longjmp and its kind, and exceptions. Runs on the
 * thread that jumps or throws.
 *
 * A later call can begin lower on the stack than one that a jump has left, so its stack
 * pointer alone would mislead. The jump itself knows its target: the stack pointer is in
 * the jmp_buf, mangled by the C library with a key. A jmp_buf of our own reveals the key,
 * because we know its stack pointer.
 */
#include <stddef.h>
#include "agent/base/arch.h"
#include "agent/base/attributes.h"
#include "jumps.h"
#include "agent/base/real.h"
#include "agent/hook/shadow.h"
#include "agent/hook/slow_path.h"
#include "agent/hook/stacks.h"
#include "agent/base/symbols.h"

#define NORETURN __attribute__((noreturn))

/* Libc mangles saved stack pointers by this key. It is computed at each jump,
 * because jumps are few: a key stored in writable memory would undo the protection of
 * the mangling. */
static __attribute__((noinline)) uint64_t jump_mangling_key(void)
{
	jmp_buf here;

	if (_setjmp(here) != 0)
		return 0;
	return arch_jump_saved_word(here) ^ arch_stack_pointer();
}

/* ---- jumps ---- */

/* Abandons the calls that a jump to `target` leaves, on the stack that holds `target`. */
static void jump_abandon_below(struct fxt_thread_writer *own, uint64_t target, bool keep_equal)
{
	struct fxt_thread_writer *writer;

	store_relaxed(&own->busy, FXT_SLOW_PATH);
	writer = agent_writer_at(own, target, false);
	if (writer) {
		if (agent_may_record(writer))
			agent_abandon_below(writer, agent_frame_offset(writer, target), keep_equal);
		agent_coroutine_release(writer);
	}
	store_release(&own->busy, FXT_IDLE);
}

/* True if the frame is no higher than a jump's target, or lies on a signal stack that the
 * jump leaves. */
static bool jump_reaches(
        const struct fxt_thread_writer *writer, const struct fxt_frame *frame, uint64_t stack_offset)
{
	return frame->stack_offset == stack_offset || is_left(writer, frame, stack_offset);
}

/* A signal handler that has interrupted a hook jumps. A jump to a frame no higher than the
 * handler's oldest call stays inside the handler, and abandons only the handler's own
 * calls. A jump beyond it leaves the handler, and with it the interrupted hook. */
static void jump_out_of_handler(struct fxt_thread_writer *own, uint64_t target)
{
	struct fxt_thread_writer *nested = agent_self.nested;
	uint64_t stack_offset = agent_stack_offset(target);
	const struct fxt_frame *oldest =
	        nested ? fxt_slot_frames(&agent_engine, fxt_slot(&agent_engine, nested->number)) : NULL;
	bool has_calls = nested && !is_sentinel(slot_top(fxt_slot(&agent_engine, nested->number)) - 1);

	if (has_calls && !is_left(nested, oldest, stack_offset)) {
		store_relaxed(&nested->busy, FXT_SLOW_PATH);
		if (agent_may_record(nested))
			agent_abandon_below(nested, stack_offset, false);
		store_release(&nested->busy, FXT_IDLE);
	} else if (has_calls || jump_reaches(own, slot_top(agent_self.slot) - 1, stack_offset)) {
		agent_leave_hook();
		jump_abandon_below(own, target, false);
	}
}

static void jump_to_stack_pointer(uint64_t target)
{
	struct fxt_thread_writer *own = agent_self.writer;

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

void agent_jump_leaves(uint64_t stack_pointer, bool keep_equal)
{
	if (load_relaxed(&agent_recording) != AGENT_QUIET && agent_thread_state() == AGENT_THREAD_OUTSIDE)
		jump_abandon_below(agent_self.writer, stack_pointer, keep_equal);
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

struct _Unwind_Context;

typedef void *begin_catch(void *exception);
typedef uintptr_t unwind_height(struct _Unwind_Context *context);
typedef void unwind_set_address(struct _Unwind_Context *context, uintptr_t address);

/* An export that hides no other definition is withdrawn, and never called (symbols.h). So
 * the real functions below exist. */

EXPORT void *__cxa_begin_catch(void *exception)
{
	static void *found;

	/* gcc runs exit hooks while the stack is unwound; clang does not, nor does any
	 * compiler in C. */
	agent_jump_leaves((uint64_t)(uintptr_t)__builtin_dwarf_cfa(), true);
	return ((begin_catch *)agent_next_symbol_kept(&found, "__cxa_begin_catch"))(exception);
}

/*
 * The unwinder is about to continue in a function that cleans up or catches, at the place
 * that its personality routine gives. The height is the stack pointer that the function has
 * there. Destructors that it calls may begin lower than calls that were left, so their own
 * stack pointers are no evidence.
 */
EXPORT void _Unwind_SetIP(struct _Unwind_Context *context, uintptr_t address)
{
	static void *found, *height;
	unwind_height *real_height = (unwind_height *)agent_next_symbol_kept(&height, "_Unwind_GetCFA");

	if (real_height)
		agent_jump_leaves(real_height(context), true);
	((unwind_set_address *)agent_next_symbol_kept(&found, "_Unwind_SetIP"))(context, address);
}
