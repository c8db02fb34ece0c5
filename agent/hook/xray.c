/*
 * Enters and leaves calls of functions with XRay sleds (xray.h), on the program's threads.
 * A sled is in the middle of the function's code: saving.h.
 */
#include "saving.h"
#include "agent/base/arch.h"
#include "agent/base/attributes.h"
#include "agent/patch/sleds.h"
#include "hooks.h"
#include "xray.h"

#if ARCH_HAS_SLEDS

/* clang-format off */
#define GLOBAL(name)                                                                         \
	".hidden agent_xray_" #name "\n .globl agent_xray_" #name "\n"                       \
	".p2align 4\n"                                                                       \
	"agent_xray_" #name ":\n"

__asm__(
	".text\n"

	/* ---- called from an entry, at the place of its function's return address ---- */
	GLOBAL(enter)
	"	.cfi_startproc\n"
	SAVE_REGISTERS
	"	mov 72(%rsp), %rdi\n"
	"	lea 80(%rsp), %rsi\n"                   /* the place */
	"	call agent_xray_begin\n"
	RESTORE_REGISTERS
	"	ret\n"
	"	.cfi_endproc\n"

	/* ---- from an exit's thunk, with the function on top ---- */
	/* Unwinders go on with the function's caller. */
	GLOBAL(leave)
	"	.cfi_startproc\n"
	"	.cfi_def_cfa_offset 16\n"
	SAVE_REGISTERS
	"	mov 72(%rsp), %rdi\n"
	"	lea 80(%rsp), %rsi\n"
	"	movq $0, 72(%rsp)\n"                    /* no call of a hook (agent_patch_note) */
	"	call agent_xray_end\n"
	RESTORE_REGISTERS
	"	lea 8(%rsp), %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"

	/* ---- called from a tail's thunk, with the function above, and 128 bytes more ---- */
	GLOBAL(leave_by_jump)
	"	.cfi_startproc\n"
	"	.cfi_def_cfa_offset 152\n"
	SAVE_REGISTERS
	"	mov 80(%rsp), %rdi\n"
	"	lea 216(%rsp), %rsi\n"
	"	push 208(%rsp)\n"                       /* the word below the place */
	"	.cfi_adjust_cfa_offset 8\n"
	"	movq $0, -8(%rsi)\n"
	"	call agent_xray_end\n"
	"	pop 208(%rsp)\n"
	"	.cfi_adjust_cfa_offset -8\n"
	RESTORE_REGISTERS
	"	ret\n"
	"	.cfi_endproc\n");
/* clang-format on */

extern HIDDEN const uint8_t agent_xray_enter[], agent_xray_leave[], agent_xray_leave_by_jump[];

/*
 * A call begins, at that place of the stack, from the entry whose call returns there. No two
 * open calls have the same place, because an inlined function has no sleds. A frame at the
 * same place was left by a jump without a sled. The hooks take it for alive if the call
 * sites are the same too, so they get the function instead.
 */
__attribute__((used)) void agent_xray_begin(uint64_t from, uint64_t place)
{
	void *function = (void *)(uintptr_t)agent_sled_function(from);

	agent_hook_enter(function, function, place);
}

/* The call at that place ends. */
__attribute__((used)) void agent_xray_end(void *function, uint64_t place)
{
	agent_hook_leave(function, place);
}

struct agent_sled_code agent_xray_code(void)
{
	return (struct agent_sled_code){agent_xray_enter, agent_xray_leave, agent_xray_leave_by_jump};
}

#else

struct agent_sled_code agent_xray_code(void)
{
	return (struct agent_sled_code){0};
}

#endif
