/*
 * Calls of the hooks from the middle of the program's code, for sources that the compiler
 * did not make a call for (prepared.c, xray.c). The function's arguments or its result are
 * in registers there, and with -fipa-ra its caller may keep values in any other. So such a
 * source is compiled for general registers alone, and its instructions save these. The
 * names below lead all its other calls through saving.c, which saves the vector registers.
 */
#ifndef FXT_AGENT_SAVING_H
#define FXT_AGENT_SAVING_H

#define SAVING(name)               agent_saving_##name
#define agent_enter_first          SAVING(enter_first)
#define agent_enter_nested         SAVING(enter_nested)
#define agent_enter_slow_path      SAVING(enter_slow_path)
#define agent_enter_probing        SAVING(enter_probing)
#define agent_enter_general        SAVING(enter_general)
#define agent_leave_first          SAVING(leave_first)
#define agent_leave_nested         SAVING(leave_nested)
#define agent_leave_slow_path      SAVING(leave_slow_path)
#define agent_leave_mismatched     SAVING(leave_mismatched)
#define agent_leave_general        SAVING(leave_general)
#define agent_returns_make         SAVING(returns_make)
#define agent_leave_with_arguments SAVING(leave_with_arguments)
#define agent_keep_arguments       SAVING(keep_arguments)

/* clang-format off */
#define PUSH(name)         "push %" name "\n .cfi_adjust_cfa_offset 8\n"
#define POP(name)          "pop %" name "\n .cfi_adjust_cfa_offset -8\n"

/* All registers that a function need not keep, for C code. 72 bytes. */
#define SAVE_REGISTERS                                                                       \
	PUSH("rax") PUSH("rcx") PUSH("rdx") PUSH("rsi") PUSH("rdi") PUSH("r8") PUSH("r9")     \
	PUSH("r10") PUSH("r11")
#define RESTORE_REGISTERS                                                                    \
	POP("r11") POP("r10") POP("r9") POP("r8") POP("rdi") POP("rsi") POP("rdx")            \
	POP("rcx") POP("rax")

/* The vector registers that SSE code may change, at the stack pointer. 256 bytes. */
#define STORE_VECTOR(n) "movaps %xmm" #n ", 16*" #n "(%rsp)\n"
#define LOAD_VECTOR(n)  "movaps 16*" #n "(%rsp), %xmm" #n "\n"
#define EACH_VECTOR(x)                                                                       \
	x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15)
#define STORE_VECTORS EACH_VECTOR(STORE_VECTOR)
#define LOAD_VECTORS  EACH_VECTOR(LOAD_VECTOR)
/* clang-format on */

#endif
