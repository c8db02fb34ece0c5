/* Calls of hooks that are taken out of code that threads execute, and put back, again and
 * again: the code does what it did, shadow stacks stay whole, and in the end each byte is
 * what it was. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "agent_rig.h"
#include "agent/base/arch.h"
#include "agent/patch/code.h"
#include "agent/patch/patch.h"
#include "agent/hook/finstrument.h"
#include "agent/process/helper.h"
#include "writer/engine/decisions.h"

#define THREADS    4
#define ERASED     20000 /* sites, in all; or $FXT_PATCHED */
#define CODE_BYTES 64
#define HOOK_ENTER agent_function_enter
#define HOOK_EXIT  agent_function_leave
#if __has_attribute(noclone)
#define INSTRUMENTED __attribute__((noinline, noclone))
#else
#define INSTRUMENTED __attribute__((noinline))
#endif

static struct rig rig;
static volatile uint32_t is_over;
static volatile int sink;
static uint64_t undecided; /* a function */

/* As a compiler instruments them. */

INSTRUMENTED static int kept(int x)
{
	HOOK_ENTER((void *)(uintptr_t)kept, __builtin_return_address(0));
	x++;
	HOOK_EXIT((void *)(uintptr_t)kept, __builtin_return_address(0));
	return x;
}

INSTRUMENTED static int leaf(int x)
{
	HOOK_ENTER((void *)(uintptr_t)leaf, __builtin_return_address(0));
	x = kept(x) + 1;
	HOOK_EXIT((void *)(uintptr_t)leaf, __builtin_return_address(0));
	return x;
}

/* At -O2 its exit is a jump. */
INSTRUMENTED static void tail(int x)
{
	HOOK_ENTER((void *)(uintptr_t)tail, __builtin_return_address(0));
	sink = x;
	HOOK_EXIT((void *)(uintptr_t)tail, __builtin_return_address(0));
}

INSTRUMENTED static int deep(int n)
{
	HOOK_ENTER((void *)(uintptr_t)deep, __builtin_return_address(0));
	if (n)
		n = deep(n - 1) + 1;
	HOOK_EXIT((void *)(uintptr_t)deep, __builtin_return_address(0));
	return n;
}

/* Has the hooks of another function too, as if that was inlined into it, which is
 * recorded. */
INSTRUMENTED static int around(int x)
{
	HOOK_ENTER((void *)(uintptr_t)around, __builtin_return_address(0));
	HOOK_ENTER((void *)(uintptr_t)kept, __builtin_return_address(0));
	x += 3;
	HOOK_EXIT((void *)(uintptr_t)kept, __builtin_return_address(0));
	HOOK_EXIT((void *)(uintptr_t)around, __builtin_return_address(0));
	return x;
}

static void exclude(int (*function)(int), bool is_excluded)
{
	uint64_t address = (uint64_t)(uintptr_t)function, word = agent_function_ref(address), mask;
	uint32_t index = (uint32_t)(word & FXT_INDEX_LOCAL);

	store_release(fxt_decision(rig.control, index),
	        fxt_function_key(address) | FXT_DECIDED |
	                (is_excluded ? fxt_decided(FXT_DECIDED_EXCLUDE, 0) : 0));
	mask = fxt_lock(&agent_engine.lock);
	fxt_decisions_carry_out_on(&agent_engine, word);
	fxt_unlock(&agent_engine.lock, mask);
}

static enum agent_code_answer answer(uint64_t function)
{
	if (fxt_function_search(&agent_engine, function) & FXT_FUNCTION_EXCLUDED)
		return AGENT_CODE_EXCLUDED;
	return function == undecided ? AGENT_CODE_UNDECIDED : AGENT_CODE_RECORDED;
}

static void restore_nothing(uint64_t start, uint8_t *copy, uint64_t bytes)
{
	(void)start, (void)copy, (void)bytes;
}

static uint32_t told, may_go_told;
static uint64_t last_told;

static void count_told(uint64_t call, bool may_go)
{
	last_told = call;
	told++;
	may_go_told += may_go;
}

static bool look_at(int (*function)(int), int (*named)(int))
{
	const struct agent_code_questions questions = {
	        .hooks = {(uint64_t)(uintptr_t)HOOK_ENTER, (uint64_t)(uintptr_t)HOOK_EXIT},
	        .ask = answer,
	        .restore = restore_nothing,
	        .tell = count_told,
	};
	uint64_t mask = fxt_lock(&agent_engine.lock);
	bool is_understood;

	told = may_go_told = 0;
	assert_true(agent_code_open_shared());
	agent_code_begin();
	is_understood =
	        agent_code_look((uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)named, &questions);
	agent_code_close();
	fxt_unlock(&agent_engine.lock, mask);
	return is_understood;
}

static bool is_at_its_end(void)
{
	return true;
}

static void begin(void)
{
	rig_map(&rig, FXT_CIRCULAR, UINT64_C(1) << 20, FXT_ON_FULL_DROP);
	assert_int_equal(
	        fxt_engine_initialize(&agent_engine, rig.buffer, rig.buffer_bytes, rig.control, "erase"), 0);
	assert_int_equal(fxt_engine_start(&agent_engine, FXT_START_RETAIN), 0);
	agent_set_recording(AGENT_BY_COUNTER);
	/* The agent's own ends at once. */
	agent_helper_prepare(
	        (struct agent_helper_job){.wakeup = &rig.control->session_command, .is_over = is_at_its_end});
	rig.control->has_filter = rig.control->erases = 1;
	agent_patch_prepare(HOOK_ENTER, HOOK_EXIT);
	assert_true(
	        agent_patch_undo_inherited()); /* nothing: sites that the test before noted are forgotten */
	agent_modules_record_all();
	exclude(kept, false);
	exclude(leaf, true);
	exclude((int (*)(int))(uintptr_t)tail, true);
	exclude(deep, true);
	exclude(around, true);
}

static void *call(void *failed)
{
	for (int i = 0; !is_over; i = (i + 1) & 0xffffff) {
		tail(i);
		if (kept(i) != i + 1 || leaf(i) != i + 2 || deep(i & 3) != (i & 3) || around(i) != i + 3)
			store_relaxed((uint32_t *)failed, 1);
		if (agent_open_calls() != 0)
			store_relaxed((uint32_t *)failed, 2);
		if (i % 64 == 0) /* for the helper, where there are few processors */
			sys_pause_ns(1000);
	}
	return NULL;
}

static uint64_t erased_wanted(void)
{
	const char *wanted = getenv("FXT_ERASED");

	return wanted ? strtoull(wanted, NULL, 10) : ERASED;
}

/* The helper's work, in a thread of its own: it gives up the table of descriptors. */
static void *erase(void *erased)
{
	uint64_t deadline = fxt_monotonic_ns() + UINT64_C(300000000000) + erased_wanted() * 1000000;

	while (*(uint64_t *)erased < erased_wanted() && fxt_monotonic_ns() < deadline) {
		agent_patch_work();
		*(uint64_t *)erased += agent_patch_sites();
		agent_patch_undo();
	}
	agent_patch_end();
	return NULL;
}

static void copy_code(uint8_t *copy)
{
	int (*const functions[])(int) = {leaf, (int (*)(int))(uintptr_t)tail, deep, around, kept};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		memcpy(copy + i * CODE_BYTES, (void *)(uintptr_t)functions[i], CODE_BYTES);
}

static void threads_call_while_sites_are_erased_and_put_back(void **state)
{
	uint8_t before[5 * CODE_BYTES], after[5 * CODE_BYTES];
	pthread_t threads[THREADS], helper;
	uint32_t failed = 0;
	uint64_t erased = 0;

	(void)state;
	begin();
	copy_code(before);
	is_over = 0;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call, &failed), 0);
	assert_int_equal(pthread_create(&helper, NULL, erase, &erased), 0);
	assert_int_equal(pthread_join(helper, NULL), 0);
	is_over = 1;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	copy_code(after);
	print_message("%lu sites\n", (unsigned long)erased);
	assert_int_equal(failed, 0);
	assert_memory_equal(before, after, sizeof(before));
	assert_true(erased >= erased_wanted() || (erased == 0 && arch_is_emulated()));
	agent_rig_end(&rig);
}

static void *work(void *unused)
{
	(void)unused;
	while (!is_over) {
		agent_patch_work();
		sys_pause_ns(10000);
	}
	agent_patch_end();
	return NULL;
}

static bool is_as_before(const uint8_t *before, int (*function)(int))
{
	return memcmp(before, (void *)(uintptr_t)function, CODE_BYTES) == 0;
}

/* An excluded function with a recorded one inlined into it: they share no call of the
 * hook. */
static void hooks_of_a_recorded_function_stay_inside_another(void **state)
{
	uint8_t before[CODE_BYTES], copied[CODE_BYTES];
	uint32_t recorded = 0;
	pthread_t helper;
	uint32_t sites;

	(void)state;
	begin();
	memcpy(before, (void *)(uintptr_t)around, CODE_BYTES);
	memcpy(copied, (void *)(uintptr_t)leaf, CODE_BYTES);
	is_over = 0;
	assert_int_equal(pthread_create(&helper, NULL, work, NULL), 0);
	for (uint64_t end = fxt_monotonic_ns() + UINT64_C(10000000000);
	        is_as_before(copied, leaf) && fxt_monotonic_ns() < end;)
		leaf(1), around(1);
	for (uint64_t end = fxt_monotonic_ns() + UINT64_C(10000000000);
	        agent_patch_sites() < 4 && fxt_monotonic_ns() < end;)
		around(1), leaf(1);
	assert_false(is_as_before(before, around));
	assert_false(is_as_before(copied, leaf));
	sites = agent_patch_sites();
	assert_int_equal(sites, 4);
	for (int i = 0; i < 1000; i++) {
		uint64_t end = agent_self.slot->committed;

		around(i);
		recorded += agent_self.slot->committed != end;
	}
	assert_int_equal(recorded, 1000);
	is_over = 1;
	assert_int_equal(pthread_join(helper, NULL), 0);
	assert_true(is_as_before(copied, leaf));
	agent_rig_end(&rig);
}

#ifdef __x86_64__
/* An exit that is a jump, behind another that is taken on a condition only. */
void jumps(void);
__asm__(".pushsection .text; .globl jumps; .type jumps, @function; jumps: .cfi_startproc\n"
        "lea jumps(%rip), %rdi; test %eax, %eax\n"
        ".byte 0x0f, 0x84; .long agent_function_leave - . - 4\n"
        ".byte 0xe9; .long agent_function_leave - . - 4\n"
        ".cfi_endproc; .popsection");

static void only_jumps_that_are_always_taken_are_exits(void **state)
{
	const uint64_t hooks[] = {(uint64_t)(uintptr_t)HOOK_ENTER, (uint64_t)(uintptr_t)HOOK_EXIT};
	uint64_t address = (uint64_t)(uintptr_t)jumps;
	struct agent_patch_site patch;

	(void)state;
	begin();
	exclude((int (*)(int))(uintptr_t)jumps, true);
	assert_true(look_at((int (*)(int))(uintptr_t)jumps, (int (*)(int))(uintptr_t)jumps));
	assert_int_equal(told, 1);
	assert_int_equal(may_go_told, 1);
	assert_int_equal(last_told, address + 15);
	assert_true(agent_code_open_shared());
	assert_true(agent_code_find(last_told, hooks, &patch));
	assert_int_equal(patch.before, 0xe9);
	assert_int_equal(patch.is_exit, 1);
	agent_code_close();
	agent_rig_end(&rig);
}
#endif

/* If a hook was called for a function that the code does not name, nothing is known about
 * its calls. */
static void calls_are_told_of_where_the_function_is_named(void **state)
{
	(void)state;
	begin();
	assert_false(look_at(around, deep));
	assert_int_equal(told, 0);
	assert_true(look_at(around, around));
	assert_int_equal(told, 4);
	assert_int_equal(may_go_told, 2);
	assert_true(look_at(leaf, leaf));
	assert_int_equal(told, may_go_told);
	agent_rig_end(&rig);
}

static void nothing_is_told_of_code_that_awaits_a_decision(void **state)
{
	(void)state;
	begin();
	undecided = (uint64_t)(uintptr_t)kept;
	assert_false(look_at(around, around));
	assert_int_equal(told, 0);
	undecided = 0;
	assert_true(look_at(around, around));
	agent_rig_end(&rig);
}

static void nothing_is_erased_where_that_is_not_wanted(void **state)
{
	uint8_t before[CODE_BYTES];
	pthread_t helper;

	(void)state;
	begin();
	rig.control->erases = 0;
	memcpy(before, (void *)(uintptr_t)leaf, CODE_BYTES);
	is_over = 0;
	assert_int_equal(pthread_create(&helper, NULL, work, NULL), 0);
	for (int i = 0; i < 100000; i++)
		leaf(i);
	sys_pause_ns(20000000);
	assert_true(is_as_before(before, leaf));
	is_over = 1;
	assert_int_equal(pthread_join(helper, NULL), 0);
	agent_rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(threads_call_while_sites_are_erased_and_put_back),
#ifdef __x86_64__
	        cmocka_unit_test(only_jumps_that_are_always_taken_are_exits),
#endif
	        cmocka_unit_test(hooks_of_a_recorded_function_stay_inside_another),
	        cmocka_unit_test(calls_are_told_of_where_the_function_is_named),
	        cmocka_unit_test(nothing_is_told_of_code_that_awaits_a_decision),
	        cmocka_unit_test(nothing_is_erased_where_that_is_not_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
