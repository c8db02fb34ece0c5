/*
 * Which programs fxtrun takes and why it refuses the others, on files made here byte by
 * byte from the ELF specification, and on scripts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "launcher/fxtrun/target.h"

#if defined(__x86_64__)
#define MACHINE       62 /* EM_X86_64 */
#define OTHER_MACHINE 183
#else
#define MACHINE       183 /* EM_AARCH64 */
#define OTHER_MACHINE 62
#endif

static char error[2 * PATH_MAX];

static int enter_directory(void **state)
{
	static char directory[] = "/tmp/test-target-XXXXXX";

	*state = mkdtemp(directory);
	return *state ? chdir(*state) : -1;
}

static int leave_directory(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	return chdir("/") != 0 || system(command) != 0;
}

static void write_file(const char *name, const void *data, size_t bytes, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), bytes);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void write_script(const char *name, const char *text)
{
	write_file(name, text, strlen(text), 0755);
}

/* An ELF program as small as may be: a header, one program header, and the name of its
 * linker. */
struct program {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	char linker[32];
};

static struct program good_program(void)
{
	struct program p = {0};

	memcpy(p.header.e_ident, "\177ELF\2\1\1", 7);
	p.header.e_type = 3;
	p.header.e_machine = MACHINE;
	p.header.e_version = 1;
	p.header.e_phoff = 64;
	p.header.e_phentsize = 56;
	p.header.e_phnum = 2;
	p.segments[0].p_type = 1; /* PT_LOAD */
	p.segments[1].p_type = 3; /* PT_INTERP */
	p.segments[1].p_offset = 64 + 2 * 56;
	p.segments[1].p_filesz = 8;
	strcpy(p.linker, "/bin/sh"); /* any file that exists */
	return p;
}

static void expect(const char *name, int status, const char *message)
{
	*error = 0;
	assert_int_equal(fxt_target_judge(name, "prog", error, sizeof(error)), status);
	assert_string_equal(error, message);
}

static void expect_program(const struct program *p, int status, const char *message)
{
	write_file("prog", p, sizeof(*p), 0755);
	expect("prog", status, message);
}

#define BROKEN "prog cannot be run: it is not an ELF program, or is broken; build it again"

static void programs(void **state)
{
	struct program p = good_program();

	(void)state;
	expect_program(&p, 0, "");
	p.header.e_type = 2; /* at a fixed address */
	expect_program(&p, 0, "");

	p = good_program();
	p.segments[1].p_type = 1;
	expect_program(&p, 125,
	        "prog cannot be traced: it is statically linked; link it dynamically (without -static)");
	p = good_program();
	p.header.e_machine = OTHER_MACHINE;
	expect_program(&p, 125,
	        "prog cannot be traced: it is built for another kind of machine; build it for this one");
	p = good_program();
	p.header.e_ident[5] = 2; /* big-endian */
	expect_program(&p, 125,
	        "prog cannot be traced: it is built for another kind of machine; build it for this one");
	p = good_program();
	p.header.e_ident[4] = 1; /* 32 bits */
	p.header.e_machine = 3;
	expect_program(&p, 125, "prog cannot be traced: it is a 32-bit program; build it for 64 bits");
	p = good_program();
	strcpy(p.linker, "/nosuch");
	expect_program(&p, 127, "prog cannot be run: the dynamic linker that it asks for does not exist");
}

static void other_libc(void **state)
{
	struct program p = good_program();

	(void)state;
	/* Stands for /lib/ld-musl-x86_64.so.1, which is not installed here. */
	write_file("ld-musl-any", "", 0, 0755);
	strcpy(p.linker, "./ld-musl-any");
	p.segments[1].p_filesz = strlen(p.linker) + 1;
	expect_program(&p, 125, "prog cannot be traced: it runs on musl; build it with glibc");
}

static void broken_programs(void **state)
{
#define FIELD(member) offsetof(struct program, member), sizeof(((struct program *)0)->member)
	static const struct {
		size_t offset, bytes;
		uint64_t value;
	} fields[] = {
	        {FIELD(header.e_ident[4]), 3},
	        {FIELD(header.e_type), 1}, /* an object file */
	        {FIELD(header.e_type), 4}, /* a core file */
	        {FIELD(header.e_phentsize), 32},
	        {FIELD(header.e_phoff), UINT64_MAX},
	        {FIELD(segments[1].p_filesz), 7}, /* no zero at the end of the name */
	        {FIELD(segments[1].p_filesz), 1 << 20},
	        {FIELD(segments[1].p_offset), UINT64_MAX},
	};
	struct program p = good_program();

	(void)state;
	write_file("prog", &p, 4, 0755); /* the magic alone */
	expect("prog", 126, BROKEN);
	write_file("prog", &p, 63, 0755);
	expect("prog", 126, BROKEN);
	write_file("prog", &p, 64, 0755); /* no program headers */
	expect("prog", 126, BROKEN);
	write_file("prog", &p, 64 + 2 * 56 + 7, 0755); /* the linker's name is cut off */
	expect("prog", 126, BROKEN);
	for (unsigned i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		p = good_program();
		memcpy((char *)&p + fields[i].offset, &fields[i].value, fields[i].bytes);
		expect_program(&p, 126, BROKEN);
	}
}

static void files(void **state)
{
	(void)state;
	expect("nosuch", 127, "prog cannot be run: it does not exist");
	expect("/etc/passwd/x", 127, "prog cannot be run: it does not exist");
	assert_int_equal(mkdir("directory", 0755), 0);
	expect("directory", 126, "prog cannot be run: it is a directory");
	expect("/dev/null", 126, "prog cannot be run: it is not a regular file");
	write_file("plain", "#!/bin/sh\n", 10, 0644);
	expect("plain", 126,
	        "prog cannot be run: it may not be executed; chmod +x allows it, except on a noexec file "
	        "system");
	expect("/bin/sh", 0, "");
}

#define STATIC                                                                   \
	"prog cannot be traced: its interpreter ./static is statically linked; " \
	"link it dynamically (without -static)"
static void scripts(void **state)
{
	static const struct {
		const char *text;
		int status;
		const char *error;
	} rows[] = {
	        {"#!/bin/sh\nexit\n", 0, ""},
	        {"#! \t/bin/sh -e\n", 0, ""},
	        {"#!/bin/sh", 0, ""},
	        /* execvp(3) hands a file of unknown kind to the shell, an empty one too. */
	        {"exit 3\n", 0, ""},
	        {"", 0, ""},
	        {"#!\n", 126, "prog cannot be run: the first line of it names no interpreter"},
	        {"#!/nosuch/sh -x\n", 127, "prog cannot be run: its interpreter /nosuch/sh does not exist"},
	        {"#!./plain\n", 126,
	                "prog cannot be run: its interpreter ./plain may not be executed; "
	                "chmod +x allows it, except on a noexec file system"},
	        {"#!./static\n", 125, STATIC},
	        {"#!./to_static\n", 125, STATIC},
	        {"#!./script\n", 126,
	                "prog cannot be run: its interpreter ./script is a script too, and there are too "
	                "many "
	                "in a row"},
	};
	struct program p = good_program();
	char long_line[400] = "#!/";

	(void)state;
	p.segments[1].p_type = 1;
	write_file("static", &p, sizeof(p), 0755);
	write_file("plain", "", 0, 0644);
	write_script("to_static", "#!./static\n");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		write_script("script", rows[i].text);
		expect("script", rows[i].status, rows[i].error);
	}

	/* The kernel reads 256 bytes of the line; a name that is longer is cut. */
	memset(long_line + 3, 'x', sizeof(long_line) - 4);
	write_script("script", long_line);
	assert_int_equal(fxt_target_judge("script", "prog", error, sizeof(error)), 127);
}

static void privileges(void **state)
{
	struct program p = good_program();
	/* VFS_CAP_REVISION_2 with the effective bit; permitted: CAP_NET_RAW */
	const uint32_t capabilities[5] = {0x02000001, 1 << 13};

	(void)state;
	write_file("prog", &p, sizeof(p), 0755);
	if (getuid() != 0)
		skip(); /* only root makes files of others, or with capabilities */
	assert_int_equal(chown("prog", 1, 1), 0);
	assert_int_equal(chmod("prog", 04755), 0);
#define SET_ID                                                                                    \
	"prog cannot be traced: it is set-user-ID or set-group-ID and would not load the agent; " \
	"trace a copy without that bit"
	expect("prog", 125, SET_ID);
	assert_int_equal(chmod("prog", 02755), 0);
	expect("prog", 125, SET_ID);
	assert_int_equal(
	        chmod("prog", 02745), 0); /* without x it is another thing: mandatory locking, once */
	expect("prog", 0, "");
	assert_int_equal(chown("prog", 0, 0), 0);
	assert_int_equal(chmod("prog", 06755), 0); /* root's, for root, changes nothing */
	expect("prog", 0, "");

	assert_int_equal(chmod("prog", 0755), 0);
	if (setxattr("prog", "security.capability", capabilities, sizeof(capabilities), 0) != 0)
		return; /* not on every file system */
	expect("prog", 0, "");
	assert_int_equal(chmod(".", 0755), 0);
	assert_int_equal(setresuid(1, -1, -1), 0); /* the real id, which the kernel looks at */
	*error = 0;
	fxt_target_judge("prog", "prog", error, sizeof(error));
	assert_int_equal(setresuid(0, -1, -1), 0);
	assert_string_equal(error,
	        "prog cannot be traced: it has file capabilities and would not load the agent; "
	        "trace a copy without them");
}

static void search(void **state)
{
	struct program p = good_program();
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(mkdir("a", 0755), 0);
	assert_int_equal(mkdir("b", 0755), 0);
	assert_int_equal(
	        mkdir("a/tool", 0755), 0); /* a directory, a file that is no program, then the program */
	write_file("b/tool", "", 0, 0644);
	write_file("tool", &p, sizeof(p), 0755);

	setenv("PATH", "/nosuch:a:b::/bin", 1);
	assert_int_equal(fxt_target_find("tool", path, error, sizeof(error)), 0);
	assert_string_equal(path, "./tool");
	assert_int_equal(fxt_target_find("sh", path, error, sizeof(error)), 0);
	assert_string_equal(path, "/bin/sh");
	assert_int_equal(fxt_target_find("./tool", path, error, sizeof(error)), 0);
	assert_string_equal(path, "./tool");
	assert_int_equal(fxt_target_find("nosuch", path, error, sizeof(error)), 127);
	assert_string_equal(error, "nosuch: no such program in PATH");
	assert_int_equal(fxt_target_find("", path, error, sizeof(error)), 127);

	setenv("PATH", "b:/nosuch", 1);
	assert_int_equal(fxt_target_find("tool", path, error, sizeof(error)), 126);
	assert_string_equal(error, "b/tool cannot be run: it may not be executed; chmod +x allows it, "
	                           "except on a noexec file system");
	unsetenv("PATH");
	assert_int_equal(fxt_target_find("sh", path, error, sizeof(error)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(programs),
	        cmocka_unit_test(other_libc),
	        cmocka_unit_test(broken_programs),
	        cmocka_unit_test(files),
	        cmocka_unit_test(scripts),
	        cmocka_unit_test(privileges),
	        cmocka_unit_test(search),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
