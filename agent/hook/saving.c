/*
 * Saves the vector registers around calls that leave the hooks' short way (saving.h). The
 * agent has no AVX code of its own and brings its own memcpy() and the like. So the 16
 * halves that SSE code may change are enough.
 */
#include "saving.h"
#include "agent/base/arch.h"

#if ARCH_HAS_THUNKS

/* clang-format off */
#define CALL_BY(way, name)                                                                   \
	".hidden agent_saving_" #name "\n .globl agent_saving_" #name "\n"                   \
	"agent_saving_" #name ":\n"                                                          \
	"	.cfi_startproc\n"                                                            \
	"	lea agent_" #name "(%rip), %rax\n"                                           \
	"	jmp agent_" way "_vectors\n"                                                 \
	"	.cfi_endproc\n"
#define SAVED_CALL(name)  CALL_BY("saving", name)
/* Passes the address of the saved registers as the fourth argument. */
#define PASSED_CALL(name) CALL_BY("passing", name)

#define SAVE_VECTORS(pass)                                                                   \
	"	.cfi_startproc\n"                                                            \
	"	push %rbp\n"                                                                 \
	"	.cfi_def_cfa_offset 16\n"                                                    \
	"	.cfi_offset 6, -16\n"                                                        \
	"	mov %rsp, %rbp\n"                                                            \
	"	.cfi_def_cfa_register 6\n"                                                   \
	"	sub $256, %rsp\n"                                                            \
	"	and $-16, %rsp\n"                                                            \
	STORE_VECTORS                                                                        \
	pass                                                                                 \
	"	call *%rax\n"                                                                \
	LOAD_VECTORS                                                                        \
	"	leave\n"                                                                     \
	"	.cfi_def_cfa 7, 8\n"                                                         \
	"	ret\n"                                                                       \
	"	.cfi_endproc\n"

__asm__(
	".text\n"
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
	SAVED_CALL(returns_make)
	PASSED_CALL(leave_with_arguments)
	PASSED_CALL(keep_arguments)
	"agent_passing_vectors:\n"
	SAVE_VECTORS("	mov %rsp, %rcx\n")
	"agent_saving_vectors:\n"
	SAVE_VECTORS(""));
/* clang-format on */

#endif
