/*
 * How the first instructions of functions are moved, against bytes that were encoded by hand;
 * where notes say that a probe's arguments are; and plans of damaged files.
 */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "launcher/planning/moved.h"
#include "launcher/planning/plan.h"
#include "launcher/planning/probe_operands.h"
#include "launcher/planning/probe_plan.h"
#include "launcher/planning/probe_requests.h"
#include "random.h"

#define ADDRESS UINT64_C(0x1000)

/* Reads bytes written as "55 48 89". */
static size_t read_bytes(const char *text, uint8_t *bytes)
{
	size_t count = 0;
	unsigned byte;

	for (int used; sscanf(text, "%2x%n", &byte, &used) == 1; text += used)
		bytes[count++] = (uint8_t)byte;
	return count;
}

/* Moves code that is followed by `room` bytes in all before the next function. */
static enum fxt_plan_obstacle move(const char *text, size_t room, struct fxt_moved *moved)
{
	uint8_t code[64];
	size_t count = read_bytes(text, code);

	memset(code + count, 0x90, sizeof(code) - count);
	return fxt_move(code, sizeof(code), ADDRESS, room, moved);
}

/* Fixups are the offsets of the distances, of which "__" stands before each. */
static void assert_moved(
        const char *name, const char *from, unsigned taken, unsigned constant, const char *expected)
{
	struct fxt_moved moved;
	uint8_t bytes[128], fixups[FXT_PLAN_FIXUPS] = {0};
	char plain[512] = "";
	unsigned fixup_count = 0;
	size_t count = 0;

	for (const char *at = expected; *at;) {
		if (at[0] == '_') {
			fixups[fixup_count++] = (uint8_t)count;
			at += strspn(at, "_ ");
			continue;
		}
		strncat(plain, at, 3);
		count++;
		at += strlen(at) < 3 ? strlen(at) : 3;
	}
	count = read_bytes(plain, bytes);
	if (move(from, 64, &moved) != FXT_PLAN_NONE)
		fail_msg("%s: it is not moved", name);
	if (moved.code_bytes != count || memcmp(moved.code, bytes, count) != 0) {
		for (unsigned i = 0; i < moved.code_bytes; i++)
			print_message("%02x ", moved.code[i]);
		fail_msg("%s: other bytes", name);
	}
	if (moved.fixup_count != fixup_count || memcmp(moved.fixups, fixups, fixup_count) != 0)
		fail_msg("%s: other distances", name);
	assert_int_equal(moved.taken, taken);
	assert_int_equal(moved.constant, constant);
}

static void whole_instructions_are_moved_with_a_jump_back(void **state)
{
	(void)state;
	assert_moved("a frame", "55 48 89 e5 48 83 ec 10", 8, 0, "55 48 89 e5 48 83 ec 10 e9 __ fb ff ff ff");
	assert_moved("five bytes", "b8 01 00 00 00", 5, 0, "b8 01 00 00 00 e9 __ fb ff ff ff");
	assert_moved("a long one", "50 50 50 50 48 b8 01 02 03 04 05 06 07 08", 14, 0,
	        "50 50 50 50 48 b8 01 02 03 04 05 06 07 08 e9 __ fb ff ff ff");
	assert_moved("a vector", "c5 f9 ef c0 c3", 5, 0, "c5 f9 ef c0 c3");
}

static void distances_lead_to_the_same_places(void **state)
{
	(void)state;
	assert_moved("a load", "48 8b 05 10 00 00 00", 7, 0, "48 8b 05 __ 10 00 00 00 e9 __ fb ff ff ff");
	assert_moved("a comparison with a constant", "83 3d 10 00 00 00 05", 7, 0,
	        "83 3d __ 10 00 00 00 05 e9 __ fb ff ff ff");
	assert_moved("a constant of four bytes", "c7 05 10 00 00 00 44 33 22 11", 10, 0,
	        "c7 05 __ 10 00 00 00 44 33 22 11 e9 __ fb ff ff ff");
	assert_moved("a load behind a branch that grows by four bytes", "85 ff 78 10 48 8b 05 00 01 00 00",
	        11, 0, "85 ff 0f 88 __ 0c 00 00 00 48 8b 05 __ fc 00 00 00 e9 __ f7 ff ff ff");
}

static void branches_become_long(void **state)
{
	(void)state;
	assert_moved("a short one", "85 ff 78 03 c3", 5, 0, "85 ff 0f 88 __ ff ff ff ff c3");
	assert_moved("a long one", "85 ff 0f 84 00 01 00 00", 8, 0,
	        "85 ff 0f 84 __ 00 01 00 00 e9 __ fb ff ff ff");
	assert_moved("a short jump", "eb 05", 2, 0, "e9 __ 02 00 00 00");
	assert_moved("a long jump", "e9 00 01 00 00", 5, 0, "e9 __ 00 01 00 00");
	assert_moved("a jump by a slot", "ff 25 00 01 00 00", 6, 0, "ff 25 __ 00 01 00 00");
	assert_moved("a jump by a register", "48 89 f0 ff e0", 5, 0, "48 89 f0 ff e0");
}

static void calls_leave_the_old_return_address(void **state)
{
	(void)state;
	assert_moved("a call", "e8 00 01 00 00", 5, 11,
	        "ff 35 05 00 00 00 e9 __ fa 00 00 00 05 10 00 00 00 00 00 00");
	assert_moved("a call by a slot", "ff 15 00 01 00 00", 6, 12,
	        "ff 35 06 00 00 00 ff 25 __ fa 00 00 00 06 10 00 00 00 00 00 00");
	assert_moved("a call behind another instruction", "53 e8 00 01 00 00", 6, 12,
	        "53 ff 35 05 00 00 00 e9 __ fa 00 00 00 06 10 00 00 00 00 00 00");
}

static void the_rest_behind_a_return_may_be_padding(void **state)
{
	struct fxt_moved moved;

	(void)state;
	assert_moved("a return", "c3", 1, 0, "c3");
	assert_moved("zero", "31 c0 c3 cc cc", 3, 0, "31 c0 c3");
	assert_int_equal(move("c3", 5, &moved), FXT_PLAN_NONE);
	assert_int_equal(move("c3", 4, &moved), FXT_PLAN_SHORT);
	assert_int_equal(move("c3 55 48 89 e5", 64, &moved), FXT_PLAN_SHORT);
	assert_int_equal(move("48 89 e5 48 89 c3", 5, &moved), FXT_PLAN_SHORT);
}

static void what_works_only_where_it_is_stays_there(void **state)
{
	static const char *const fixed[] = {"e3 05", "e2 05", "e0 05", "ff d0", "41 ff d3", "ff 17", "cc",
	        "c7 f8 00 00 00 00", "ff 1d 00 01 00 00", "64 ff 15 00 01 00 00",
	        "85 ff 78 10 48 8b 05 00 00 00 80"};
	static const char *const unknown[] = {"06", "ff ff", "c5 f9 ff", "f0 90"};
	struct fxt_moved moved;

	(void)state;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (move(fixed[i], 64, &moved) != FXT_PLAN_FIXED)
			fail_msg("%s is moved", fixed[i]);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		if (move(unknown[i], 64, &moved) == FXT_PLAN_NONE)
			fail_msg("%s is moved", unknown[i]);
	assert_int_equal(fxt_move((const uint8_t[]){0x55, 0x48}, 2, ADDRESS, 64, &moved), FXT_PLAN_UNKNOWN);
}

/* ---- damaged files ---- */

static size_t read_file(const char *path, uint8_t *bytes, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count = read(fd, bytes, room);

	close(fd);
	assert_true(count > 0 && (size_t)count < room);
	return (size_t)count;
}

/* How many functions the plan has. */
static unsigned plan_of(const uint8_t *bytes, size_t count)
{
	char *copy = malloc(count);
	struct fxt_plan *plan = NULL;
	unsigned functions = 0;
	size_t plan_bytes;
	Elf *elf;

	assert_non_null(copy);
	memcpy(copy, bytes, count);
	elf_version(EV_CURRENT);
	elf = elf_memory(copy, count);
	if (elf && elf_kind(elf) == ELF_K_ELF && !fxt_plan_make(elf, &plan, &plan_bytes, NULL, NULL))
		functions = plan->count;
	free(plan);
	elf_end(elf);
	free(copy);
	return functions;
}

/* Damages a file in many ways, and plans it. */
static void damage(const uint8_t *whole, size_t count, unsigned (*plan)(const uint8_t *bytes, size_t count))
{
	static uint8_t damaged[65536];

	for (unsigned round = 0; round < 5000; round++) {
		memcpy(damaged, whole, count);
		for (unsigned i = 0; i <= round % 8; i++)
			damaged[random_below(count)] = (uint8_t)random_number();
		plan(damaged, round % 3 ? count : random_below(count));
	}
	for (size_t at = 0; at + 8 <= count; at += 4) {
		memcpy(damaged, whole, count);
		memset(damaged + at, at % 8 ? 0xff : 0x7f, 8);
		plan(damaged, count);
	}
}

static void damaged_files_cost_their_functions_alone(void **state)
{
	static uint8_t whole[65536];
	size_t count = read_file("tests/fuzz/plan/library", whole, sizeof(whole));

	(void)state;
	assert_int_equal(plan_of(whole, count), 3);
	damage(whole, count, plan_of);
}

/* ---- probes ---- */

/* How many probes the plan has. */
static unsigned probe_plan_of(const uint8_t *bytes, size_t count)
{
	const char *const all = "*:*@arg3/s";
	char *copy = malloc(count), *names = NULL;
	struct fxt_probe_plan *plan = NULL;
	unsigned probes = 0;
	size_t plan_bytes;
	Elf *elf;

	assert_non_null(copy);
	memcpy(copy, bytes, count);
	elf_version(EV_CURRENT);
	elf = elf_memory(copy, count);
	if (elf && elf_kind(elf) == ELF_K_ELF &&
	        !fxt_probe_plan_make(elf, &all, 1, &plan, &plan_bytes, &names) && plan)
		probes = plan->count;
	free(plan);
	free(names);
	elf_end(elf);
	free(copy);
	return probes;
}

static void damaged_files_cost_their_probes_alone(void **state)
{
	static uint8_t whole[65536];
	size_t count = read_file("tests/fuzz/plan/probes", whole, sizeof(whole));

	(void)state;
	assert_int_equal(probe_plan_of(whole, count), 2);
	damage(whole, count, probe_plan_of);
}

static void probes_that_one_jump_takes_share_it(void **state)
{
	/* nop; lea (%rdi,%rdi), %eax; nop; ret */
	static const uint8_t code[] = {0x90, 0x8d, 0x04, 0x3f, 0x90, 0xc3, 0x90, 0x90};
	const uint64_t sites[] = {ADDRESS, ADDRESS + 4};
	struct fxt_moved moved;

	(void)state;
	assert_int_equal(
	        fxt_move_probes(code, sizeof(code), ADDRESS, sizeof(code), sites, 2, &moved), FXT_PLAN_NONE);
	assert_int_equal(moved.call_count, 2);
	assert_int_equal(moved.taken, 5);
	assert_int_equal(moved.calls[0], 0);
	assert_int_equal(moved.calls[1], FXT_PLAN_CALL_BYTES + 3);
	assert_memory_equal(moved.code + FXT_PLAN_CALL_BYTES, code + 1, 3);
	/* No site: what is there does something. */
	assert_int_equal(fxt_move_probes(code + 1, 7, ADDRESS, 7, sites, 1, &moved), FXT_PLAN_FIXED);
}

static void operands_are_where_notes_say(void **state)
{
	static const struct {
		const char *text;
		struct fxt_operand expected;
	} cases[] = {
#define NONE FXT_OPERAND_NONE
	        {"-4@%eax", {.place = FXT_OPERAND_REGISTER,
	                            .type = FXT_OPERAND_SIGNED,
	                            .bytes = 4,
	                            .base = 0,
	                            .index = NONE}},
	        {"1@%ah", {.place = FXT_OPERAND_REGISTER, .bytes = 1, .base = 0, .index = NONE, .shift = 8}},
	        {"2@%r11w", {.place = FXT_OPERAND_REGISTER, .bytes = 2, .base = 11, .index = NONE}},
	        {"8@$17", {.place = FXT_OPERAND_CONSTANT,
	                          .bytes = 8,
	                          .base = NONE,
	                          .index = NONE,
	                          .value = 17}},
	        {"-8@$-5000000000", {.place = FXT_OPERAND_CONSTANT,
	                                    .type = FXT_OPERAND_SIGNED,
	                                    .bytes = 8,
	                                    .base = NONE,
	                                    .index = NONE,
	                                    .value = -5000000000}},
	        {"8f@%xmm13", {.place = FXT_OPERAND_VECTOR,
	                              .type = FXT_OPERAND_FLOAT,
	                              .bytes = 8,
	                              .base = 13,
	                              .index = NONE}},
	        {"4@-24(%rbp)",
	                {.place = FXT_OPERAND_MEMORY, .bytes = 4, .base = 5, .index = NONE, .value = -24}},
	        {"4@8(%rax,%rcx,4)", {.place = FXT_OPERAND_MEMORY,
	                                     .bytes = 4,
	                                     .base = 0,
	                                     .index = 1,
	                                     .scale = 4,
	                                     .value = 8}},
	        {"8@(%r9)", {.place = FXT_OPERAND_MEMORY, .bytes = 8, .base = 9, .index = NONE}},
	        {"8@%fs:40", {.place = FXT_OPERAND_MEMORY,
	                             .bytes = 8,
	                             .base = FXT_OPERAND_THREAD,
	                             .index = NONE,
	                             .value = 40}},
#undef NONE
	};
	static const char *const unknown[] = {"8@nowhere(%rip)", "8@%rxx", "3@%eax", "8@", "@", "x",
	        "8@(%rip)", "8@8(%rax", "1f@%al", "8@%fs:x@tpoff", "99999@%eax"};
	struct fxt_operand operands[FXT_PROBE_ARGUMENTS];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(fxt_operands_read(NULL, cases[i].text, operands), 1);
		assert_memory_equal(&operands[0], &cases[i].expected, sizeof(operands[0]));
	}
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		assert_int_equal(fxt_operands_read(NULL, unknown[i], operands), 1);
		assert_int_equal(operands[0].place, FXT_OPERAND_UNKNOWN);
	}
	assert_int_equal(fxt_operands_read(NULL, "", operands), 0);
	assert_int_equal(fxt_operands_read(NULL, "1@%al 2@%ax  4@%eax", operands), 3);
	assert_int_equal(
	        fxt_operands_read(NULL, "1 2 3 4 5 6 7 8 9 10 11 12 13 14", operands), FXT_PROBE_ARGUMENTS);
}

static void patterns_choose_probes(void **state)
{
	const char *const values[] = {"list", "a:x__*,b:open@arg2/s", "b:*@arg12/s"};
	unsigned texts;
	bool overlaps;
	size_t stem;

	(void)state;
	assert_null(fxt_probe_request_check("a:b"));
	assert_null(fxt_probe_request_check("a:b@arg1/s@arg2/s,c:*"));
	for (size_t i = 0; i < 7; i++) {
		static const char *const wrong[] = {
		        "", "a", ":b", "a:", "a:b@arg0/s", "a:b@arg13/s", "a:b@arg1/x"};

		assert_non_null(fxt_probe_request_check(wrong[i]));
	}
	assert_true(fxt_probe_is_wanted(values, 3, "a", "x__start", &texts));
	assert_int_equal(texts, 0);
	assert_true(fxt_probe_is_wanted(values, 3, "b", "open", &texts));
	assert_int_equal(texts, 0x802);
	assert_false(fxt_probe_is_wanted(values, 3, "a", "y", &texts));
	assert_int_equal(fxt_probe_pair("a", "x__start", &stem, &overlaps), 1);
	assert_int_equal(stem, 1);
	assert_int_equal(fxt_probe_pair("a", "long-return", &stem, &overlaps), -1);
	assert_int_equal(stem, 4);
	assert_false(overlaps);
	assert_int_equal(fxt_probe_pair("a", "restart", &stem, &overlaps), 0);
	assert_int_equal(fxt_probe_pair("a", "__start", &stem, &overlaps), 0);
	assert_int_equal(fxt_probe_pair("postgresql", "transaction__abort", &stem, &overlaps), -1);
	assert_true(overlaps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(whole_instructions_are_moved_with_a_jump_back),
	        cmocka_unit_test(distances_lead_to_the_same_places),
	        cmocka_unit_test(branches_become_long),
	        cmocka_unit_test(calls_leave_the_old_return_address),
	        cmocka_unit_test(the_rest_behind_a_return_may_be_padding),
	        cmocka_unit_test(what_works_only_where_it_is_stays_there),
	        cmocka_unit_test(damaged_files_cost_their_functions_alone),
	        cmocka_unit_test(damaged_files_cost_their_probes_alone),
	        cmocka_unit_test(probes_that_one_jump_takes_share_it),
	        cmocka_unit_test(operands_are_where_notes_say),
	        cmocka_unit_test(patterns_choose_probes),
	};

	return cmocka_run_group_tests_name("plans of functions and probes", tests, NULL, NULL);
}
