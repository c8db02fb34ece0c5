/*
 * The place of a finished archive: over the raw one, into another file, to a device; and
 * failures to write it to its end.
 */
#include "symbolizer.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* Not every file system knows files without a name (O_TMPFILE), NFS for one. */
static bool nameless_files_refused;

int open(const char *path, int flags, ...)
{
	va_list values;

	va_start(values, flags);
	unsigned mode = va_arg(values, unsigned); /* is not looked at where none was given */
	va_end(values);
	if (nameless_files_refused && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* An archive with one placeholder, and a few megabytes of calls behind it. */
static struct raw *large_raw(void)
{
	struct raw *raw = begin_raw();

	put_log(raw, "{{{module:1:/nowhere/a.so:elf:}}}");
	put_mapping(raw, 1, 0x1000, 0x1000, 0);
	put_pc(raw, 1, 0x1005, 1);
	for (int i = 0; i < 150000; i++)
		PUT(raw, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), fxt_string_empty(),
		        fxt_string_index(1), 10, NULL, 0, 20);
	return raw;
}

/* ---- output that fails ---- */

static void failed_writes_are_told(void **state)
{
	struct raw *raw = large_raw();
	struct fxt_rewrite_result result;
	char error[512];
	int in, full, pipes[2];

	(void)state;
	write_whole(in_directory("raw.fxt"), raw->words, raw->count * 8);
	in = open(in_directory("raw.fxt"), O_RDONLY);
	full = open("/dev/full", O_WRONLY);
	assert_true(in >= 0 && full >= 0 && pipe(pipes) == 0);
	assert_int_equal(fxt_rewrite_archive(in, full, &with_symbols, &result, error, sizeof(error)), -1);
	assert_non_null(strstr(error, strerror(ENOSPC)));
	close(pipes[0]);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(fxt_rewrite_archive(in, pipes[1], &with_symbols, &result, error, sizeof(error)), -1);
	assert_non_null(strstr(error, strerror(EPIPE)));
	signal(SIGPIPE, SIG_DFL);
	close(pipes[1]);
	close(full);
	close(in);
}

/* ---- files ---- */

static int rewrite_in_place(const char *name, char *error, unsigned error_bytes)
{
	struct fxt_rewrite_result result;

	return fxt_rewrite_file(in_directory(name), &with_symbols, &result, error, error_bytes);
}

/* The directory holds these names, sorted, and no more. */
static void assert_directory_holds(const char *names)
{
	char command[PATH_MAX], found[512];

	snprintf(command, sizeof(command), "ls -A %s | LC_ALL=C sort | tr '\\n' ' '", directory);
	first_line(found, sizeof(found), command);
	assert_string_equal(found, names);
}

static void replaced_in_place(void)
{
	static struct finished f;
	struct stat status;
	char error[512];
	struct raw *raw = large_raw();

	write_whole(in_directory("trace.fxt"), raw->words, raw->count * 8);
	chmod(in_directory("trace.fxt"), 0640);
	run("cd %s && mkdir -p sub && ln -sf ../trace.fxt sub/link.fxt", directory);
	assert_int_equal(rewrite_in_place("sub/link.fxt", error, sizeof(error)), 0);
	f.count = read_whole(in_directory("trace.fxt"), f.words, sizeof(f.words)) / 8;
	assert_string_equal(string_of(&f, 1), "a.so+0x5");
	assert_int_equal(stat(in_directory("trace.fxt"), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	assert_int_equal(lstat(in_directory("sub/link.fxt"), &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_directory_holds("sub trace.fxt ");
}

static void a_file_is_replaced_in_place(void **state)
{
	(void)state;
	replaced_in_place();
	nameless_files_refused = true;
	replaced_in_place();
	nameless_files_refused = false;
}

static void kept_when_writing_fails(void)
{
	struct raw *raw = large_raw();
	struct rlimit limit, small;
	char error[512];

	write_whole(in_directory("trace.fxt"), raw->words, raw->count * 8);
	getrlimit(RLIMIT_FSIZE, &limit);
	small = limit;
	small.rlim_cur = 1 << 20;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	int result = rewrite_in_place("trace.fxt", error, sizeof(error));

	setrlimit(RLIMIT_FSIZE, &limit);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(result, -1);
	assert_non_null(strstr(error, strerror(EFBIG)));
	assert_non_null(strstr(error, in_directory("trace.fxt")));
	static struct finished f;

	f.count = read_whole(in_directory("trace.fxt"), f.words, sizeof(f.words)) / 8;
	assert_int_equal(f.count, raw->count);
	assert_memory_equal(f.words, raw->words, raw->count * 8);
	assert_directory_holds("trace.fxt ");
}

static void a_file_that_cannot_be_replaced_stays(void **state)
{
	(void)state;
	kept_when_writing_fails();
	nameless_files_refused = true;
	kept_when_writing_fails();
	nameless_files_refused = false;
}

static void no_other_file_is_ever_replaced(void **state)
{
	char error[512], text[64] = "";

	(void)state;
	write_whole(in_directory("script"), "#!/bin/sh\n", 10);
	assert_int_equal(rewrite_in_place("script", error, sizeof(error)), -1);
	assert_int_equal(rewrite_in_place("nothing", error, sizeof(error)), -1);
	assert_non_null(strstr(error, in_directory("nothing")));
	assert_int_equal(rewrite_in_place(".", error, sizeof(error)), -1);
	read_whole(in_directory("script"), text, sizeof(text));
	assert_string_equal(text, "#!/bin/sh\n");
	assert_directory_holds("script ");
}

static void a_copy_leaves_the_original(void **state)
{
	struct raw *raw = begin_raw();
	struct fxt_rewrite_result result;
	struct stat status;
	char error[512];

	(void)state;
	write_whole(in_directory("a.fxt"), raw->words, raw->count * 8);
	assert_int_equal(chmod(in_directory("a.fxt"), 0600), 0);
	assert_int_equal(fxt_rewrite_copy(in_directory("a.fxt"), in_directory("b.fxt"), &with_symbols,
	                         &result, error, sizeof(error)),
	        0);
	assert_int_equal(stat(in_directory("b.fxt"), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	run("cd %s && cmp a.fxt b.fxt", directory);
	assert_directory_holds("a.fxt b.fxt ");
}

/* The same goes for a device, but a failing test should not replace one. */
static void a_pipe_is_written_to_not_replaced(void **state)
{
	struct raw *raw = begin_raw();
	struct fxt_rewrite_result result;
	uint64_t written[64];
	struct stat status;
	char error[512];
	int pipe;

	(void)state;
	write_whole(in_directory("a.fxt"), raw->words, raw->count * 8);
	assert_int_equal(mkfifo(in_directory("pipe"), 0600), 0);
	pipe = open(in_directory("pipe"), O_RDWR | O_NONBLOCK);
	assert_true(pipe >= 0);
	assert_int_equal(fxt_rewrite_copy(in_directory("a.fxt"), in_directory("pipe"), &with_symbols, &result,
	                         error, sizeof(error)),
	        0);
	assert_int_equal(stat(in_directory("pipe"), &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	assert_int_equal(read(pipe, written, sizeof(written)), raw->count * 8);
	assert_memory_equal(written, raw->words, raw->count * 8);
	close(pipe);
	assert_directory_holds("a.fxt pipe ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(failed_writes_are_told),
	        TEST(a_file_is_replaced_in_place),
	        TEST(a_file_that_cannot_be_replaced_stays),
	        TEST(no_other_file_is_ever_replaced),
	        TEST(a_copy_leaves_the_original),
	        TEST(a_pipe_is_written_to_not_replaced),
	};

	return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
