/*
 * The compressor: what zstd unpacks is what was appended, with what was replaced, however
 * far the thread was then; and what a killed recorder leaves is all of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>
#include <cmocka.h>
#include <errno.h>
#include "launcher/manager/compressor.h"
#include "random.h"
#include "writer/format/encode.h"

enum { CALL_BYTES = 24, PIECE_CALLS = 4000, PIECES = 400, MARKED_BYTES = 520 };

/* Beyond the queue, which goes round twice. */
#define ALL_BYTES ((size_t)PIECES * (PIECE_CALLS * CALL_BYTES + MARKED_BYTES))

struct rig {
	FILE *file;
	struct fxt_compressor_queue *queue;
	struct fxt_compressor compressor;
	uint8_t *expected;
	size_t bytes;
};

static void begin(struct rig *rig)
{
	*rig = (struct rig){
	        .file = tmpfile(), .queue = fxt_compressor_map_queue(), .expected = malloc(ALL_BYTES)};
	assert_non_null(rig->file);
	assert_non_null(rig->queue);
	assert_non_null(rig->expected);
	assert_int_equal(fxt_compressor_begin(&rig->compressor, rig->queue, fileno(rig->file)), 0);
}

static void end(struct rig *rig)
{
	munmap(rig->queue, sizeof(*rig->queue));
	free(rig->expected);
	fclose(rig->file);
}

/* Records of `words` words each, of an opaque type. */
static void fill(struct rig *rig, size_t count, size_t words)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t *record = (uint64_t *)(rig->expected + rig->bytes + i * words * 8);

		for (size_t w = 1; w < words; w++)
			record[w] = random_number() & 0xffff;
		record[0] = FXT_RECORD_EVENT | (uint64_t)words << 4;
	}
}

static int append(struct rig *rig, size_t bytes)
{
	int error = fxt_compressor_append(&rig->compressor, rig->expected + rig->bytes, bytes);

	rig->bytes += bytes;
	return error;
}

/* Appends a piece that may be replaced, and returns where it is. */
static uint64_t append_marked(struct rig *rig)
{
	uint64_t at = rig->bytes;

	fill(rig, 1, MARKED_BYTES / 8);
	assert_int_equal(fxt_compressor_mark(&rig->compressor, MARKED_BYTES), 0);
	assert_int_equal(append(rig, MARKED_BYTES), 0);
	return at;
}

static void replace(struct rig *rig, uint64_t at)
{
	rig->expected[at + 17] ^= 0xff;
	assert_int_equal(fxt_compressor_replace(&rig->compressor, at + 16, rig->expected + at + 16, 8), 0);
}

/* zstd unpacks `bytes` of the expected bytes from a file. */
static void assert_unpacks(const struct rig *rig, size_t bytes)
{
	uint8_t *got = malloc(bytes + 1);
	char command[64];
	FILE *zstd;

	snprintf(command, sizeof(command), "zstd -dc </proc/%d/fd/%d", getpid(), fileno(rig->file));
	zstd = popen(command, "r");
	assert_non_null(zstd);
	assert_int_equal(fread(got, 1, bytes + 1, zstd), bytes);
	assert_int_equal(pclose(zstd), 0);
	assert_memory_equal(got, rig->expected, bytes);
	free(got);
}

static void replaced_at_any_time(void **state)
{
	struct rig rig;
	uint64_t marked[PIECES];

	(void)state;
	begin(&rig);
	for (size_t i = 0; i < PIECES; i++) {
		marked[i] = append_marked(&rig);
		if (i % 3 == 0)
			replace(&rig, marked[i]); /* in the queue, most of the time */
		fill(&rig, PIECE_CALLS, CALL_BYTES / 8);
		assert_int_equal(append(&rig, (size_t)PIECE_CALLS * CALL_BYTES), 0);
		if (i % 5 == 0)
			replace(&rig, marked[i / 2]);
	}
	assert_int_equal(fxt_compressor_drain(&rig.compressor), 0);
	assert_int_equal(fxt_compressor_saved(&rig.compressor), ALL_BYTES);
	for (size_t i = 0; i < PIECES; i += 7)
		replace(&rig, marked[i]); /* in the file */
	/* Elsewhere nothing may be replaced. */
	assert_int_not_equal(fxt_compressor_replace(&rig.compressor, marked[1] - 8, rig.expected, 8), 0);
	assert_int_not_equal(
	        fxt_compressor_replace(&rig.compressor, marked[1] + MARKED_BYTES - 8, rig.expected, 16), 0);
	fxt_compressor_end(&rig.compressor);
	assert_unpacks(&rig, ALL_BYTES);
	end(&rig);
}

/* As the job does once the recorder is dead, at any moment of its thread's. */
static void unpacked_while_it_runs(void **state)
{
	struct rig rig;
	uint8_t *got = malloc(ALL_BYTES);

	(void)state;
	begin(&rig);
	for (size_t i = 0; i < PIECES / 4; i++) {
		append_marked(&rig);
		fill(&rig, PIECE_CALLS, CALL_BYTES / 8);
		assert_int_equal(append(&rig, (size_t)PIECE_CALLS * CALL_BYTES), 0);
	}
	/* With the lock held the file does not change, except for a part of a frame. */
	pthread_mutex_lock(&rig.compressor.lock);
	struct fxt_compressor_queue *then = fxt_compressor_map_queue();
	FILE *copy = tmpfile();

	memcpy(then, rig.queue, sizeof(*then));
	assert_true(then->file_bytes <= ALL_BYTES);
	assert_int_equal(pread(fileno(rig.file), got, then->file_bytes, 0), then->file_bytes);
	assert_int_equal(pwrite(fileno(copy), got, then->file_bytes, 0), then->file_bytes);
	pthread_mutex_unlock(&rig.compressor.lock);
	assert_int_equal(pwrite(fileno(copy), "\x28\xb5\x2f\xfd", 4, (off_t)then->file_bytes), 4);

	int plain = fxt_compressor_unpack(then, fileno(copy));

	assert_true(plain >= 0);
	assert_int_equal(lseek(plain, 0, SEEK_END), rig.bytes);
	assert_int_equal(pread(plain, got, rig.bytes, 0), rig.bytes);
	assert_memory_equal(got, rig.expected, rig.bytes);
	close(plain);
	fclose(copy);
	munmap(then, sizeof(*then));
	fxt_compressor_end(&rig.compressor);
	assert_unpacks(&rig, rig.bytes);
	free(got);
	end(&rig);
}

static void file_that_is_full(void **state)
{
	struct rlimit before, limit;
	struct rig rig;
	int error = 0;

	(void)state;
	begin(&rig);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = (struct rlimit){1 << 20, before.rlim_max};
	setrlimit(RLIMIT_FSIZE, &limit);
	for (size_t i = 0; i < PIECES && !error; i++) {
		fill(&rig, PIECE_CALLS, CALL_BYTES / 8);
		error = append(&rig, (size_t)PIECE_CALLS * CALL_BYTES);
	}
	assert_int_equal(error ? error : fxt_compressor_drain(&rig.compressor), EFBIG);

	uint64_t saved = fxt_compressor_saved(&rig.compressor);

	fxt_compressor_end(&rig.compressor);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_in_range(saved, 1, ALL_BYTES);
	assert_int_equal(saved % CALL_BYTES, 0); /* whole records */
	assert_unpacks(&rig, saved);
	end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(replaced_at_any_time),
	        cmocka_unit_test(unpacked_while_it_runs),
	        cmocka_unit_test(file_that_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
