/* Which functions a call of a hook is given, of code that an assembler made; and the
 * lengths of instructions, as it says them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "agent/patch/flow.h"

#ifdef __x86_64__
/* The function `one` is excluded, and `other` is not. RDI has one of them at a call. */
void one(void), other(void), hook(void);
__asm__(".pushsection .text; .globl one, other, hook\n"
        "one: ret; other: ret; hook: ret; .popsection");

#define CODE(name, text)                                                                            \
	extern const uint8_t name[], name##_end[];                                                  \
	__asm__(".pushsection .text; .globl " #name ", " #name "_end\n" #name ":\n" text "\n" #name \
	        "_end: .skip 32, 0xcc; .popsection")

CODE(apart, "push %rbx; lea one(%rip), %rdi; call hook; lea other(%rip), %rbx; mov %rbx, %rdi; call hook\n"
            "mov %rbx, %rdi; call hook; lea one(%rip), %rbx; mov %rbx, %rdi; pop %rbx; .byte 0xe9; .long "
            "hook - . - 4");
CODE(merged, "lea one(%rip), %rdi; test %eax, %eax; jz 1f; lea other(%rip), %rdi; 1: call hook; ret");
CODE(backward,
        "lea one(%rip), %rbp; 1: mov %rbp, %rdi; call hook; lea other(%rip), %rbp; dec %eax; jnz 1b; ret");
CODE(chosen, "lea one(%rip), %rdi; lea other(%rip), %rax; test %edx, %edx; cmovz %rax, %rdi; call hook; ret");
CODE(spilled, "lea other(%rip), %rax; mov %rax, 8(%rsp); lea one(%rip), %rdi; call hook\n"
              "mov 16(%rsp), %rdi; call hook; ret");
CODE(in_vector, "lea other(%rip), %r9; movq %r9, %xmm3; movq %xmm3, %r12; mov %r12, %rdi; call hook; ret");
CODE(exchanged, "lea one(%rip), %rdi; lea other(%rip), %r15; xchg %rdi, %r15; call hook; ret");
CODE(by_table, "lea one(%rip), %rbx; jmp *(%rsi, %rax, 8); mov %rbx, %rdi; call hook; lea other(%rip), %rbx\n"
               "jmp *%rax; mov %rbx, %rdi; call hook");
CODE(thrown, "lea other(%rip), %rbx; call other; lea one(%rip), %rbx; mov %rbx, %rdi; call hook; ret\n"
             "mov %rbx, %rdi; call hook; ret");
CODE(handled, "lea one(%rip), %rbx; call other; ret; mov %rbx, %rdi; call hook; ret");
CODE(forgotten, "lea other(%rip), %rdi; call hook; xor %ebx, %ebx; add %rdi, %rbx; lea one(%rip), %rdi; call "
                "hook; ret");
CODE(of_neither, "mov (%rsi), %rdi; call hook; lea one(%rip), %rdi; call hook; ret");
CODE(interrupted, "lea other(%rip), %rbx; int3; lea one(%rip), %rdi; call hook; ret");
CODE(torn, "lea other(%rip), %rbx; jmp 1f + 1; 1: lea one(%rip), %rdi; call hook; ret");

static struct agent_flow flow;
static char told[16];

static bool is_hook(const struct agent_instruction *i)
{
	return i->target == (uint64_t)(uintptr_t)hook;
}

/* Writes the verdicts on all calls of the hook. */
static void tell(const uint8_t *start, const uint8_t *end)
{
	struct agent_instruction i;

	told[0] = 0;
	for (uint64_t at = (uint64_t)(uintptr_t)start; at < (uint64_t)(uintptr_t)end; at += i.length) {
		assert_true(agent_instruction_decode((const uint8_t *)(uintptr_t)at, at, &i));
		if (i.kind == AGENT_CALLS && is_hook(&i))
			strcat(told, agent_flow_is_excluded(&flow, at) ? "-" : "R");
	}
}

/* Returns the verdicts on the calls of the hook: R for one that stays, - for one that may
 * go; NULL: not understood. */
static const char *follow(const uint8_t *start, const uint8_t *end, bool has_handlers)
{
	struct agent_flow_part *part;
	int32_t distance;

	assert_true(agent_flow_begin(&flow));
	flow.has_handlers = has_handlers;
	part = agent_flow_add(&flow, (uint64_t)(uintptr_t)start, (uint64_t)(uintptr_t)end);
	memcpy(flow.code + part->first, start, (size_t)(end - start));
	for (const uint8_t *at = start; at < end; at++) {
		uint64_t target;

		memcpy(&distance, at + 3, sizeof(distance));
		target = (uint64_t)(uintptr_t)at + 7 + (uint64_t)(int64_t)distance;
		if ((at[0] & 0xfb) == 0x48 && at[1] == 0x8d && target == (uint64_t)(uintptr_t)one)
			agent_flow_mark(&flow, (uint32_t)(at - start), AGENT_FLOW_EXCLUDED);
		if ((at[0] & 0xfb) == 0x48 && at[1] == 0x8d && target == (uint64_t)(uintptr_t)other)
			agent_flow_mark(&flow, (uint32_t)(at - start), AGENT_FLOW_RECORDED);
	}
	if (!agent_flow_follow(&flow, is_hook))
		return NULL;
	tell(start, end);
	return told;
}

static void functions_are_told_apart_wherever_their_addresses_go(void **state)
{
	(void)state;
	assert_string_equal(follow(apart, apart_end, false), "-RR");
	assert_true(agent_flow_is_excluded(&flow, (uint64_t)(uintptr_t)apart_end - 5)); /* the jump */
	assert_string_equal(follow(merged, merged_end, false), "R");
	assert_string_equal(follow(backward, backward_end, false), "R");
	assert_string_equal(follow(chosen, chosen_end, false), "R");
	assert_string_equal(follow(spilled, spilled_end, false), "-R");
	assert_string_equal(follow(in_vector, in_vector_end, false), "R");
	assert_string_equal(follow(exchanged, exchanged_end, false), "R");
	assert_string_equal(follow(by_table, by_table_end, false), "RR");
	assert_string_equal(follow(forgotten, forgotten_end, false), "R-");
}

static void an_exception_brings_what_was_there_at_a_call(void **state)
{
	(void)state;
	assert_string_equal(follow(thrown, thrown_end, false), "-R");
	assert_string_equal(follow(thrown, thrown_end, true), "RR");
	assert_string_equal(follow(handled, handled_end, true), "-");
}

static void what_is_not_known_to_be_left_out_stays(void **state)
{
	(void)state;
	assert_string_equal(follow(of_neither, of_neither_end, false), "R-");
	assert_null(follow(interrupted, interrupted_end, false));
	assert_null(follow(torn, torn_end, false));
}

extern const uint8_t instructions[], instructions_end[], lengths[];
__asm__(".macro I text:vararg\n"
        "1: \\text\n"
        "2: .pushsection .rodata.lengths, \"a\"; .byte 2b - 1b; .popsection\n"
        ".endm\n"
        ".pushsection .rodata.lengths, \"a\"; .globl lengths; lengths: .popsection\n"
        ".pushsection .text; .globl instructions, instructions_end\n"
        "instructions:\n"
        "I nop\nI endbr64\nI nopw %cs:512(%rax,%rax,1)\nI push %r12\nI pop %rbx\n"
        "I push $0x12345678\nI push $1\nI mov %rsp, %rbp\nI mov 8(%rsp), %rdi\n"
        "I mov %fs:40, %rax\nI movabs $0x123456789abc, %r10\nI mov $7, %eax\nI movw $5, 8(%rax)\n"
        "I movq $-1, 300(%r13,%r14,8)\nI movb $1, (%r12)\nI lea 0(,%rax,8), %rdx\n"
        "I lea -8(%rbp), %rsi\nI add $127, %rsp\nI add $1000, %rsp\nI addw $1000, %ax\n"
        "I cmp $3, %al\nI test $0x10000, %eax\nI test $1, %dil\nI testw $0x101, %cx\nI not %rdx\n"
        "I imul $100, %rsi, %rdi\nI imul $5, (%rdi), %eax\nI shl $3, %rax\nI sar %edx\n"
        "I idivl 4(%rsi)\nI movzbl %al, %eax\nI movslq %edi, %rdi\nI cmovne %rcx, %rdx\n"
        "I sete %al\nI bt $5, %rax\nI bswap %r9\nI lock cmpxchg %rdx, (%rdi)\nI rep stosq\n"
        "I repz cmpsb\nI xchg %rax, %r8\nI leave\nI cvttsd2si %xmm1, %rax\n"
        "I pshufd $0x1b, %xmm9, %xmm2\nI palignr $8, (%rax), %xmm1\nI pextrq $1, %xmm0, %rax\n"
        "I movq %xmm0, %r11\nI vpaddd 32(%rdi), %ymm1, %ymm8\nI vzeroupper\n"
        "I vpermq $0x4e, %ymm1, %ymm2\nI andn %rax, %rbx, %rcx\nI rorx $5, %rax, %rbx\n"
        "I vmovdqu64 64(%rsi), %zmm17\nI vpternlogd $1, %zmm1, %zmm2, %zmm3\nI fldt 16(%rsp)\n"
        "I fstp %st(1)\nI rdtsc\nI syscall\nI ret $16\nI ud2\n"
        "instructions_end: .skip 32, 0x90; .popsection");

static void lengths_are_the_assemblers(void **state)
{
	const uint8_t *length = lengths;
	struct agent_instruction i;

	(void)state;
	for (const uint8_t *at = instructions; at < instructions_end; at += *length++) {
		assert_true(agent_instruction_decode(at, (uint64_t)(uintptr_t)at, &i));
		assert_int_equal(i.length, *length);
	}
	assert_true(length - lengths > 50);
}
#endif

int main(void)
{
#ifdef __x86_64__
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(functions_are_told_apart_wherever_their_addresses_go),
	        cmocka_unit_test(an_exception_brings_what_was_there_at_a_call),
	        cmocka_unit_test(what_is_not_known_to_be_left_out_stays),
	        cmocka_unit_test(lengths_are_the_assemblers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
#else
	return 0;
#endif
}
