/*
 * Functions with every form of first instructions, for --patch, which writes a jump over them.
 * The program counts the calls of each and checks what it returns. Prints "recorded NAME
 * CALLS" or "left NAME CALLS" for each, and ends with status 1 if a result is wrong. Every
 * function has its own number of calls.
 */
#include <stdio.h>
#include <string.h>

/* A function of four arguments, with symbol and unwind information as compilers write them.
 * CODE may begin other functions. */
#define FUNCTION(name, code)                                                           \
	__asm__(".text\n.p2align 4\n.globl " name "\n.type " name ", @function\n" name \
	        ":\n.cfi_startproc\n" code "\n.cfi_endproc\n.size " name ", .-" name "\n")

long value = 40, cell;
char vector[64] = {3};

/* ---- branches ---- */

FUNCTION("form_branch_short", "test %rdi, %rdi; js 1f; mov $2, %eax; ret; 1: mov $1, %eax; ret");
FUNCTION("form_branch_long",
        "test %edi, %edi; js 1f; mov $2, %eax; ret; .skip 200, 0x90; 1: mov $1, %eax; ret");
FUNCTION("form_branches",
        "test %edi, %edi; js 1f; jz 2f; mov $3, %eax; ret; 1: mov $1, %eax; ret; 2: mov $2, %eax; ret");
FUNCTION("form_answer", "mov $42, %eax; ret");
FUNCTION("form_branch_away", "test %edi, %edi; js form_answer; mov $9, %eax; ret");
FUNCTION("form_jump", "jmp form_answer");
FUNCTION("form_jump_short", "jmp 1f; .skip 10, 0x90; 1: mov $8, %eax; ret");
FUNCTION("form_jump_slot", "jmp *answer_slot(%rip)");
FUNCTION("form_jump_register", "mov %rsi, %rax; jmp *%rax");

/* ---- calls ---- */

FUNCTION("form_call", "call form_answer; add $1, %eax; ret");
FUNCTION("form_call_slot", "call *answer_slot(%rip); add $2, %eax; ret");
FUNCTION("form_call_second", "xor %eax, %eax; call form_answer; add $3, %eax; ret");
FUNCTION("form_call_itself", "call 1f; 1: pop %rax; lea 1b(%rip), %rcx; sub %rcx, %rax; ret");
FUNCTION("form_call_after_push", "push %rbx; call form_answer; pop %rbx; ret");

/* ---- memory at a distance from the instruction ---- */

FUNCTION("form_load", "mov value(%rip), %rax; ret");
FUNCTION("form_store", "mov %rdi, cell(%rip); mov cell(%rip), %rax; ret");
FUNCTION("form_address", "lea value(%rip), %rax; mov (%rax), %rax; ret");
FUNCTION("form_compare8", "cmpl $40, value(%rip); sete %al; movzbl %al, %eax; ret");
FUNCTION("form_compare32", "cmpq $0x12345, value(%rip); setb %al; movzbl %al, %eax; ret");
FUNCTION("form_store8", "movb $7, cell(%rip); movzbl cell(%rip), %eax; ret");
FUNCTION("form_store16", "movw $0x1234, cell(%rip); movzwl cell(%rip), %eax; ret");
FUNCTION("form_store32", "movl $0x11223344, cell(%rip); mov cell(%rip), %eax; ret");
FUNCTION("form_two_distances", "push value(%rip); pop %rax; add value(%rip), %rax; ret");
FUNCTION("form_address32", "lea value(%eip), %rax; lea value(%rip), %rcx; sub %ecx, %eax; ret");

/* ---- short functions ---- */

FUNCTION("form_return", "ret; .p2align 4");
FUNCTION("form_return_repeated", "rep; ret; .p2align 4, 0x90");
FUNCTION("form_return_zero", "xor %eax, %eax; ret; .p2align 4, 0xcc");
FUNCTION("form_landing", "endbr64; lea 5(%rdi), %rax; ret");
FUNCTION("form_landing_return", "endbr64; ret; .p2align 4");
FUNCTION("form_landing_jump", "endbr64; jmp form_answer");

/* ---- other instructions ---- */

FUNCTION("form_push32", "push $0x12345; pop %rax; ret");
FUNCTION("form_push8", "push $17; pop %rax; ret; .p2align 4");
FUNCTION("form_frame", "push %rbp; mov %rsp, %rbp; lea (%rdi,%rsi), %rax; pop %rbp; ret");
FUNCTION("form_enter", "enter $16, $0; mov %rdi, -8(%rbp); mov -8(%rbp), %rax; leave; ret");
FUNCTION("form_wide", "push %r12; push %r13; movabs $0x1122334455667788, %rax; pop %r13; pop %r12; ret");
FUNCTION("form_locked", "lock incq value(%rip); lock decq value(%rip); mov value(%rip), %rax; ret");
FUNCTION("form_repeated",
        "push %rdi; mov $3, %eax; mov $2, %ecx; lea -32(%rsp), %rdi; rep stosb; pop %rax; ret");
FUNCTION("form_segment", "mov %fs:0, %rax; sub %fs:0, %rax; ret");
FUNCTION("form_carry", "add $-1, %rdi; sbb %rax, %rax; ret");
FUNCTION("form_vex", "vmovd vector(%rip), %xmm1; vmovd %xmm1, %eax; ret");
FUNCTION("form_vex_immediate", "vpinsrd $0, vector(%rip), %xmm1, %xmm1; vmovd %xmm1, %eax; ret");
FUNCTION("form_evex", "vmovdqu64 vector(%rip), %zmm1; vmovd %xmm1, %eax; vzeroupper; ret");

/* ---- left out ---- */

FUNCTION("form_loop", "sub $1, %rdi; jnz form_loop; mov $7, %eax; ret");
FUNCTION("form_into", "xor %eax, %eax; .Linto: add $5, %rax; ret");
FUNCTION("form_into_from", "mov %rdi, %rax; nopl (%rax); jmp .Linto");
FUNCTION("form_taken", "xor %eax, %eax; .Ltaken: add $6, %rax; ret");
FUNCTION("form_taken_from", "mov %rdi, %rax; lea .Ltaken(%rip), %rdx; jmp *%rdx");
/* 'a' goes on, anything else ends it */
FUNCTION("form_table",
        "xor %eax, %eax; .Ltable_next: movzbl (%rsi), %ecx; inc %rsi; sub $'a', %ecx; inc %eax\n"
        "lea .Ltable(%rip), %rdx; movslq (%rdx,%rcx,4), %rcx; add %rdx, %rcx; jmp *%rcx\n"
        ".Ltable_end: ret\n"
        ".section .rodata; .p2align 2; .Ltable: .long form_answer - .Ltable, .Ltable_next - .Ltable\n"
        ".long .Ltable_end - .Ltable; .text");
FUNCTION("form_words",
        "xor %eax, %eax; .Lwords_next: movzbl (%rsi), %ecx; inc %rsi; sub $'b', %ecx; inc %eax\n"
        "lea .Lwords(%rip), %rdx; jmp *(%rdx,%rcx,8)\n"
        ".Lwords_end: ret\n"
        ".section .data.rel.ro, \"aw\"; .p2align 3; .Lwords: .quad .Lwords_next, .Lwords_end; .text");
FUNCTION("form_count_zero", "jrcxz 1f; mov $1, %eax; ret; 1: mov $2, %eax; ret");
FUNCTION("form_count_loop", "loop 1f; mov $1, %eax; ret; 1: mov $2, %eax; ret");
FUNCTION("form_call_register", "call *%rsi; add $4, %eax; ret");
FUNCTION("form_too_short",
        "ret; .cfi_endproc; .size form_too_short, .-form_too_short; .globl form_behind\n"
        ".type form_behind, @function; form_behind: .cfi_startproc; lea 1(%rdi), %rax; ret; "
        ".p2align 4; .cfi_endproc; .size form_behind, .-form_behind; .cfi_startproc");
FUNCTION("form_jump_over", ".byte 0xeb, 6; 2: mov $8, %eax; ret; 1: jmp 2b");

FUNCTION("form_pop", "pop %rcx; lea 3(%rdi), %rax; jmp *%rcx");
FUNCTION("form_moves_frame", "mov (%rsp), %r10; lea -64(%rsp), %rsp; mov %r10, (%rsp); "
                             "pop %r10; lea 56(%rsp), %rsp; sub (%rsp), %r10; mov %r10, %rax; ret");
FUNCTION("form_sees_return", "push %rbx; push %rbp; mov %rsp, %rbp; sub $40, %rsp; mov 16(%rbp), %rax; "
                             "sub 56(%rsp), %rax; add $40, %rsp; pop %rbp; pop %rbx; ret");

long form_answer(long, long, long, long);
long (*answer_slot)(long, long, long, long) = form_answer;

/* ---- calling them ---- */

enum { ALWAYS, WITH_AVX, WITH_AVX512 };

/* NAME, kind, whether it is recorded, the first argument, the second, the result; ANY: none */
#define ANY -12345
#define FORMS(F)                                              \
	F(branch_short, ALWAYS, 1, -5, 0, 1)                  \
	F(branch_short, ALWAYS, 1, 5, 0, 2)                   \
	F(branch_long, ALWAYS, 1, -5, 0, 1)                   \
	F(branch_long, ALWAYS, 1, 5, 0, 2)                    \
	F(branches, ALWAYS, 1, -1, 0, 1)                      \
	F(branches, ALWAYS, 1, 0, 0, 2)                       \
	F(branches, ALWAYS, 1, 1, 0, 3)                       \
	F(answer, ALWAYS, 1, 0, 0, 42)                        \
	F(branch_away, ALWAYS, 1, -1, 0, 42)                  \
	F(branch_away, ALWAYS, 1, 1, 0, 9)                    \
	F(jump, ALWAYS, 1, 0, 0, 42)                          \
	F(jump_short, ALWAYS, 1, 0, 0, 8)                     \
	F(jump_slot, ALWAYS, 1, 0, 0, 42)                     \
	F(jump_register, ALWAYS, 1, 0, (long)form_answer, 42) \
	F(call, ALWAYS, 1, 0, 0, 43)                          \
	F(call_slot, ALWAYS, 1, 0, 0, 44)                     \
	F(call_second, ALWAYS, 1, 0, 0, 45)                   \
	F(call_itself, ALWAYS, 1, 0, 0, 0)                    \
	F(call_after_push, ALWAYS, 1, 0, 0, 42)               \
	F(load, ALWAYS, 1, 0, 0, 40)                          \
	F(store, ALWAYS, 1, 77, 0, 77)                        \
	F(address, ALWAYS, 1, 0, 0, 40)                       \
	F(compare8, ALWAYS, 1, 0, 0, 1)                       \
	F(compare32, ALWAYS, 1, 0, 0, 1)                      \
	F(store8, ALWAYS, 1, 0, 0, 7)                         \
	F(store16, ALWAYS, 1, 0, 0, 0x1234)                   \
	F(store32, ALWAYS, 1, 0, 0, 0x11223344)               \
	F(two_distances, ALWAYS, 1, 0, 0, 80)                 \
	F(address32, ALWAYS, 1, 0, 0, 0)                      \
	F(return, ALWAYS, 1, 0, 0, ANY)                       \
	F(return_repeated, ALWAYS, 1, 0, 0, ANY)              \
	F(return_zero, ALWAYS, 1, 0, 0, 0)                    \
	F(landing, ALWAYS, 1, 3, 0, 8)                        \
	F(landing_return, ALWAYS, 1, 0, 0, ANY)               \
	F(landing_jump, ALWAYS, 1, 0, 0, 42)                  \
	F(push32, ALWAYS, 1, 0, 0, 0x12345)                   \
	F(push8, ALWAYS, 1, 0, 0, 17)                         \
	F(frame, ALWAYS, 1, 3, 4, 7)                          \
	F(enter, ALWAYS, 1, 31, 0, 31)                        \
	F(wide, ALWAYS, 1, 0, 0, 0x1122334455667788)          \
	F(locked, ALWAYS, 1, 0, 0, 40)                        \
	F(repeated, ALWAYS, 1, 55, 0, 55)                     \
	F(segment, ALWAYS, 1, 0, 0, 0)                        \
	F(carry, ALWAYS, 1, 1, 0, -1)                         \
	F(carry, ALWAYS, 1, 0, 0, 0)                          \
	F(vex, WITH_AVX, 1, 0, 0, 3)                          \
	F(vex_immediate, WITH_AVX, 1, 0, 0, 3)                \
	F(evex, WITH_AVX512, 1, 0, 0, 3)                      \
	F(loop, ALWAYS, 0, 10, 0, 7)                          \
	F(into, ALWAYS, 0, 0, 0, 5)                           \
	F(into_from, ALWAYS, 1, 10, 0, 15)                    \
	F(taken, ALWAYS, 0, 0, 0, 6)                          \
	F(taken_from, ALWAYS, 1, 10, 0, 16)                   \
	F(table, ALWAYS, 0, 0, (long)"bbbbc", 5)              \
	F(words, ALWAYS, 0, 0, (long)"bbbc", 4)               \
	F(count_zero, ALWAYS, 0, 0, 0, 2)                     \
	F(count_loop, ALWAYS, 0, 0, 0, 2)                     \
	F(call_register, ALWAYS, 0, 0, (long)form_answer, 46) \
	F(too_short, ALWAYS, 0, 0, 0, ANY)                    \
	F(behind, ALWAYS, 1, 6, 0, 7)                         \
	F(jump_over, ALWAYS, 0, 0, 0, 8)                      \
	F(pop, ALWAYS, 0, 4, 0, 7)                            \
	F(moves_frame, ALWAYS, 0, 0, 0, 0)                    \
	F(sees_return, ALWAYS, 0, 0, 0, 0)

#define DECLARE(name, needs, is_recorded, first, second, result) long form_##name(long, long, long, long);
FORMS(DECLARE)

static const struct form {
	const char *name;
	long (*function)(long, long, long, long);
	int needs, is_recorded;
	long arguments[2], result;
} forms[] = {
#define FORM(name, needs, is_recorded, first, second, result) \
	{#name, form_##name, needs, is_recorded, {first, second}, result},
        FORMS(FORM)};

#define COUNT (sizeof(forms) / sizeof(*forms))

static long calls[COUNT];

static int can_run(const struct form *f)
{
	return f->needs == ALWAYS || (f->needs == WITH_AVX && __builtin_cpu_supports("avx2")) ||
	       (f->needs == WITH_AVX512 && __builtin_cpu_supports("avx512f"));
}

/* form_answer is also called by those that jump or call there. */
static long calls_answer(const struct form *f)
{
	return f->result == 42 && f->function != form_answer
	               ? 1
	               : strncmp(f->name, "call", 4) == 0 && f->result > 42;
}

int main(void)
{
	int wrong = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		const struct form *f = &forms[i];

		for (unsigned n = 0; can_run(f) && n < 100 + 7 * i; n++) {
			long result = f->function(f->arguments[0], f->arguments[1], 0, f->needs);

			if (f->result != ANY && result != f->result) {
				printf("wrong: form_%s returned %ld, not %ld\n", f->name, result, f->result);
				wrong = 1;
			}
			calls[i]++;
		}
	}
	for (unsigned i = 0; i < COUNT; i++) {
		long sum = 0;

		if (i > 0 && forms[i].function == forms[i - 1].function)
			continue;
		for (unsigned other = 0; other < COUNT; other++)
			sum += forms[other].function == forms[i].function ? calls[other]
			       : forms[i].function == form_answer ? calls[other] * calls_answer(&forms[other])
			                                          : 0;
		if (sum)
			printf("%s form_%s %ld\n", forms[i].is_recorded ? "recorded" : "left", forms[i].name,
			        sum);
	}
	return wrong;
}
