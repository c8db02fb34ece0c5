/*
 * The descriptors that poll() and select() wait for. The tests have them read from their own
 * memory, by lines as the kernel writes them. No line may make the reader read much or crash.
 */
#include "trace.h"
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "launcher/sched/sched_set.h"

static struct fxt_sched_set set;

static bool polls(const void *fds, uint64_t count)
{
	char line[256];

	snprintf(line, sizeof(line), "%d 0x%" PRIxPTR " 0x%" PRIx64 " 0x0 0x0 0x8 0x0 0x7fff 0x7fff\n",
	        SYS_ppoll, (uintptr_t)fds, count);
	return fxt_sched_set_read(&set, (uint32_t)getpid(), FXT_CALL_OF_POLLED, line);
}

static bool selects(uint64_t count, const void *reads, const void *writes, const void *others)
{
	char line[256];

	snprintf(line, sizeof(line),
	        "%d 0x%" PRIx64 " 0x%" PRIxPTR " 0x%" PRIxPTR " 0x%" PRIxPTR " 0x0 0x0 0x7fff 0x7fff\n",
	        SYS_pselect6, count, (uintptr_t)reads, (uintptr_t)writes, (uintptr_t)others);
	return fxt_sched_set_read(&set, (uint32_t)getpid(), FXT_CALL_OF_SELECTED, line);
}

static void set_is(uint32_t count, int32_t first, int32_t last)
{
	assert_int_equal(set.count, count);
	assert_int_equal(set.fds[0], first);
	assert_int_equal(set.fds[count < FXT_SET_SHOWN ? count - 1 : FXT_SET_SHOWN - 1], last);
	assert_false(set.has_more);
}

/* Memory behind which nothing is mapped. */
static void *at_the_edge(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED && munmap(pages + page, page) == 0);
	return pages + page - bytes;
}

static void polled(void **state)
{
	struct pollfd fds[] = {{.fd = 9}, {.fd = -1}, {.fd = 2}, {.fd = 9}, {.fd = 4}};

	(void)state;
	assert_true(polls(fds, 1));
	set_is(1, 9, 9);
	assert_true(polls(fds, 3));
	set_is(2, 9, 2);
	assert_true(polls(fds, 5));
	set_is(4, 9, 9);
	assert_false(polls(fds + 1, 1));
	assert_false(polls(NULL, 0));
}

static void selected(void **state)
{
	fd_set reads, others;

	(void)state;
	FD_ZERO(&reads);
	FD_ZERO(&others);
	assert_false(selects(FD_SETSIZE, &reads, NULL, &others));
	FD_SET(63, &reads);
	FD_SET(1023, &reads);
	FD_SET(63, &others);
	FD_SET(64, &others);
	assert_true(selects(FD_SETSIZE, &reads, NULL, &others));
	set_is(3, 63, 1023);
	assert_true(selects(64, NULL, &reads, &others));
	set_is(1, 63, 63);
	assert_false(selects(63, &reads, &others, NULL));
	assert_false(selects(0, &reads, NULL, NULL));
}

static void hostile(void **state)
{
	struct pollfd *fds = at_the_edge(256 * sizeof(*fds));
	fd_set *reads = at_the_edge(sizeof(*reads));
	static const char *const lines[] = {
	        "", "running\n", "-1 0x7fff 0x7fff\n", "7 0x1 0x1 0x1\n", "7 x 0x1 0x1 0x1 0x1\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_false(fxt_sched_set_read(&set, (uint32_t)getpid(), FXT_CALL_OF_POLLED, lines[i]));
	assert_false(fxt_sched_set_read(
	        &set, (uint32_t)getpid(), FXT_CALL_OF_OTHER, "7 0x1 0x1 0x1 0x1 0x1 0x1\n"));
	/* Counts that no call has: only the beginning is read. */
	assert_true(polls(fds, UINT64_MAX));
	assert_int_equal(set.count, 256);
	assert_true(set.has_more);
	FD_SET(1, reads);
	assert_true(selects(UINT64_MAX, reads, NULL, NULL));
	assert_int_equal(set.count, 1);
	assert_true(set.has_more);
	/* Addresses of nothing, or of too little. */
	assert_false(polls(NULL, 1));
	assert_false(polls((void *)UINTPTR_MAX, 1));
	assert_false(polls(fds + 1, 256));
	assert_false(selects(FD_SETSIZE, (uint8_t *)reads + 1, NULL, NULL));
	assert_false(selects(FD_SETSIZE, reads, (void *)1, NULL));
	assert_false(selects(FD_SETSIZE, reads, NULL, (void *)UINTPTR_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(polled),
	        cmocka_unit_test(selected),
	        cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
