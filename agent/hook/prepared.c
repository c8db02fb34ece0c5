/*
 * Enters and leaves calls of functions with prepared entries (prepared.h), on the program's
 * threads. Such a call is made in the middle of nowhere: the function's arguments or its
 * result are in registers, and with -fipa-ra its caller may keep values in any other. So
 * this file is compiled for general registers alone, which the instructions below save;
 * whatever else it calls goes through agent_prepared_save_vectors.
 */
#include "agent/base/attributes.h"

#define SAVING(name)           agent_prepared_##name
#define agent_enter_first      SAVING(enter_first)
#define agent_enter_nested     SAVING(enter_nested)
#define agent_enter_slow_path  SAVING(enter_slow_path)
#define agent_enter_probing    SAVING(enter_probing)
#define agent_enter_general    SAVING(enter_general)
#define agent_leave_first      SAVING(leave_first)
#define agent_leave_nested     SAVING(leave_nested)
#define agent_leave_slow_path  SAVING(leave_slow_path)
#define agent_leave_mismatched SAVING(leave_mismatched)
#define agent_leave_general    SAVING(leave_general)
#define agent_return_make      SAVING(return_make)

#include <stddef.h>
#include "agent/patch/entries.h"
#include "hooks.h"
#include "prepared.h"
#include "returns.h"
#include "thunks.h"

#if ARCH_HAS_THUNKS

/* The frame of agent_prepared_leave, at any depth of its own: the place is the frame's
 * address less 9. Why a frame has a byte more than it takes: thunks.c. */
/* clang-format off */
#define REPLACED_FRAME                                                                       \
	".cfi_def_cfa 7, 1\n"                                                                \
	".cfi_escape 0x16, 16, 39, 0x39, 0x1c," AGENT_RETURNS_RULE "\n" /* lit9, minus */              \
	".cfi_escape 0x16, 7, 2, 0x31, 0x1c\n"      /* lit1, minus */

#define PUSH(name)         "push %" name "\n .cfi_adjust_cfa_offset 8\n"
#define POP(name)          "pop %" name "\n .cfi_adjust_cfa_offset -8\n"

/* All registers that a function need not keep, for C code. 72 bytes. */
#define SAVE_REGISTERS                                                                       \
	PUSH("rax") PUSH("rcx") PUSH("rdx") PUSH("rsi") PUSH("rdi") PUSH("r8") PUSH("r9")     \
	PUSH("r10") PUSH("r11")
#define RESTORE_REGISTERS                                                                    \
	POP("r11") POP("r10") POP("r9") POP("r8") POP("rdi") POP("rsi") POP("rdx")            \
	POP("rcx") POP("rax")

#define SAVED_CALL(name)                                                                     \
	".hidden agent_prepared_" #name "\n .globl agent_prepared_" #name "\n"               \
	"agent_prepared_" #name ":\n"                                                        \
	"	.cfi_startproc\n"                                                             \
	"	lea agent_" #name "(%rip), %rax\n"                                           \
	"	jmp agent_prepared_save_vectors\n"                                           \
	"	.cfi_endproc\n"

#define STORE(n) "movaps %xmm" #n ", 16*" #n "(%rsp)\n"
#define LOAD(n)  "movaps 16*" #n "(%rsp), %xmm" #n "\n"
#define ALL_XMM(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15)

__asm__(
	".text\n"
	".p2align 12\n"
	"agent_prepared_page:\n"
	"	.quad agent_returns - agent_prepared_page\n"

	/* ---- from a thunk, with its return address above ours ---- */
	".hidden agent_prepared_enter\n .globl agent_prepared_enter\n"
	".p2align 4\n"
	"agent_prepared_enter:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa_offset 16\n"
	SAVE_REGISTERS
	"	lea 80(%rsp), %rdi\n"                   /* the place */
	"	mov 72(%rsp), %rsi\n"                   /* behind the thunk's first instruction */
	"	call agent_prepared_begin\n"
	"	test %eax, %eax\n"                      /* for the thunk's jz, too */
	RESTORE_REGISTERS
	"	jz 1f\n"
	/* Replaces the address: our own return address goes there, and ret takes it from
	 * there. */
	"	pop (%rsp)\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_def_cfa_offset 16\n"
	"1:	ret\n"
	"	.cfi_endproc\n"

	".hidden agent_prepared_leave\n .globl agent_prepared_leave\n"
	"	.cfi_startproc\n"
	REPLACED_FRAME
	"	nop\n"                                  /* unwinders look before the address */
	".p2align 4\n"
	"agent_prepared_leave:\n"
	"	lea -8(%rsp), %rsp\n"                   /* the place */
	"	.cfi_adjust_cfa_offset 8\n"
	"	push $0\n"                              /* no call of a hook (agent_patch_note) */
	"	.cfi_adjust_cfa_offset 8\n"
	SAVE_REGISTERS
	"	lea 80(%rsp), %rdi\n"
	"	call agent_prepared_end\n"
	RESTORE_REGISTERS
	"	lea 8(%rsp), %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"

	/* ---- calls of functions that use any register ---- */
	SAVED_CALL(enter_first)
	SAVED_CALL(enter_nested)
	SAVED_CALL(enter_slow_path)
	SAVED_CALL(enter_probing)
	SAVED_CALL(enter_general)
	SAVED_CALL(leave_first)
	SAVED_CALL(leave_nested)
	SAVED_CALL(leave_slow_path)
	SAVED_CALL(leave_mismatched)
	SAVED_CALL(leave_general)
	SAVED_CALL(return_make)
	"agent_prepared_save_vectors:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 6, -16\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register 6\n"
	"	sub $256, %rsp\n"
	"	and $-16, %rsp\n"
	ALL_XMM(STORE)
	"	call *%rax\n"
	ALL_XMM(LOAD)
	"	leave\n"
	"	.cfi_def_cfa 7, 8\n"
	"	ret\n"
	"	.cfi_endproc\n");
/* clang-format on */

extern HIDDEN const uint8_t agent_prepared_enter[], agent_prepared_leave[];

/* A call by a tail jump: the thunk of the function that jumped stays where it is. */
static __attribute__((noinline)) bool prepared_begin_by_jump(const uint64_t *place, uint64_t function)
{
	uint64_t at = (uint64_t)(uintptr_t)place;
	struct agent_return *entry = agent_return_at(at);

	agent_hook_leave((void *)(uintptr_t)entry->function, at);
	entry->function = function;
	agent_hook_enter((void *)(uintptr_t)function, (void *)(uintptr_t)entry->address, at);
	return false;
}

/* A call at a place that was not used before. */
static __attribute__((noinline)) bool prepared_begin_at_new_place(const uint64_t *place, uint64_t function)
{
	uint64_t at = (uint64_t)(uintptr_t)place;
	struct agent_return *entry = agent_return_make(at);

	if (!entry) {
		if (agent_records_calls())
			add_relaxed(&agent_engine.control->lost_without_slot, 1);
		return false;
	}
	entry->address = *place;
	entry->function = function;
	agent_hook_enter((void *)(uintptr_t)function, (void *)(uintptr_t)*place, at);
	return true;
}

/*
 * A call of the thunk's function begins, at that place of the stack. True: its return
 * address is in the table, and the thunk's is to replace it. False: the function is to
 * return to what stands there.
 */
__attribute__((used)) bool agent_prepared_begin(const uint64_t *place, uint64_t entered)
{
	const struct agent_thunk *thunk =
	        (const struct agent_thunk *)(uintptr_t)(entered - AGENT_THUNK_ENTERED);
	uint64_t at = (uint64_t)(uintptr_t)place, address = *place, function = thunk->function;
	struct agent_return *entry;

	if (unlikely(agent_is_thunk(address)))
		return prepared_begin_by_jump(place, function);
	if (unlikely(load_foldable(&agent_hooks) < AGENT_BY_COUNTER))
		return false;
	entry = agent_return_find(at);
	if (unlikely(!entry))
		return prepared_begin_at_new_place(place, function);
	entry->address = address;
	entry->function = function;
	agent_hook_enter((void *)(uintptr_t)function, (void *)(uintptr_t)address, at);
	return true;
}

/* The call whose return address is replaced at that place ends: puts it back. */
__attribute__((used)) void agent_prepared_end(uint64_t *place)
{
	uint64_t at = (uint64_t)(uintptr_t)place;
	const struct agent_return *entry = agent_return_at(at);

	*place = entry->address;
	agent_hook_leave((void *)(uintptr_t)entry->function, at);
}

void agent_prepared_prepare(void)
{
	agent_entries_prepare(agent_prepared_enter, agent_prepared_leave);
}

#else

void agent_prepared_prepare(void)
{
	agent_entries_prepare(NULL, NULL);
}

#endif
