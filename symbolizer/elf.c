/*
 * Opens a module's ELF file and its debug file, and checks their build IDs. Runs on its
 * caller's thread. It must never open anything but a regular file, nor keep a descriptor.
 */
#include "elf.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "reader/trace/index.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"
#define VDSO_PAGES_MAX  64

static void close_file(struct fxt_elf_file *file)
{
	dwarf_end(file->dwarf);
	elf_end(file->elf);
	free(file->path);
	*file = (struct fxt_elf_file){0};
}

/* Opens a regular file only, because the path comes from an archive and may name anything.
 * If there is none, it returns -1 with errno 0. */
static int open_regular(const char *path)
{
	struct stat status;

	errno = 0;
	if (path[0] != '/')
		return -1;
	if (stat(path, &status) != 0) {
		errno = errno == ENOENT || errno == ENOTDIR ? 0 : errno;
		return -1;
	}
	if (!S_ISREG(status.st_mode) || status.st_size == 0)
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

bool fxt_elf_is_openable(const char *path)
{
	struct stat status;

	return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* dwz moves data that several files share into one file, named by .gnu_debugaltlink with a
 * path as in a link. */
static bool is_alternate_openable(const struct fxt_elf_file *file)
{
	char path[PATH_MAX];
	const char *name, *slash = file->path ? strrchr(file->path, '/') : NULL;
	const void *build_id;

	if (dwelf_dwarf_gnu_debugaltlink(file->dwarf, &name, &build_id) <= 0)
		return true;
	if (name[0] == '/')
		return fxt_elf_is_openable(name);
	return slash &&
	       snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - file->path), file->path, name) <
	               (int)sizeof(path) &&
	       fxt_elf_is_openable(path);
}

static bool has_build_id(Elf *elf, const char *build_id)
{
	const void *note;
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &note);
	char digits[FXT_BUILD_ID_MAX_DIGITS + 1] = "";

	if (bytes > FXT_BUILD_ID_MAX_DIGITS / 2)
		return false;
	for (ssize_t i = 0; i < bytes; i++)
		snprintf(digits + 2 * i, 3, "%02x", ((const unsigned char *)note)[i]);
	return strcmp(digits, build_id) == 0;
}

/* libelf and libdw treat a lack of memory as damage of the file, and go on without the data
 * they could not load. */
static void end_without_memory(void)
{
	if (errno == ENOMEM)
		fxt_out_of_memory();
}

static void open_dwarf(struct fxt_elf_file *file)
{
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	end_without_memory();
	if (file->dwarf)
		dwarf_new_oom_handler(file->dwarf, fxt_out_of_memory);
	if (file->dwarf && !is_alternate_openable(file)) {
		dwarf_end(file->dwarf);
		file->dwarf = NULL;
	}
}

/* Returns false if there is an ELF file with another build ID; NULL accepts any. */
static bool open_file(struct fxt_elf_file *file, const char *path, const char *build_id, bool has_sources)
{
	int fd = open_regular(path);

	if (fd < 0)
		return true;
	elf_version(EV_CURRENT);
	errno = 0;
	file->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!file->elf)
		end_without_memory();
	errno = 0; /* a file that cannot be mapped is read instead */
	if (elf_kind(file->elf) != ELF_K_ELF) {
		close_file(file);
		close(fd);
		return true;
	}
	if (build_id && !has_build_id(file->elf, build_id)) {
		close_file(file);
		close(fd);
		return false;
	}
	file->path = realpath(path, NULL);
	if (!file->path)
		end_without_memory();
	errno = 0; /* realpath() leaves an error here if a file is no link */
	/* libdw uses the descriptor now, for the directory of further debug files. It is
	 * not needed later and is closed: a program may have more modules than a process
	 * may have descriptors. */
	if (has_sources)
		open_dwarf(file);
	elf_cntl(file->elf, ELF_C_FDREAD);
	end_without_memory();
	close(fd);
	return true;
}

static bool has_symtab(Elf *elf)
{
	GElf_Shdr header;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;)
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			return true;
	return false;
}

__attribute__((format(printf, 3, 4))) static void try_debug_file(
        struct fxt_elf *files, const char *build_id, const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;

	if (files->debug.elf)
		return;
	va_start(arguments, format);
	int length = vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	if (length < (int)sizeof(path))
		open_file(&files->debug, path, build_id, false);
}

/* Opens the vdso of this process, which has no file. The recorded process had the same one
 * if its build ID is equal. */
static void open_vdso(struct fxt_elf_file *file, const char *build_id)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)address;
	unsigned char pages[VDSO_PAGES_MAX];
	size_t bytes;

	if (!address)
		return;
	bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	if (bytes > sizeof(pages) * (size_t)sysconf(_SC_PAGESIZE) ||
	        mincore((void *)address, bytes, pages) != 0) /* not all of it is mapped */
		return;
	elf_version(EV_CURRENT);
	file->elf = elf_memory((char *)address, bytes);
	if (!file->elf)
		end_without_memory();
	else if (!has_build_id(file->elf, build_id))
		close_file(file);
}

void fxt_elf_open(struct fxt_elf *files, const char *path, const char *build_id)
{
	*files = (struct fxt_elf){0};
	if (strcmp(path, "linux-vdso.so.1") == 0) {
		open_vdso(&files->module, build_id);
		return;
	}
	errno = 0;
	files->changed = !open_file(&files->module, path, build_id, true);
	files->error = files->changed || files->module.elf ? 0 : errno;
}

void fxt_elf_open_program(struct fxt_elf *files, const char *path)
{
	*files = (struct fxt_elf){0};
	open_file(&files->module, path, NULL, false);
}

void fxt_elf_open_debug(struct fxt_elf *files, const char *path, const char *build_id)
{
	if (files->module.dwarf && has_symtab(files->module.elf))
		return;
	/* Without a build ID nothing shows that a debug file belongs to this module. */
	if (path[0] != '/' || strlen(build_id) <= 2)
		return;
	const char *link =
	        files->module.elf ? dwelf_elf_gnu_debuglink(files->module.elf, &(GElf_Word){0}) : NULL;
	int directory = (int)(strrchr(path, '/') - path);

	try_debug_file(files, build_id, DEBUG_DIRECTORY "/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	if (!link || strchr(link, '/'))
		return;
	try_debug_file(files, build_id, "%.*s/%s", directory, path, link);
	try_debug_file(files, build_id, "%.*s/.debug/%s", directory, path, link);
	try_debug_file(files, build_id, DEBUG_DIRECTORY "%.*s/%s", directory, path, link);
}

const struct fxt_elf_file *fxt_elf_sources(struct fxt_elf *files, const char *build_id)
{
	if (files->module.dwarf)
		return &files->module;
	if (!files->sources.elf && files->debug.path)
		open_file(&files->sources, files->debug.path, build_id, true);
	return &files->sources;
}

void fxt_elf_close(struct fxt_elf *files)
{
	close_file(&files->sources);
	close_file(&files->module);
	close_file(&files->debug);
}
