/*
 * Names and places of functions, in programs built every way. The truth is the programs'
 * own: their hooks see the addresses a tracer sees, and their sources say what was called
 * and on which line it stands.
 */
#include "symbolizer.h"

/* Puts the modules that a program reported, from 1, and a string record for each call, from
 * index 1. */
static unsigned put_report(struct raw *raw, FILE *report)
{
	char line[PATH_MAX + 100], path[PATH_MAX];
	unsigned modules = 0, calls = 0;

	while (fgets(line, sizeof(line), report)) {
		uint64_t address, bytes, in_module;

		if (sscanf(line, "module %s", path) == 1)
			put_module(raw, ++modules, path);
		else if (sscanf(line, "segment %" SCNx64 " %" SCNx64 " %" SCNx64, &address, &bytes,
		                 &in_module) == 3)
			put_mapping(raw, modules, address, bytes, in_module);
		else if (sscanf(line, "call %" SCNx64, &address) == 1)
			put_pc(raw, ++calls, address, 0);
		else
			fail_msg("unexpected report: %s", line);
	}
	return calls;
}

static char sources[PATH_MAX]; /* absolute */

static void check_report(const struct finished *f, FILE *report, const char *program)
{
	char line[PATH_MAX + 100], file[PATH_MAX], expected_file[2 * PATH_MAX], build_id[200];
	unsigned call = 0;

	while (fgets(line, sizeof(line), report)) {
		uint64_t address;
		unsigned number;
		int name;

		if (sscanf(line, "call %" SCNx64 " %s %u %n", &address, file, &number, &name) != 3)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(expected_file, sizeof(expected_file), "%s/%s", sources, basename(file));
		const struct object object = object_of(f, address);

		assert_string_equal(string_of(f, ++call), line + name);
		assert_int_equal(object.count, 1);
		assert_int_equal(object.name, call);
		assert_int_equal(object.process, PROCESS);
		assert_string_equal(object.file, expected_file);
		assert_int_equal(object.line, number);
		assert_true(strcmp(object.module, program) == 0 || strstr(file, "library.cc"));
		build_id_of(object.module, build_id, sizeof(build_id));
		assert_string_equal(object.build_id, build_id);
	}
}

/* Builds the program and its library into the test's directory. The compiler is run in
 * `where` and gets the sources by absolute or relative path: `prefix`. */
static void build(
        const char *compiler, const char *options, const char *link, const char *where, const char *prefix)
{
	run("cc -Wall -Wextra -Werror -O1 -fPIC -c %s/report.c -o %s/report.o", sources, directory);
	run("cd %s && %s -Wall -Wextra -Werror -finstrument-functions %s -fPIC -shared %slibrary.cc "
	    "-o %s/liblibrary.so",
	        where, compiler, options, prefix, directory);
	run("cd %s && %s -Wall -Wextra -Werror -finstrument-functions %s %s %snames.cc %sothers.cc "
	    "%s/report.o "
	    "-o %s/names -rdynamic %s/liblibrary.so -Wl,-rpath,%s",
	        where, compiler, options, link, prefix, prefix, directory, directory, directory, directory);
}

static void names_hold(const char *compiler, const char *options, const char *link, bool absolute)
{
	struct raw *raw = begin_raw();
	char prefix[PATH_MAX + 1] = "";

	assert_non_null(realpath(SOURCES, sources));
	if (absolute)
		snprintf(prefix, sizeof(prefix), "%s/", sources);
	build(compiler, options, link, absolute ? "." : sources, prefix);
	run("cd %s && ./names >report", directory);
	FILE *report = fopen(in_directory("report"), "r");

	assert_non_null(report);
	unsigned calls = put_report(raw, report);

	assert_int_equal(calls, 15);
	const struct finished *f = finish(raw);

	assert_int_equal(f->result.functions, calls);
	assert_int_equal(f->result.unknown, 0);
	assert_string_equal(f->told, "");
	rewind(report);
	check_report(f, report, in_directory("names"));
	fclose(report);
}

#define WITH_EACH_LINK(function, compiler, options)                 \
	static void function(void **state)                          \
	{                                                           \
		(void)state;                                        \
		names_hold(compiler, options, "-no-pie", true);     \
		names_hold(compiler, options, "-fPIE -pie", false); \
	}

WITH_EACH_LINK(gcc_unoptimized, "g++", "-g -O0")
WITH_EACH_LINK(gcc_optimized, "g++", "-g -O2")
WITH_EACH_LINK(gcc_link_time, "g++", "-g -O3 -flto")
WITH_EACH_LINK(gcc_older_dwarf, "g++", "-gdwarf-4 -O2")
WITH_EACH_LINK(gcc_split_dwarf, "g++", "-g -gsplit-dwarf -O2")
WITH_EACH_LINK(clang_unoptimized, "clang++", "-g -O0")
WITH_EACH_LINK(clang_optimized, "clang++", "-g -O2")
WITH_EACH_LINK(clang_link_time, "clang++", "-g -O3 -flto")
WITH_EACH_LINK(clang_older_dwarf, "clang++", "-gdwarf-4 -O2")

static void check_slot(const char *tools, const char *options)
{
	struct raw *raw = begin_raw();
	uint64_t slot = build_slot(tools, options);

	put_module(raw, 1, in_directory("slot.so"));
	put_mapping(raw, 1, 0x7f0000000000, 0x100000, 0);
	put_pc(raw, 1, 0x7f0000000000 + slot, 1);
	put_pc(raw, 2, 0x7f0000000000 + slot + 8, 1);
	const struct finished *f = finish(raw);

	assert_string_equal(string_of(f, 1), "chosen");
	assert_true(strncmp(string_of(f, 2), "slot.so+0x", 10) == 0);
}

static void slots_of_indirect_functions(void **state)
{
	(void)state;
	check_slot("", "");
	check_slot("", "-Wl,-z,now");
	if (system("which aarch64-linux-gnu-gcc >/dev/null 2>&1") != 0)
		return;
	check_slot("aarch64-linux-gnu-", "");
	check_slot("aarch64-linux-gnu-", "-mbranch-protection=standard -Wl,-z,force-bti,-z,pac-plt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(gcc_unoptimized),
	        TEST(gcc_optimized),
	        TEST(gcc_link_time),
	        TEST(gcc_older_dwarf),
	        TEST(gcc_split_dwarf),
	        TEST(clang_unoptimized),
	        TEST(clang_optimized),
	        TEST(clang_link_time),
	        TEST(clang_older_dwarf),
	        TEST(slots_of_indirect_functions),
	};

	return cmocka_run_group_tests_name("names and places of functions", tests, NULL, NULL);
}
