/*
 * The reported death of a process that was killed without a note of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include "launcher/manager/death.h"

static enum fxt_death_origin origin(enum fxt_seccomp seccomp, int signal, pid_t sender)
{
	static struct fxt_control control;
	struct fxt_provider p = {.pid = 10,
	        .own_pid = 10,
	        .process_koid = 10,
	        .ending = FXT_ENDED_BY_SIGNAL,
	        .signal = signal,
	        .sender = sender,
	        .seccomp = seccomp,
	        .memory = {.control = &control}};
	struct fxt_death death;

	assert_true(fxt_death_of(&p, &death));
	assert_int_equal(death.signal, signal);
	return death.origin;
}

/* A kernel before 5.16 leaves the mode as it was when it kills for it. */
static void killed_in_strict_mode(void **state)
{
	(void)state;
	assert_int_equal(origin(FXT_SECCOMP_KILLED, SIGKILL, 0), FXT_DEATH_BY_FAULT);
	assert_int_equal(origin(FXT_SECCOMP_STRICT, SIGKILL, 0), FXT_DEATH_BY_FAULT);
	assert_int_equal(origin(FXT_SECCOMP_STRICT, SIGSEGV, 0), FXT_DEATH_BY_FAULT);
	assert_int_equal(origin(FXT_SECCOMP_STRICT, SIGKILL, 20), FXT_DEATH_FROM_OUTSIDE);
	assert_int_equal(origin(FXT_SECCOMP_STRICT, SIGTERM, 0), FXT_DEATH_FROM_OUTSIDE);
	assert_int_equal(origin(FXT_SECCOMP_FILTER, SIGKILL, 0), FXT_DEATH_FROM_OUTSIDE);
	assert_int_equal(origin(FXT_SECCOMP_NONE, SIGKILL, 0), FXT_DEATH_FROM_OUTSIDE);
	assert_int_equal(origin(FXT_SECCOMP_NONE, SIGSEGV, 0), FXT_DEATH_BY_FAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(killed_in_strict_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
