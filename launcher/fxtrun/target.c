/*
 * Checks the program by its first bytes, as the kernel and the dynamic linker would
 * (target.h). Runs on the main thread, before anything else is touched. It must not refuse
 * a program because it cannot read it: such a program may still be executable.
 */
#include "target.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "launcher/message.h"
#include "symbolizer/symbols.h"
#include "writer/shared/arch.h"

enum {
	SCRIPT_LINE_BYTES = 256, /* as much of a script's first line as the kernel reads */
	SCRIPT_DEPTH_MAX = 5,    /* interpreters that are scripts themselves; the kernel's limit */
};

/* Why a file is refused. %s is "it", or the interpreter of a script. */
enum problem {
	NO_PROBLEM,
	DOES_NOT_EXIST,
	IS_DIRECTORY,
	NOT_A_FILE,
	NOT_EXECUTABLE,
	NO_INTERPRETER_NAME,
	TOO_DEEP,
	BROKEN_ELF,
	NO_LINKER,
	OTHER_WORD_SIZE,
	OTHER_MACHINE,
	STATIC,
	OTHER_LIBC,
	SET_ID,
	CAPABILITIES,
};

static const struct {
	int status;
	const char *text;
} problems[] = {
        [DOES_NOT_EXIST] = {FXT_EXIT_NOT_FOUND, "cannot be run: %s does not exist"},
        [IS_DIRECTORY] = {FXT_EXIT_CANNOT_EXECUTE, "cannot be run: %s is a directory"},
        [NOT_A_FILE] = {FXT_EXIT_CANNOT_EXECUTE, "cannot be run: %s is not a regular file"},
        [NOT_EXECUTABLE] = {FXT_EXIT_CANNOT_EXECUTE,
                "cannot be run: %s may not be executed; chmod +x allows it, except on a noexec file system"},
        [NO_INTERPRETER_NAME] = {FXT_EXIT_CANNOT_EXECUTE,
                "cannot be run: the first line of %s names no interpreter"},
        [TOO_DEEP] = {FXT_EXIT_CANNOT_EXECUTE,
                "cannot be run: %s is a script too, and there are too many in a row"},
        [BROKEN_ELF] = {FXT_EXIT_CANNOT_EXECUTE,
                "cannot be run: %s is not an ELF program, or is broken; build it again"},
        [NO_LINKER] = {FXT_EXIT_NOT_FOUND,
                "cannot be run: the dynamic linker that %s asks for does not exist"},
        [OTHER_WORD_SIZE] = {FXT_EXIT_FAILED,
                "cannot be traced: %s is a 32-bit program; build it for 64 bits"},
        [OTHER_MACHINE] = {FXT_EXIT_FAILED,
                "cannot be traced: %s is built for another kind of machine; build it for this one"},
        [STATIC] = {FXT_EXIT_FAILED,
                "cannot be traced: %s is statically linked; link it dynamically (without -static)"},
        [OTHER_LIBC] = {FXT_EXIT_FAILED, "cannot be traced: %s runs on musl; build it with glibc"},
        [SET_ID] = {FXT_EXIT_FAILED,
                "cannot be traced: %s is set-user-ID or set-group-ID and would not load the agent; "
                "trace a copy without that bit"},
        [CAPABILITIES] = {FXT_EXIT_FAILED, "cannot be traced: %s has file capabilities and would not load "
                                           "the agent; trace a copy without them"},
};

/* `who` holds "it", or "its interpreter PATH" once a script was followed. */
typedef char who_buffer[SCRIPT_LINE_BYTES + 32];

static enum problem target_judge_elf(int fd, const Elf64_Ehdr *header, size_t bytes)
{
	char linker[PATH_MAX] = "";

	/* A 32-bit header is shorter; its first fields, up to e_machine, are the same. */
	if (bytes >= EI_NIDENT && header->e_ident[EI_CLASS] == ELFCLASS32)
		return OTHER_WORD_SIZE;
	if (bytes < sizeof(*header) || header->e_ident[EI_CLASS] != ELFCLASS64)
		return BROKEN_ELF;
	if (header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != ARCH_ELF_MACHINE)
		return OTHER_MACHINE;
	if ((header->e_type != ET_EXEC && header->e_type != ET_DYN) ||
	        header->e_phentsize != sizeof(Elf64_Phdr))
		return BROKEN_ELF;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		if (pread(fd, &segment, sizeof(segment), (off_t)(header->e_phoff + i * sizeof(segment))) !=
		        (ssize_t)sizeof(segment))
			return BROKEN_ELF;
		if (segment.p_type != PT_INTERP)
			continue;
		if (segment.p_filesz < 2 || segment.p_filesz > sizeof(linker) ||
		        pread(fd, linker, segment.p_filesz, (off_t)segment.p_offset) !=
		                (ssize_t)segment.p_filesz ||
		        linker[segment.p_filesz - 1])
			return BROKEN_ELF;
		if (access(linker, F_OK) != 0)
			return NO_LINKER;
		return strstr(linker, "/ld-musl-") ? OTHER_LIBC : NO_PROBLEM;
	}
	return STATIC;
}

/* Whether executing it changes who we are: then ld.so is in secure mode. File capabilities
 * give root nothing. */
static enum problem target_judge_privileges(int fd, const struct stat *status)
{
	if (((status->st_mode & S_ISUID) && status->st_uid != getuid()) ||
	        ((status->st_mode & S_ISGID) && (status->st_mode & S_IXGRP) && status->st_gid != getgid()))
		return SET_ID;
	if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return CAPABILITIES;
	return NO_PROBLEM;
}

/* The interpreter that the first line of a script names; false if it names none. */
static bool target_script_interpreter(char *line, size_t bytes, const char **interpreter)
{
	char *start;

	line[bytes] = 0;
	line[strcspn(line, "\n")] = 0;
	start = line + 2 + strspn(line + 2, " \t");
	start[strcspn(start, " \t")] = 0;
	*interpreter = start;
	return *start;
}

static enum problem target_judge_file(const char *path, int depth, who_buffer who)
{
	union {
		char bytes[SCRIPT_LINE_BYTES + 1];
		Elf64_Ehdr elf;
	} head;
	struct stat status;
	enum problem problem;
	const char *interpreter = "/bin/sh"; /* execvp(3) hands it what the kernel does not know */
	ssize_t bytes;
	int fd;

	if (stat(path, &status) != 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENAMETOOLONG
		               ? DOES_NOT_EXIST
		               : NOT_EXECUTABLE;
	if (S_ISDIR(status.st_mode))
		return IS_DIRECTORY;
	if (!S_ISREG(status.st_mode))
		return NOT_A_FILE;
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
		return NOT_EXECUTABLE;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NO_PROBLEM;
	bytes = read(fd, head.bytes, SCRIPT_LINE_BYTES);
	if (bytes >= SELFMAG && !memcmp(head.bytes, ELFMAG, SELFMAG)) {
		problem = target_judge_elf(fd, &head.elf, (size_t)bytes);
		if (!problem)
			problem = target_judge_privileges(fd, &status);
		close(fd);
		return problem;
	}
	close(fd);
	if (bytes < 0)
		return NO_PROBLEM;
	if (bytes >= 2 && !memcmp(head.bytes, "#!", 2) &&
	        !target_script_interpreter(head.bytes, (size_t)bytes, &interpreter))
		return NO_INTERPRETER_NAME;
	if (depth == SCRIPT_DEPTH_MAX)
		return TOO_DEEP;
	snprintf(who, sizeof(who_buffer), "its interpreter %s", interpreter);
	return target_judge_file(interpreter, depth + 1, who);
}

int fxt_target_judge(const char *path, const char *name, char *error, size_t error_bytes)
{
	who_buffer who = "it";
	enum problem problem = target_judge_file(path, 0, who);
	int length;

	if (!problem)
		return 0;
	length = snprintf(error, error_bytes, "%s ", name);
	if (length > 0 && (size_t)length < error_bytes)
		snprintf(error + length, error_bytes - (size_t)length, problems[problem].text, who);
	return problems[problem].status;
}

/* The next file of PATH that a name may mean, with a slash in it; false after the last
 * one. */
static bool target_next_in_path(const char **search, const char *name, char path[PATH_MAX])
{
	while (*search) {
		size_t bytes = strcspn(*search, ":");
		const char *directory = bytes ? *search : ".";
		int length = snprintf(path, PATH_MAX, "%.*s/%s", bytes ? (int)bytes : 1, directory, name);

		*search = (*search)[bytes] ? *search + bytes + 1 : NULL;
		if (length > 0 && length < PATH_MAX)
			return true;
	}
	return false;
}

int fxt_target_find(const char *name, char path[PATH_MAX], char *error, size_t error_bytes)
{
	const char *search = getenv("PATH");
	char refused[PATH_MAX] = "";

	if (strchr(name, '/')) {
		int status = fxt_target_judge(name, name, error, error_bytes);

		if (status == 0) /* then it is not longer than a path can be */
			snprintf(path, PATH_MAX, "%s", name);
		return status;
	}
	if (!search)
		search = "/bin:/usr/bin";
	while (target_next_in_path(&search, name, path)) {
		struct stat status;

		if (stat(path, &status) != 0)
			continue;
		if (S_ISREG(status.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
			return fxt_target_judge(path, name, error, error_bytes);
		strcpy(refused, path);
	}
	if (*refused && *name)
		return fxt_target_judge(refused, refused, error, error_bytes);
	snprintf(error, error_bytes, "%.*s: no such program in PATH", 256, name);
	return FXT_EXIT_NOT_FOUND;
}

static bool target_open(struct fxt_elf *files, const char *path)
{
	char full[PATH_MAX];

	if (!realpath(path, full))
		return false;
	fxt_elf_open_program(files, full);
	return true;
}

bool fxt_target_has_hooks(const char *path)
{
	struct fxt_elf files;
	bool defines;

	if (!target_open(&files, path))
		return false;
	defines = fxt_symbols_define(&files, "__cyg_profile_func_enter");
	fxt_elf_close(&files);
	return defines;
}

/* Whether a table of dynamic symbols has the hook of function entries. */
static bool target_has_hook(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = header->sh_entsize ? elf_getdata(section, NULL) : NULL;
	size_t count = data ? data->d_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; i < count && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (name && strcmp(name, "__cyg_profile_func_enter") == 0)
			return true;
	}
	return false;
}

bool fxt_target_is_instrumented(const char *path)
{
	struct fxt_elf files;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;
	bool found = false;

	if (!target_open(&files, path))
		return false;
	Elf *elf = files.module.elf;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0) {
		fxt_elf_close(&files);
		return false;
	}
	while (!found && (section = elf_nextscn(elf, section)) && gelf_getshdr(section, &header)) {
		const char *name = elf_strptr(elf, names, header.sh_name);

		found = (name && (strcmp(name, "__patchable_function_entries") == 0 ||
		                         strcmp(name, "xray_instr_map") == 0)) ||
		        (header.sh_type == SHT_DYNSYM && target_has_hook(elf, section, &header));
	}
	fxt_elf_close(&files);
	return found;
}
