/*
 * The archive that a session writes, against words worked out by hand from the section on
 * metadata records, and cut where the file takes no more.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "launcher/manager/archive.h"

#define MAGIC 0x0016547846040010

/* A blob of 5 words and type 3, "fxt: loss", of 10 bytes: a Perfetto packet 0a 08
 * {trace_stats 9a 02 05 {buffer_stats 0a 03 {trace_writer_packet_loss 98 01 01}}}. */
#define LOSS \
	0x0003000a80090055, 0x736f6c203a747866, 0x0000000000000073, 0x98030a05029a080a, 0x0000000000000101

static int open_temporary(void **state)
{
	FILE *file = tmpfile();

	*state = file;
	return file ? 0 : -1;
}

static int close_temporary(void **state)
{
	return fclose(*state);
}

static void provider_named(struct fxt_archive_provider *p, uint32_t id, const char *name)
{
	*p = (struct fxt_archive_provider){.id = id};
	fxt_archive_name(p, name, strlen(name));
}

static void check_file(FILE *file, const uint64_t *words, size_t count)
{
	uint64_t found[64];
	ssize_t bytes = pread(fileno(file), found, sizeof(found), 0);

	assert_int_equal(bytes, count * 8);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(found[i], words[i]);
}

static void sections(void **state)
{
	/* Instant events of two words; the archive looks at their sizes only. */
	const uint64_t a[] = {0x24, 100}, b[] = {0x24, 200, 0x24, 201};
	const uint64_t expected[] = {MAGIC,
	        /* name of 5 bytes, id 1, info, 2 words */
	        0x0050000000110020, 0x00000021676f7266, 0x24, 100,
	        /* the same provider again: nothing between */
	        0x24, 100,
	        /* name of 9 bytes, id 2, info, 3 words */
	        0x0090000000210030, 0x6867666564636261, 0x0000000000000069, 0x24, 200, 0x24, 201,
	        /* section of provider 1 */
	        0x0000000000120010, 0x24, 100,
	        /* provider event 0 of provider 1, in its section already; and a loss for
	         * viewers */
	        0x0000000000130010, LOSS,
	        /* section of provider 2, then its event and loss */
	        0x0000000000220010, 0x0000000000230010, LOSS};
	struct fxt_archive_writer archive;
	struct fxt_archive_provider first, second;

	provider_named(&first, 1, "frog!");
	provider_named(&second, 2, "abcdefghi");
	fxt_archive_begin(&archive, fileno(*state), "test", NULL);
	fxt_archive_write(&archive, &first, a, sizeof(a));
	fxt_archive_write(&archive, &first, a, sizeof(a));
	fxt_archive_write(&archive, &first, a, 0);
	fxt_archive_write(&archive, &second, b, sizeof(b));
	fxt_archive_write(&archive, &first, a, sizeof(a));
	fxt_archive_write_loss(&archive, &first);
	fxt_archive_write_loss(&archive, &second);
	check_file(*state, expected, sizeof(expected) / sizeof(*expected));
	assert_int_equal(archive.bytes, sizeof(expected));
	assert_int_equal(archive.error, 0);
}

/* Parts that are not plain calls alone are noted, with the sections that the calls belong
 * to; adjacent parts as one. */
static void parts(void **state)
{
	const uint64_t call[] = {0x0001000101040034, 100, 200}, other[] = {0x24, 100};
	struct fxt_archive_writer archive;
	struct fxt_archive_provider first, second;

	provider_named(&first, 1, "frog!");
	provider_named(&second, 2, "abc");
	fxt_archive_begin(&archive, fileno(*state), "test", NULL);
	fxt_archive_write_calls(&archive, &first, call, sizeof(call));
	fxt_archive_write_calls(&archive, &first, call, sizeof(call));
	fxt_archive_write(&archive, &first, other, sizeof(other));
	fxt_archive_write(&archive, &first, other, sizeof(other));
	fxt_archive_write_calls(&archive, &first, call, sizeof(call));
	fxt_archive_write_calls(&archive, &second, call, sizeof(call));
	assert_int_equal(archive.bytes, 8 + 16 + 48 + 32 + 24 + 16 + 24);
	assert_int_equal(archive.part_count, 3);
	/* The magic record and the first provider's; the two others; the second
	 * provider's. */
	assert_int_equal(archive.parts[0].from, 0);
	assert_int_equal(archive.parts[0].to, 24);
	assert_int_equal(archive.parts[1].from, 72);
	assert_int_equal(archive.parts[1].to, 104);
	assert_int_equal(archive.parts[2].from, 128);
	assert_int_equal(archive.parts[2].to, 144);
	fxt_archive_end(&archive);
}

static void names(void **state)
{
	static const struct {
		const char *given, *name;
	} cases[] = {
	        {"prog", "prog"},
	        {"", "unnamed"},
	        {"a\nb\x7f", "a?b?"},
	        {"\xc3\xbc \xe2\x82\xac \xf0\x9f\x90\xb8", "\xc3\xbc \xe2\x82\xac \xf0\x9f\x90\xb8"},
	        {"\xfc"
	         "ber",
	                "\\xfcber"},                                     /* Latin-1 */
	        {"\xc0\xaf|\xe0\x80\xaf", "\\xc0\\xaf|\\xe0\\x80\\xaf"}, /* longer than need be */
	        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                     /* half of a surrogate pair */
	        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},            /* beyond the last character */
	        {"x\xe2\x82", "x\\xe2\\x82"},                            /* cut off */
	        {"\xe2\x82y", "\\xe2\\x82y"},
	};
	struct fxt_archive_provider p;
	char longest[200];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		provider_named(&p, 1, cases[i].given);
		assert_int_equal(p.name_bytes, strlen(cases[i].name));
		assert_memory_equal(p.name, cases[i].name, p.name_bytes);
	}
	memset(longest, 'a', sizeof(longest));
	fxt_archive_name(&p, longest, sizeof(longest));
	assert_int_equal(p.name_bytes, 100);
}

/* Two providers and records of 1, 2, 3 and 5 words; in one go, three, and one by one. */
static void write_everything(struct fxt_archive_writer *archive, int fd)
{
	const uint64_t records[] = {0x12, 0x24, 1, 0x34, 2, 3, 0x54, 4, 5, 6, 7};
	struct fxt_archive_provider first, second;

	provider_named(&first, 1, "first");
	provider_named(&second, 2, "second is longer");
	fxt_archive_begin(archive, fd, "test", NULL);
	fxt_archive_write(archive, &first, records, sizeof(records));
	fxt_archive_write(archive, &second, records + 1, 5 * 8);
	fxt_archive_write(archive, &second, records + 6, 5 * 8);
	fxt_archive_write(archive, &first, records, 8);
	fxt_archive_write_loss(archive, &first);
}

/* The ends of its records, in bytes: the magic, an info of 2 words, ... */
static const unsigned ends[] = {8, 24, 32, 48, 72, 112, 136, 152, 176, 216, 224, 232, 240, 280};
#define ENDS (sizeof(ends) / sizeof(*ends))

static void file_size_limit(void **state)
{
	uint64_t whole[64], part[64];
	struct fxt_archive_writer archive;
	int real_stderr = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);

	signal(SIGXFSZ, SIG_IGN);
	write_everything(&archive, fileno(*state));
	assert_int_equal(archive.bytes, 280);
	assert_int_equal(pread(fileno(*state), whole, sizeof(whole), 0), 280);
	dup2(null, STDERR_FILENO); /* each of the following says that its file is full */
	for (unsigned limit = 8; limit < 280; limit++) {
		FILE *file = tmpfile();
		struct rlimit old, small;
		unsigned end = 0;

		getrlimit(RLIMIT_FSIZE, &old);
		small = (struct rlimit){limit, old.rlim_max};
		setrlimit(RLIMIT_FSIZE, &small);
		write_everything(&archive, fileno(file));
		setrlimit(RLIMIT_FSIZE, &old);
		for (unsigned i = 0; i < ENDS && ends[i] <= limit; i++)
			end = ends[i];
		assert_int_equal(archive.error, EFBIG);
		assert_int_equal(archive.bytes, end);
		assert_int_equal(archive.bytes + archive.bytes_lost, 280);
		assert_int_equal(pread(fileno(file), part, sizeof(part), 0), end);
		assert_memory_equal(part, whole, end);
		fclose(file);
	}
	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	close(null);
}

static void unwritable_from_the_start(void **state)
{
	struct fxt_archive_writer archive;
	int real_stderr = dup(STDERR_FILENO), read_only = open("/dev/null", O_RDONLY);

	(void)state;
	dup2(read_only, STDERR_FILENO);
	write_everything(&archive, read_only);
	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	close(read_only);
	assert_int_equal(archive.error, EBADF);
	assert_int_equal(archive.bytes, 0);
	assert_int_equal(archive.bytes_lost, 280);
}

/* As if another process had cut, overwritten or lengthened the file since the last look at
 * it. */
static void appending_to_a_changed_file(void **state)
{
	int fd = fileno(*state);
	char whole[20001] = "", rest[64];
	uint64_t end = 0;

	memset(whole, 'x', sizeof(whole) - 1);
	assert_int_equal(fxt_append_all(fd, whole, 200, &end), 0);
	assert_int_equal(end, 200);

	assert_int_equal(pwrite(fd, "behind", 6, 200), 6);
	assert_int_equal(fxt_append_all(fd, "more", 4, &end), 0);
	assert_int_equal(end, 204);
	assert_int_equal(pread(fd, rest, sizeof(rest), 198), 6);
	assert_memory_equal(rest, "xxmore", 6);

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, "mine", 4, 0), 4);
	assert_int_equal(fxt_append_all(fd, whole, 20000, &end), FXT_ERROR_CUT);
	assert_int_equal(end, 204);
	assert_int_equal(pread(fd, rest, sizeof(rest), 0), 4);
	assert_memory_equal(rest, "mine", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(sections, open_temporary, close_temporary),
	        cmocka_unit_test_setup_teardown(parts, open_temporary, close_temporary),
	        cmocka_unit_test(names),
	        cmocka_unit_test_setup_teardown(file_size_limit, open_temporary, close_temporary),
	        cmocka_unit_test(unwritable_from_the_start),
	        cmocka_unit_test_setup_teardown(appending_to_a_changed_file, open_temporary, close_temporary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
