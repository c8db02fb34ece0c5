/*
 * Enters and leaves calls of functions with prepared entries (prepared.h), on the program's
 * threads. They run in the middle of the function's code, so they save its registers
 * (saving.h).
 */
#include "saving.h"
#include <stddef.h>
#include "agent/base/attributes.h"
#include "hooks.h"
#include "prepared.h"
#include "returns.h"
#include "thunks.h"

#if ARCH_HAS_THUNKS

/* Unwind rules of agent_prepared_leave, at any depth of its own. The place is the frame's
 * address less 9. thunks.c says why that address is one byte too high. */
/* clang-format off */
#define REPLACED_FRAME                                                                       \
	".cfi_def_cfa 7, 1\n"                                                                \
	".cfi_escape 0x16, 16, 39, 0x39, 0x1c," AGENT_RETURNS_RULE "\n" /* lit9, minus */              \
	".cfi_escape 0x16, 7, 2, 0x31, 0x1c\n"      /* lit1, minus */

#define GLOBAL(name) ".hidden " name "\n .globl " name "\n"

/* Thunks call this code at a function's entry. The thunk's return address lies above ours.
 * `pass` sets the third argument. */
#define ENTER(name, begin, pass)                                                             \
	GLOBAL(name)                                                                         \
	".p2align 4\n"                                                                       \
	name ":\n"                                                                           \
	"	.cfi_startproc\n"                                                            \
	"	.cfi_def_cfa_offset 16\n"                                                    \
	SAVE_REGISTERS                                                                       \
	"	lea 80(%rsp), %rdi\n"                  /* the place */                       \
	"	mov 72(%rsp), %rsi\n"                  /* behind the thunk's first instruction */ \
	pass                                                                                 \
	"	call " begin "\n"                                                            \
	"	test %eax, %eax\n"                     /* for the thunk's jz, too */         \
	RESTORE_REGISTERS                                                                    \
	"	jz 1f\n"                                                                     \
	/* Replaces the address: our own return address goes there, and ret takes it from    \
	 * there. */                                                                         \
	"	pop (%rsp)\n"                                                                \
	"	.cfi_def_cfa_offset 8\n"                                                     \
	"	ret\n"                                                                       \
	"	.cfi_def_cfa_offset 16\n"                                                    \
	"1:	ret\n"                                                                       \
	"	.cfi_endproc\n"

#define LEAVE(name, end, pass)                                                               \
	GLOBAL(name)                                                                         \
	"	.cfi_startproc\n"                                                            \
	REPLACED_FRAME                                                                       \
	"	nop\n"                                 /* unwinders look before the address */ \
	".p2align 4\n"                                                                       \
	name ":\n"                                                                           \
	"	lea -8(%rsp), %rsp\n"                  /* the place */                       \
	"	.cfi_adjust_cfa_offset 8\n"                                                  \
	"	push $0\n"                             /* no call of a hook (agent_patch_note) */ \
	"	.cfi_adjust_cfa_offset 8\n"                                                  \
	SAVE_REGISTERS                                                                       \
	"	lea 80(%rsp), %rdi\n"                                                        \
	pass                                                                                 \
	"	call " end "\n"                                                              \
	RESTORE_REGISTERS                                                                    \
	"	lea 8(%rsp), %rsp\n"                                                         \
	"	.cfi_adjust_cfa_offset -8\n"                                                 \
	"	ret\n"                                                                       \
	"	.cfi_endproc\n"

__asm__(
	".text\n"
	".p2align 12\n"
	"agent_prepared_page:\n"
	"	.quad agent_returns - agent_prepared_page\n"
	ENTER("agent_prepared_enter", "agent_prepared_begin", "")
	LEAVE("agent_prepared_leave", "agent_prepared_end", "")
	ENTER("agent_arguments_enter", "agent_arguments_begin", "	mov %rsp, %rdx\n")
	LEAVE("agent_arguments_leave", "agent_arguments_end", "	mov %rsp, %rsi\n"));
/* clang-format on */

extern HIDDEN const uint8_t agent_prepared_enter[], agent_prepared_leave[], agent_arguments_enter[],
        agent_arguments_leave[];

bool agent_prepared_begin(uint64_t *place, uint64_t entered) __attribute__((used));
void agent_prepared_end(uint64_t *place) __attribute__((used));

/* A call by a tail jump: the thunk of the function that jumped stays where it is. */
static __attribute__((noinline)) bool prepared_begin_by_jump(const uint64_t *place, uint64_t function)
{
	uint64_t at = (uint64_t)(uintptr_t)place;
	struct agent_return *entry = agent_return_at(at);
	const struct agent_thunk *thunk = agent_thunk_at(*place);

	/* A call with planned arguments returns into its own thunk. */
	if (thunk->has_arguments && thunk->function == entry->function)
		agent_leave_with_arguments((void *)(uintptr_t)entry->function, at, NULL, NULL);
	else
		agent_hook_leave((void *)(uintptr_t)entry->function, at);
	entry->function = function;
	agent_hook_enter((void *)(uintptr_t)function, (void *)(uintptr_t)entry->address, at);
	return false;
}

/* Another leaf than the one that the thread used last has the place. */
static __attribute__((noinline)) bool prepared_begin_elsewhere(uint64_t *place, uint64_t entered)
{
	uint64_t at = (uint64_t)(uintptr_t)place;
	struct agent_returns *leaf = agent_returns_of(at);

	if (leaf) {
		agent_returns_use(leaf, at);
	} else if (!agent_returns_make(at)) {
		if (agent_counts_calls())
			add_relaxed(&agent_engine.control->lost_without_slot, 1);
		return false;
	}
	return agent_prepared_begin(place, entered);
}

/*
 * Begins a call of the thunk's function at that place of the stack. True: the table has the
 * return address, and the thunk's is to replace it. False: the return address stays.
 */
bool agent_prepared_begin(uint64_t *place, uint64_t entered)
{
	const struct agent_thunk *thunk =
	        (const struct agent_thunk *)(uintptr_t)(entered - AGENT_THUNK_ENTERED);
	uint64_t at = (uint64_t)(uintptr_t)place, address = *place, function = thunk->function;
	struct agent_return *entry;

	if (unlikely(agent_is_thunk(address)))
		return prepared_begin_by_jump(place, function);
	if (unlikely(load_foldable(&agent_hooks) < AGENT_BY_COUNTER))
		return false;
	entry = agent_return_near(at);
	if (unlikely(!entry))
		return prepared_begin_elsewhere(place, entered);
	entry->address = address;
	entry->function = function;
	agent_hook_enter((void *)(uintptr_t)function, (void *)(uintptr_t)address, at);
	return true;
}

static __attribute__((noinline)) void prepared_end_elsewhere(uint64_t *place)
{
	uint64_t at = (uint64_t)(uintptr_t)place;

	agent_returns_use(agent_returns_of(at), at);
	agent_prepared_end(place);
}

/* Ends the call with a replaced return address at that place. Puts the address back. */
void agent_prepared_end(uint64_t *place)
{
	uint64_t at = (uint64_t)(uintptr_t)place;
	const struct agent_return *entry = agent_return_near(at);

	if (unlikely(!entry)) {
		prepared_end_elsewhere(place);
		return;
	}
	*place = entry->address;
	agent_hook_leave((void *)(uintptr_t)entry->function, at);
}

/* ---- calls with planned arguments ---- */

/* Whether the processor checks return addresses against a shadow stack of its own. */
static bool prepared_has_shadow_stack(void)
{
	uint64_t pointer = 0;

	__asm__ volatile("rdsspq %0" : "+r"(pointer)); /* has no effect without one */
	return pointer;
}

/*
 * Begins a call like agent_prepared_begin(), and keeps its arguments. After a tail jump the
 * return address is that of the first function's thunk, which may not end calls with
 * arguments. The call's own thunk takes its place. The processor then predicts this return
 * wrongly. A shadow stack would end the program there, so with one the call is recorded
 * without arguments.
 */
__attribute__((used)) bool agent_arguments_begin(uint64_t *place, uint64_t entered, const uint64_t *general)
{
	const struct agent_thunk *thunk =
	        (const struct agent_thunk *)(uintptr_t)(entered - AGENT_THUNK_ENTERED);
	bool is_replaced;

	agent_self.entered = NULL;
	is_replaced = agent_prepared_begin(place, entered);
	if (!is_replaced && (!agent_is_thunk(*place) || prepared_has_shadow_stack()))
		return false;
	if (!is_replaced)
		*place = (uint64_t)(uintptr_t)thunk + AGENT_THUNK_CALLED;
	/* agent_passing_vectors (saving.c) sets the fourth argument. */
	agent_keep_arguments(thunk->function, (uint64_t)(uintptr_t)(place + 1), general, NULL);
	return is_replaced;
}

/* Ends a call like agent_prepared_end(). After a tail jump it is a call of the function
 * that was jumped to. */
__attribute__((used)) void agent_arguments_end(uint64_t *place, const uint64_t *general)
{
	uint64_t at = (uint64_t)(uintptr_t)place;
	const struct agent_return *entry = agent_return_at(at);

	*place = entry->address;
	agent_leave_with_arguments((void *)(uintptr_t)entry->function, at, general, NULL);
}

struct agent_thunk_code agent_prepared_code(void)
{
	return (struct agent_thunk_code){
	        agent_prepared_enter, agent_prepared_leave, agent_arguments_enter, agent_arguments_leave};
}

#else

struct agent_thunk_code agent_prepared_code(void)
{
	return (struct agent_thunk_code){0};
}

#endif
