/*
 * How the first instructions of functions are moved, against bytes that were encoded by hand;
 * and plans of damaged files.
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

static size_t read_file(uint8_t *bytes, size_t room)
{
	int fd = open("tests/fuzz/plan/library", O_RDONLY | O_CLOEXEC);
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

static void damaged_files_cost_their_functions_alone(void **state)
{
	static uint8_t whole[65536], damaged[65536];
	size_t count = read_file(whole, sizeof(whole));

	(void)state;
	assert_int_equal(plan_of(whole, count), 3);
	for (unsigned round = 0; round < 5000; round++) {
		memcpy(damaged, whole, count);
		for (unsigned i = 0; i <= round % 8; i++)
			damaged[random_below(count)] = (uint8_t)random_number();
		plan_of(damaged, round % 3 ? count : random_below(count));
	}
	for (size_t at = 0; at + 8 <= count; at += 4) {
		memcpy(damaged, whole, count);
		memset(damaged + at, at % 8 ? 0xff : 0x7f, 8);
		plan_of(damaged, count);
	}
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
	};

	return cmocka_run_group_tests_name("moving of functions' first instructions", tests, NULL, NULL);
}
