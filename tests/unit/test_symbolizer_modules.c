/*
 * Which symbol an address belongs to, and which file its module is. The truth is what nm
 * and readelf say of the files, which are laid out by hand in layout.s.
 */
#include "symbolizer.h"
#include <fcntl.h>
#include <unistd.h>
#include "symbolizer/image.h"

#define BASE UINT64_C(0x7f0000000000)

static const char *layout(void)
{
	return in_directory("layout.so");
}

static void build_layout(const char *options)
{
	run("cc -shared -nostdlib -Wl,--build-id %s %s/layout.s -o %s/layout.so", options, SOURCES,
	        directory);
}

/* Puts layout.so at BASE, as module 1. */
static struct raw *begin_layout(void)
{
	struct raw *raw = begin_raw();

	put_module(raw, 1, layout());
	put_mapping(raw, 1, BASE, 0x100000, 0);
	return raw;
}

/* The name of the address `offset` bytes after a symbol of layout.so. */
static const char *name_at(const char *symbol, int64_t offset)
{
	struct raw *raw = begin_layout();

	put_pc(raw, 1, BASE + address_of(layout(), symbol) + (uint64_t)offset, 1);
	return string_of(finish(raw), 1);
}

static void assert_unnamed(const char *symbol, int64_t offset)
{
	char expected[100];

	snprintf(expected, sizeof(expected), "layout.so+0x%" PRIx64,
	        address_of(layout(), symbol) + (uint64_t)offset);
	assert_string_equal(name_at(symbol, offset), expected);
}

static void an_address_has_the_symbol_it_lies_in(void **state)
{
	(void)state;
	build_layout("");
	assert_string_equal(name_at("outer", 0), "outer");
	assert_string_equal(name_at("outer", 15), "outer");
	assert_string_equal(name_at("inner", 0), "inner");
	assert_string_equal(name_at("inner", 15), "inner");
	assert_string_equal(name_at("inner", 16), "outer");
	assert_string_equal(name_at("outer", 63), "outer");
	assert_string_equal(name_at("bare_label", 0), "bare_label");
	assert_string_equal(name_at("unsized", 0), "unsized");
}

static void never_that_of_a_neighbour(void **state)
{
	(void)state;
	build_layout("");
	assert_unnamed("outer", -1);
	assert_unnamed("outer", 64);
	assert_unnamed("outer", 79);
	assert_unnamed("unsized", 1);
	assert_unnamed("bare_label", 1);
	assert_unnamed("datum", -1);
	assert_unnamed("datum", 16);
	assert_unnamed("data_label", 0);
}

static void a_variable_is_named_over_its_length(void **state)
{
	(void)state;
	build_layout("");
	assert_string_equal(name_at("datum", 0), "datum");
	assert_string_equal(name_at("datum", 15), "datum");
}

static void of_aliases_the_most_public(void **state)
{
	(void)state;
	build_layout("");
	assert_string_equal(name_at("a_local", 0), "c_global");
	assert_string_equal(name_at("a_local", 15), "c_global");
	assert_string_equal(name_at("d_local", 0), "e_weak");
	assert_string_equal(name_at("d_local", 16), "d_local");
	assert_string_equal(name_at("f_first", 0), "f_first");
	assert_string_equal(name_at("_IO_global", 0), "plain_weak");
	assert_string_equal(name_at("__local", 0), "__global");
}

static void suffixes(void **state)
{
	(void)state;
	build_layout("");
	assert_string_equal(name_at("_Z5clonei.constprop.0", 0), "clone(int) [clone .constprop.0]");
	assert_string_equal(name_at("_ZL7privatei.lto_priv.0", 0), "private(int)");
}

static void a_stripped_library_has_its_exported_names(void **state)
{
	uint64_t inner;

	(void)state;
	build_layout("");
	inner = address_of(layout(), "inner");
	run("cd %s && cp layout.so whole.so && strip layout.so", directory);
	struct raw *raw = begin_layout();

	put_pc(raw, 1, BASE + address_of(in_directory("whole.so"), "outer"), 1);
	put_pc(raw, 2, BASE + inner, 1);
	put_pc(raw, 3, BASE + address_of(in_directory("whole.so"), "_ZL7privatei.lto_priv.0"), 1);
	const struct finished *f = finish(raw);

	assert_string_equal(string_of(f, 1), "outer");
	assert_string_equal(string_of(f, 2), "outer"); /* which it is part of */
	assert_memory_equal(string_of(f, 3), "layout.so+0x", 12);
}

/* Looks up `inner` of layout.so, which is not exported. */
static void debug_file_names_inner(bool expected)
{
	struct raw *raw = begin_layout();

	put_pc(raw, 1, BASE + address_of(in_directory("whole.so"), "inner"), 1);
	assert_int_equal(strcmp(string_of(finish(raw), 1), "inner") == 0, expected);
}

static void separate_debug_files(void **state)
{
	(void)state;
	build_layout("");
	run("cd %s && cp layout.so whole.so && objcopy --only-keep-debug layout.so layout.debug && "
	    "strip layout.so && objcopy --add-gnu-debuglink=layout.debug layout.so",
	        directory);
	debug_file_names_inner(true);
	run("cd %s && mkdir .debug && mv layout.debug .debug", directory);
	debug_file_names_inner(true);
	run("rm %s/.debug/layout.debug", directory);
	debug_file_names_inner(false);
}

static void a_debug_file_of_another_build_is_not_used(void **state)
{
	(void)state;
	build_layout("-Wl,--build-id=0x12345678");
	run("cd %s && cp layout.so whole.so && objcopy --only-keep-debug layout.so layout.debug", directory);
	build_layout("-Wl,--build-id=0x9abcdef0");
	run("cd %s && strip layout.so && objcopy --add-gnu-debuglink=layout.debug layout.so", directory);
	debug_file_names_inner(false);
}

/* The function's symbol is removed; only DWARF still knows the function. */
static void known_without_symbol(const char *compile, const char *symbol, const char *name)
{
	uint64_t address;

	run("cd %s && %s -o %s", SOURCES, compile, layout());
	address = address_of(layout(), symbol);
	run("objcopy --strip-symbol=%s %s", symbol, layout());
	struct raw *raw = begin_layout();

	put_pc(raw, 1, BASE + address, 1);
	put_pc(raw, 2, BASE + address + 1, 1);
	const struct finished *f = finish(raw);

	assert_string_equal(string_of(f, 1), name);
	assert_string_equal(string_of(f, 2), name);
}

static void names_from_debug_information_alone(void **state)
{
	(void)state;
	known_without_symbol("cc -g -O0 -fPIC -shared report.c", "report_module", "report_module");
	known_without_symbol(
	        "c++ -g -O0 -fPIC -shared -fvisibility=hidden library.cc", "_Z7visiblei", "visible(int)");
}

static void a_file_built_again_is_not_used(void **state)
{
	(void)state;
	build_layout("-Wl,--build-id=0x12345678");
	struct raw *raw = begin_layout();

	put_pc(raw, 1, BASE + address_of(layout(), "outer"), 1);
	put_pc(raw, 2, BASE + address_of(layout(), "unsized"), 1);
	build_layout("-Wl,--build-id=0x9abcdef0");
	const struct finished *f = finish(raw);

	assert_memory_equal(string_of(f, 1), "layout.so+0x", 12);
	assert_memory_equal(string_of(f, 2), "layout.so+0x", 12);
	assert_int_equal(f->result.functions, 2);
	assert_int_equal(f->result.unknown, 2);
	/* One line, which names the file. */
	assert_non_null(strstr(f->told, layout()));
	assert_non_null(strstr(f->told, "12345678"));
	assert_ptr_equal(strchr(f->told, '\n') + 1, f->told + strlen(f->told));
}

static void a_build_id_that_was_not_there(void **state)
{
	(void)state;
	build_layout("-Wl,--build-id=none");
	assert_string_equal(name_at("outer", 0), "outer");
	struct raw *raw = begin_layout();

	put_pc(raw, 1, BASE + address_of(layout(), "outer"), 1);
	build_layout("-Wl,--build-id=0x9abcdef0");
	assert_memory_equal(string_of(finish(raw), 1), "layout.so+0x", 12);
}

/* As when a process ends between the look at a path below its /proc and the opening. */
static void another_path_that_fails_while_it_is_opened(void **state)
{
	static char bytes[1 << 20];
	char build_id[200], other[PATH_MAX + 10];
	struct fxt_images images = {0};

	(void)state;
	build_layout("");
	build_id_of(layout(), build_id, sizeof(build_id));
	uint64_t address = address_of(layout(), "outer");
	size_t size = read_whole(layout(), bytes, sizeof(bytes));

	snprintf(other, sizeof(other), "%s.other", layout());
	unlink(other);
	assert_int_equal(link(layout(), other), 0);
	write_whole(layout(), "", 0); /* of both paths: it stays the same file */
	struct fxt_image *image = fxt_images_get(&images, fxt_span(layout()), fxt_span(build_id));

	fxt_image_open_by(image, other);
	write_whole(layout(), bytes, size);
	const struct fxt_location *function = fxt_image_name(image, address);

	assert_true(function && function->known);
	assert_int_equal(function->name_bytes, 5);
	assert_memory_equal(function->name, "outer", 5);
	fxt_images_free(&images);
}

static void files_that_are_gone_or_no_programs(void **state)
{
	static const char *const paths[] = {
	        "/nowhere/at/all", "/dev/zero", "/etc", "/etc/passwd", "relative", "", "/proc/self/mem"};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct raw *raw = begin_raw();
		const char *slash = strrchr(paths[i], '/');
		char expected[100];

		put_log(raw, "{{{module:1:%s:elf:}}}", paths[i]);
		put_mapping(raw, 1, BASE, 0x1000, 0x2000);
		put_pc(raw, 1, BASE + 0x234, 1);
		if (fxt_begins_with(fxt_span(paths[i]), "/proc/"))
			slash = NULL;
		snprintf(expected, sizeof(expected), "%s+0x2234", slash ? slash + 1 : paths[i]);
		assert_string_equal(string_of(finish(raw), 1), expected);
	}
}

static void paths_that_each_process_reads_in_its_own_way(void **state)
{
	static const struct {
		const char *path, *inside;
	} paths[] = {
	        {"/proc/self/fd/3", "fd/3"},
	        {"/proc/thread-self/fd/3", "fd/3"},
	        {"/proc/71/fd/3", "fd/3"},
	        {"/proc/71/task/72/fd/3", "task/72/fd/3"},
	        {"/proc/self/cwd/lib.so", "cwd/lib.so"},
	        {"/dev/fd/3", "fd/3"},
	        {"//proc/.//self/./fd/3", "fd/3"},
	        {"/proc/selfish/fd/3", ""},
	        {"/proc/71a/fd/3", ""},
	        {"/proc", ""},
	        {"/proc/self", ""},
	        {"/dev/fd", ""},
	        {"/dev/fdx/3", ""},
	        {"/home/proc/self/fd/3", ""},
	        {"proc/self/fd/3", ""},
	        {"/", ""},
	        {"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_true(fxt_span_is(fxt_path_in_process(fxt_span(paths[i].path)), paths[i].inside));
}

/* This process has the very file open under that path, which proves nothing without a build
 * ID. */
static void a_descriptor_without_a_build_id(void **state)
{
	struct fxt_images images = {0};
	char path[64];
	int fd;

	(void)state;
	build_layout("-Wl,--build-id=none");
	fd = open(layout(), O_RDONLY);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct fxt_image *image = fxt_images_get(&images, fxt_span(path), fxt_span(""));

	fxt_image_open_by(image, layout());
	const struct fxt_location *function = fxt_image_name(image, address_of(layout(), "outer"));

	assert_true(function && !function->known);
	fxt_images_free(&images);
	close(fd);
}

static void paths_with_colons(void **state)
{
	static const char *const names[] = {"a:b.so", ":elf:.so", "x:elf:8f3a", "}}}", "a b"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		build_layout("");
		struct raw *raw = begin_raw();
		char path[PATH_MAX];
		uint64_t outer = address_of(layout(), "outer");

		strcpy(path, in_directory(names[i]));
		run("mv %s '%s'", layout(), path);
		put_module(raw, 1, path);
		put_mapping(raw, 1, BASE, 0x100000, 0);
		put_pc(raw, 1, BASE + outer, 1);
		const struct finished *f = finish(raw);

		assert_string_equal(string_of(f, 1), "outer");
		assert_string_equal(object_of(f, BASE + outer).module, path);
	}
}

static void several_mappings_of_a_module(void **state)
{
	uint64_t outer, unsized_;

	(void)state;
	build_layout("");
	outer = address_of(layout(), "outer");
	unsized_ = address_of(layout(), "unsized");
	struct raw *raw = begin_raw();

	put_module(raw, 1, layout());
	put_mapping(raw, 1, BASE, 8, outer);
	put_mapping(raw, 1, 0x1000, 8, unsized_);
	put_mapping(raw, 1, UINT64_MAX - 7, 8, outer + 8); /* up to the end of memory */
	put_pc(raw, 1, BASE, 1);
	put_pc(raw, 2, 0x1000, 1);
	put_pc(raw, 3, UINT64_MAX, 1);
	put_pc(raw, 4, BASE + 8, 1);
	put_pc(raw, 5, BASE - 1, 1);
	const struct finished *f = finish(raw);

	assert_string_equal(string_of(f, 1), "outer");
	assert_string_equal(string_of(f, 2), "unsized");
	assert_string_equal(string_of(f, 3), "outer");
	assert_string_equal(string_of(f, 4), "0x7f0000000008");
	assert_string_equal(string_of(f, 5), "0x7effffffffff");
}

/* A library is unloaded, and another loaded in its place. */
static void modules_one_after_the_other(void **state)
{
	(void)state;
	build_layout("");
	struct raw *raw = begin_layout();
	uint64_t outer = address_of(layout(), "outer"), inner = address_of(layout(), "inner");

	put_pc(raw, 1, BASE + outer, 0);
	put_log(raw, "{{{module:2:/nowhere/other.so:elf:1234}}}");
	put_mapping(raw, 2, BASE + outer - 16, 0x1000, 0x10);
	put_pc(raw, 2, BASE + outer, 0); /* whichever is there now */
	put_pc(raw, 3, BASE + outer, 2);
	put_pc(raw, 4, BASE + inner, 1); /* seen before, and reported only now */
	put_pc(raw, 5, BASE, 0);         /* of the unloaded one, nothing is there any more */
	const struct finished *f = finish(raw);

	assert_string_equal(string_of(f, 1), "outer");
	assert_string_equal(string_of(f, 2), "other.so+0x20");
	assert_string_equal(string_of(f, 3), "other.so+0x20");
	assert_string_equal(string_of(f, 4), "inner");
	assert_string_equal(string_of(f, 5), "0x7f0000000000");
}

static void providers_have_modules_of_their_own(void **state)
{
	(void)state;
	build_layout("");
	struct raw *raw = begin_layout();
	uint64_t outer = address_of(layout(), "outer");

	PUT(raw, provider_info, PROVIDER + 1, "second", 6);
	PUT(raw, provider_section, PROVIDER + 1);
	put_pc(raw, 1, BASE + outer, 1); /* not announced by this one */
	put_log(raw, "{{{module:1:/nowhere/other.so:elf:}}}");
	put_mapping(raw, 1, BASE, 0x100000, 0);
	put_pc(raw, 2, BASE + 0x10, 1);
	PUT(raw, provider_section, PROVIDER);
	put_pc(raw, 3, BASE + outer, 1);
	const struct finished *f = finish(raw);

	assert_memory_equal(string_of(f, 1), "0x7f", 4);
	assert_string_equal(string_of(f, 2), "other.so+0x10");
	assert_string_equal(string_of(f, 3), "outer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(an_address_has_the_symbol_it_lies_in),
	        TEST(never_that_of_a_neighbour),
	        TEST(a_variable_is_named_over_its_length),
	        TEST(of_aliases_the_most_public),
	        TEST(suffixes),
	        TEST(a_stripped_library_has_its_exported_names),
	        TEST(separate_debug_files),
	        TEST(a_debug_file_of_another_build_is_not_used),
	        TEST(names_from_debug_information_alone),
	        TEST(a_file_built_again_is_not_used),
	        TEST(a_build_id_that_was_not_there),
	        TEST(another_path_that_fails_while_it_is_opened),
	        TEST(files_that_are_gone_or_no_programs),
	        TEST(paths_that_each_process_reads_in_its_own_way),
	        TEST(a_descriptor_without_a_build_id),
	        TEST(paths_with_colons),
	        TEST(several_mappings_of_a_module),
	        TEST(modules_one_after_the_other),
	        TEST(providers_have_modules_of_their_own),
	};

	return cmocka_run_group_tests_name("symbols and modules", tests, NULL, NULL);
}
