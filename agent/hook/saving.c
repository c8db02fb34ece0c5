/*
 * Saves the vector registers around calls that leave the hooks' short way (saving.h). The
 * agent has no AVX code of its own and brings its own memcpy() and the like. So the 16
 * halves that SSE code may change are enough.
 */
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

#define STORE(n) "movaps %xmm" #n ", 16*" #n "(%rsp)\n"
#define LOAD(n)  "movaps 16*" #n "(%rsp), %xmm" #n "\n"
#define ALL_XMM(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15)

#define SAVE_VECTORS(pass)                                                                   \
	"	.cfi_startproc\n"                                                            \
	"	push %rbp\n"                                                                 \
	"	.cfi_def_cfa_offset 16\n"                                                    \
	"	.cfi_offset 6, -16\n"                                                        \
	"	mov %rsp, %rbp\n"                                                            \
	"	.cfi_def_cfa_register 6\n"                                                   \
	"	sub $256, %rsp\n"                                                            \
	"	and $-16, %rsp\n"                                                            \
	ALL_XMM(STORE)                                                                       \
	pass                                                                                 \
	"	call *%rax\n"                                                                \
	ALL_XMM(LOAD)                                                                        \
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
	SAVED_CALL(return_make)
	PASSED_CALL(leave_with_arguments)
	PASSED_CALL(keep_arguments)
	"agent_passing_vectors:\n"
	SAVE_VECTORS("	mov %rsp, %rcx\n")
	"agent_saving_vectors:\n"
	SAVE_VECTORS(""));
/* clang-format on */

#endif
