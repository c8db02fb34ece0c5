/*
 * Sources: any part of a file of a size that is known, whatever becomes of the file, and
 * whatever it is.
 */
#include "trace.h"

#include <pthread.h>
#include <sys/stat.h>

enum { WORDS = 100000 };

static uint64_t words[WORDS];
static char error[4096];

static int make_words(void **state)
{
	(void)state;
	words[0] = FXT_MAGIC_RECORD;
	for (uint64_t i = 1; i < WORDS; i++)
		words[i] = i * i;
	return 0;
}

static void has_words(const struct fxt_source *source, uint64_t extra_bytes)
{
	static uint64_t read[WORDS];

	assert_int_equal(source->bytes, sizeof(words) + extra_bytes);
	for (uint64_t at = 0; at < WORDS; at += 12345) {
		assert_int_equal(fxt_source_read(source, at * 8, read, 800), 800);
		assert_memory_equal(read, words + at, 800);
	}
	assert_int_equal(fxt_source_read(source, sizeof(words) - 16, read, 800), 16 + extra_bytes);
	assert_memory_equal(read, words + WORDS - 2, 16);
	assert_int_equal(fxt_source_read(source, source->bytes, read, 8), 0);
	assert_int_equal(fxt_source_read(source, UINT64_MAX - 8, read, 16), 0);
}

static void file(void **state)
{
	struct fxt_source source = source_of(words, sizeof(words));

	(void)state;
	has_words(&source, 0);
	fxt_source_close(&source);
}

static void *fill_pipe(void *argument)
{
	int fd = *(int *)argument;
	const char *bytes = (const char *)words;

	for (size_t left = sizeof(words); left > 0;) {
		ssize_t put = write(fd, bytes, left < 1001 ? left : 1001);

		assert_true(put > 0);
		bytes += put;
		left -= (size_t)put;
	}
	assert_int_equal(write(fd, "end", 3), 3);
	close(fd);
	return NULL;
}

static int open_pipe(struct fxt_source *source)
{
	pthread_t writer;
	int fds[2], result;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pthread_create(&writer, NULL, fill_pipe, &fds[1]), 0);
	result = fxt_source_open_fd(source, fds[0], "a pipe", error, sizeof(error));
	for (char rest[4096]; read(fds[0], rest, sizeof(rest)) > 0;)
		;
	pthread_join(writer, NULL);
	close(fds[0]);
	return result;
}

/* It can be read again, and leaves no file behind. */
static void pipe_input(void **state)
{
	char directory[] = "/tmp/fxt-test-XXXXXX";
	struct fxt_source source;

	(void)state;
	assert_non_null(mkdtemp(directory));
	setenv("TMPDIR", directory, 1);
	assert_int_equal(open_pipe(&source), 0);
	unsetenv("TMPDIR");
	assert_int_equal(rmdir(directory), 0);
	has_words(&source, 3);
	fxt_source_close(&source);
}

static void pipe_without_room(void **state)
{
	struct fxt_source source;

	(void)state;
	setenv("TMPDIR", "/nowhere", 1);
	assert_int_equal(open_pipe(&source), -1);
	unsetenv("TMPDIR");
	assert_string_equal(error, "a pipe: cannot be copied to a temporary file: No such file or directory");
}

/* Bytes beyond the original size do not belong to it; missing bytes end the reading. */
static void file_that_changes(void **state)
{
	int fd = memory_file_of(words, sizeof(words));
	struct fxt_source source;
	uint64_t read[4];

	(void)state;
	assert_int_equal(fxt_source_open_fd(&source, fd, "a file", error, sizeof(error)), 0);
	assert_int_equal(write(fd, words, sizeof(words)), sizeof(words));
	has_words(&source, 0);
	assert_int_equal(ftruncate(fd, 20), 0);
	assert_int_equal(fxt_source_read(&source, 8, read, sizeof(read)), 12);
	assert_int_equal(fxt_source_read(&source, 800, read, sizeof(read)), 0);
	fxt_source_close(&source);
	close(fd);
}

static void is_refused(const void *bytes, size_t count, const char *reason)
{
	int fd = memory_file_of(bytes, count);
	struct fxt_source source;

	assert_int_equal(fxt_source_open_fd(&source, fd, "it", error, sizeof(error)), -1);
	assert_string_equal(error, reason);
	close(fd);
}

static void refused(void **state)
{
	uint64_t swapped = __builtin_bswap64(FXT_MAGIC_RECORD);
	struct fxt_source source;

	(void)state;
	is_refused("", 0, "it: is empty");
	is_refused(words, 7, "it: is not a trace in the Fuchsia trace format (FXT)");
	is_refused(words + 1, 8, "it: is not a trace in the Fuchsia trace format (FXT)");
	is_refused(&swapped, 8, "it: is a trace of a big-endian machine, which cannot be read");
	assert_int_equal(fxt_source_open(&source, "/", error, sizeof(error)), -1);
	assert_string_equal(error, "/: cannot be read: Is a directory");
	assert_int_equal(fxt_source_open(&source, "/nowhere", error, sizeof(error)), -1);
	assert_string_equal(error, "/nowhere: cannot be opened: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(file),
	        cmocka_unit_test(pipe_input),
	        cmocka_unit_test(pipe_without_room),
	        cmocka_unit_test(file_that_changes),
	        cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, make_words, NULL);
}
