/*
 * Input made to do harm, or damaged: it may cost names, never more. Random damage comes
 * from a fixed seed, so a failure can be repeated.
 */
#include "random.h"
#include "symbolizer.h"

#define BASE UINT64_C(0x7f0000000000)

static void build_library(void)
{
	run("c++ -g -O1 -fPIC -shared %s/library.cc -o %s/library.so", SOURCES, directory);
}

/* library.so at BASE as module 1, and every 16th byte of its first code as a function. */
static struct raw *begin_library(void)
{
	struct raw *raw = begin_raw();
	uint64_t visible = address_of(in_directory("library.so"), "_Z7visiblei");

	put_module(raw, 1, in_directory("library.so"));
	put_mapping(raw, 1, BASE, 0x100000, 0);
	for (unsigned i = 1; i < 20; i++)
		put_pc(raw, i, BASE + visible + 16 * (i - 1), i % 2);
	for (unsigned i = 0; i < 5; i++) {
		char text[64];

		snprintf(text, sizeof(text), "{{{pc:0x%" PRIx64 ":1}}}", BASE + visible + i);
		PUT(raw, event, FXT_EVENT_DURATION_BEGIN, fxt_thread_index(1), fxt_string_empty(),
		        fxt_string_text(text), 10, NULL, 0, 0);
	}
	return raw;
}

static void texts_that_are_almost_placeholders_stay(void **state)
{
	static const char *const texts[] = {
	        "{{{pc:0x1:1}}",
	        "{{pc:0x1:1}}}",
	        "{{{pc:0x1:1}}} ",
	        "{{{pc::1}}}",
	        "{{{pc:0x:1}}}",
	        "{{{pc:0x1:}}}",
	        "{{{pc:0x1:1:}}}",
	        "{{{pc:0x1:0x}}}",
	        "{{{pc:0xg:1}}}",
	        "{{{pc:-1:1}}}",
	        "{{{pc: 1:1}}}",
	        "{{{pc:0X1:1}}}",
	        "{{{pc:0x10000000000000000:1}}}",
	        "{{{pc:18446744073709551616:1}}}",
	        "{{{pc:0x1:18446744073709551616}}}",
	        "{{{pc:0x1:99999999999999999999999999999999999999}}}",
	        "{{{}}}",
	        "{{{pc:}}}",
	        "{{{}}",
	        "}}}",
	        "{{{",
	        "{{{module:1:/a:elf:}}}",
	        "{{{mmap:0x0:0x1000:load:1:rx:0x0}}}",
	};
	struct raw *raw = begin_raw();

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		put_string(raw, i + 1, texts[i]);
	const struct finished *f = finish(raw);

	assert_int_equal(f->count, raw->count);
	assert_memory_equal(f->words, raw->words, raw->count * 8);
}

static void the_largest_numbers(void **state)
{
	struct raw *raw = begin_raw();

	(void)state;
	put_log(raw, "{{{module:18446744073709551615:/nowhere/a.so:elf:}}}");
	put_log(raw, "{{{mmap:0xffffffffffffffff:0x1:load:18446744073709551615:rx:0xffffffffffffffff}}}");
	put_string(raw, 1, "{{{pc:0xffffffffffffffff:18446744073709551615}}}");
	put_string(raw, 2, "{{{pc:18446744073709551615}}}");
	put_string(raw, 3, "{{{pc:0xffffffffffffffff:1}}}");
	const struct finished *f = finish(raw);

	assert_string_equal(string_of(f, 1), "a.so+0xffffffffffffffff");
	assert_string_equal(string_of(f, 2), "a.so+0xffffffffffffffff");
	assert_string_equal(string_of(f, 3), "0xffffffffffffffff");
}

static void announcements_that_make_no_sense_are_ignored(void **state)
{
	static const char *const texts[] = {
	        "{{{module:1}}}",
	        "{{{module:1:/etc/passwd}}}",
	        "{{{module:1::elf}}}",
	        "{{{module:0:/nowhere/zero.so:elf:}}}",
	        "{{{module:1:/nowhere/a.so:elf:../../x}}}",
	        "{{{module:1:/nowhere/a.so:elf:8F}}}",
	        "{{{module:1:/nowhere/a.so:coff:8f}}}",
	        "{{{mmap:0x1000:0x0:load:2:rx:0x0}}}",
	        "{{{mmap:0x0:0x0:load:2:rx:0x0}}}",
	        "{{{mmap:0x1000:0xffffffffffffffff:load:2:rx:0x0}}}",
	        "{{{mmap:0x1000:0x1000:load:2:rx}}}",
	        "{{{mmap:0x1000:0x1000:save:2:rx:0x0}}}",
	        "{{{mmap:0x1000:0x1000:load:0:rx:0x0}}}",
	        "{{{mmap:0x1000:0x1000:load:2:rx:0x0:}}}",
	};
	struct raw *raw = begin_raw();

	(void)state;
	put_log(raw, "{{{module:2:/nowhere/b.so:elf:}}}");
	put_log(raw, "{{{mmap:0x9000:0x1000:load:1:rx:0x0}}}");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		put_log(raw, "%s", texts[i]);
	PUT(raw, log, 1, fxt_thread_index(1), "{{{module:1:/nowhere/\0.so:elf:}}}", 33);
	put_pc(raw, 1, 0x9001, 1);
	put_pc(raw, 2, 0x1001, 2);
	put_pc(raw, 3, 0x1001, 0);
	const struct finished *f = finish(raw);

	assert_string_equal(string_of(f, 1), "0x9001");
	assert_string_equal(string_of(f, 2), "0x1001");
	assert_string_equal(string_of(f, 3), "0x1001");
}

static void of_contradicting_announcements_the_first_holds(void **state)
{
	struct raw *raw = begin_raw();

	(void)state;
	put_log(raw, "{{{module:1:/nowhere/first.so:elf:}}}");
	put_log(raw, "{{{module:1:/nowhere/second.so:elf:}}}");
	put_mapping(raw, 1, 0x1000, 0x1000, 0x100000);
	put_mapping(raw, 1, 0x800, 0x1000, 0x200000);
	put_pc(raw, 1, 0x1001, 1);
	assert_string_equal(string_of(finish(raw), 1), "first.so+0x100001");
}

/* 5,000 modules that overlap, and a placeholder in each. The limit on the time of tests
 * would show quadratic work. */
static void thousands_of_modules(void **state)
{
	struct raw *raw = begin_raw();
	char last[100];

	(void)state;
	for (unsigned i = 1; i <= 5000; i++) {
		put_log(raw, "{{{module:%u:/nowhere/%u.so:elf:}}}", i, i);
		put_mapping(raw, i, BASE + i * 16, 0x100000, 0);
		put_pc(raw, i, BASE + i * 16 + 5, i);
	}
	put_pc(raw, 5001, BASE + 5000 * 16 + 5, 0);
	const struct finished *f = finish(raw);

	assert_int_equal(f->result.functions, 5001);
	snprintf(last, sizeof(last), "%u.so+0x5", 5000);
	assert_string_equal(string_of(f, 1), "1.so+0x5");
	assert_string_equal(string_of(f, 5000), last);
	assert_string_equal(string_of(f, 5001), last);
}

/* Builds a library of one function, which has this symbol, and puts it at BASE as module
 * 1. */
static void put_library_of(struct raw *raw, const char *symbol)
{
	FILE *source = fopen(in_directory("one.s"), "w");

	assert_non_null(source);
	fprintf(source, ".globl \"%s\"\n.type \"%s\", %%function\n\"%s\": .skip 16\nstart = \"%s\"\n", symbol,
	        symbol, symbol, symbol);
	fclose(source);
	run("cd %s && cc -shared -nostdlib one.s -o one.so", directory);
	put_module(raw, 1, in_directory("one.so"));
	put_mapping(raw, 1, BASE, 16, address_of(in_directory("one.so"), "start"));
}

#define NOT_UTF8 "\xff\xc3\xa9\xed\xa0\x80\xf0\x9f\x98\x80\xc3"
#define REPAIRED "?\xc3\xa9???\xf0\x9f\x98\x80?"

static void texts_that_are_not_utf8(void **state)
{
	struct raw *raw = begin_raw();

	(void)state;
	put_library_of(raw, "n" NOT_UTF8);
	put_log(raw, "{{{module:2:/nowhere/" NOT_UTF8 ":elf:}}}");
	put_mapping(raw, 2, 0x1000, 0x1000, 0);
	put_pc(raw, 1, BASE, 1);
	put_pc(raw, 2, 0x1000, 2);
	const struct finished *f = finish(raw);

	assert_string_equal(string_of(f, 1), "n" REPAIRED);
	assert_string_equal(string_of(f, 2), REPAIRED "+0x0");
	assert_string_equal(object_of(f, 0x1000).module, "/nowhere/" REPAIRED);
}

/* Every type of the symbol stands for the one before it twice: the whole name would have
 * 2^60 letters. */
static void a_symbol_that_stands_for_an_endless_name(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[2000] = "_Z3fooPFviiE";

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		unsigned number = 2 * i;
		char part[16];

		/* S0_, S1_ ... SZ_, S10_ and so on. */
		if (number < 36)
			snprintf(part, sizeof(part), "S%c_", digits[number]);
		else
			snprintf(part, sizeof(part), "S%c%c_", digits[number / 36], digits[number % 36]);
		sprintf(symbol + strlen(symbol), "PFv%s%sE", part, part);
	}
	struct raw *raw = begin_raw();

	put_library_of(raw, symbol);
	put_pc(raw, 1, BASE, 1);
	const char *name = string_of(finish(raw), 1);

	assert_int_equal(strlen(name), FXT_STRING_MAX_BYTES);
	assert_memory_equal(name, "foo(void (*)(int, int), void (*)(void (*)(int, int), ", 53);
}

static void damaged_archives(void **state)
{
	static struct raw damaged;

	(void)state;
	build_library();
	struct raw *raw = begin_library();

	for (int round = 0; round < 2000; round++) {
		memcpy(damaged.words, raw->words, raw->count * 8);
		for (uint64_t left = 1 + random_below(8); left > 0; left--) {
			uint8_t *byte = (uint8_t *)damaged.words + 8 + random_below(raw->count * 8 - 8);

			*byte = random_below(2) ? (uint8_t)random_below(256)
			                        : *byte ^ (1u << random_below(8));
		}
		const struct finished *f =
		        finish_bytes(damaged.words, 8 + random_below(raw->count * 8 - 7), &with_symbols);

		assert_int_equal(f->status, 0);
		for (EACH_RECORD(f, record))
			assert_true(describe_of(*record) > 0);
	}
}

/* Damage anywhere, or where the symbols and the debug information are: in the second half
 * of the file. */
static void damaged_libraries(void **state)
{
	static uint8_t whole[1 << 16], damaged[1 << 16];
	unsigned named = 0;

	(void)state;
	build_library();
	struct raw *raw = begin_library();
	size_t bytes = read_whole(in_directory("library.so"), whole, sizeof(whole));

	for (int round = 0; round < 2000; round++) {
		size_t first = round % 2 ? 0x1000 + random_below(bytes - 0x1000) : 0;

		memcpy(damaged, whole, bytes);
		for (uint64_t left = 1 + random_below(16); left > 0; left--)
			damaged[first + random_below(bytes - first)] = (uint8_t)random_below(256);
		write_whole(
		        in_directory("library.so"), damaged, bytes - random_below(2) * random_below(bytes));
		const struct finished *f = finish(raw);

		assert_int_equal(f->result.functions, 24);
		named += f->result.unknown < f->result.functions;
	}
	assert_true(named > 100); /* else nothing but the ELF header would have been read */
}

/* Damage to relocations and to the code of slots, or anywhere. */
static void damaged_slots(void **state)
{
	static uint8_t whole[1 << 16], damaged[1 << 16];
	struct raw *raw = begin_raw();
	uint64_t slot = build_slot("", "");
	size_t bytes = read_whole(in_directory("slot.so"), whole, sizeof(whole));
	unsigned named = 0, unknown = 0;

	(void)state;
	put_module(raw, 1, in_directory("slot.so"));
	put_mapping(raw, 1, BASE, 0x100000, 0);
	put_pc(raw, 1, BASE + slot, 1);
	for (int round = 0; round < 1000; round++) {
		size_t first = round % 2 ? slot & 0xfff0 : 0;
		size_t room = round % 2 ? 16 : bytes;

		memcpy(damaged, whole, bytes);
		for (uint64_t left = 1 + random_below(16); left > 0; left--)
			damaged[first + random_below(room)] = (uint8_t)random_below(256);
		write_whole(in_directory("slot.so"), damaged, bytes - random_below(2) * random_below(bytes));
		const struct finished *f = finish(raw);

		assert_int_equal(f->result.functions, 1);
		named += f->result.unknown == 0;
		unknown += f->result.unknown;
	}
	assert_true(named > 50);
	assert_true(unknown > 50);
}

/* A pipe has the name of the file that was split off, or of the one that dwz made: opening
 * it would wait for ever. Symbols name the functions all the same. */
static void a_pipe_for_a_debug_file(void **state)
{
	(void)state;
	run("cd %s && c++ -g -gsplit-dwarf -O1 -fPIC -shared $OLDPWD/%s/library.cc -o library.so && "
	    "for file in *.dwo; do rm $file && mkfifo $file; done && mkfifo library.so.dwp",
	        directory, SOURCES);
	struct raw *raw = begin_library();

	alarm(60);
	const struct finished *f = finish(raw);

	alarm(0);
	assert_int_equal(f->status, 0);
	assert_true(f->result.unknown < f->result.functions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(texts_that_are_almost_placeholders_stay),
	        TEST(the_largest_numbers),
	        TEST(announcements_that_make_no_sense_are_ignored),
	        TEST(of_contradicting_announcements_the_first_holds),
	        TEST(thousands_of_modules),
	        TEST(texts_that_are_not_utf8),
	        TEST(a_symbol_that_stands_for_an_endless_name),
	        TEST(a_pipe_for_a_debug_file),
	        TEST(damaged_archives),
	        TEST(damaged_libraries),
	        TEST(damaged_slots),
	};

	return cmocka_run_group_tests_name("hostile and damaged input", tests, NULL, NULL);
}
