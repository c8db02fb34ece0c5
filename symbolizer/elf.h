/*
 * A module's files: the ELF file itself and, if that was stripped, its separate debug file.
 * Both are checked by build ID, so a file that was built again since the recording is not
 * mistaken for the recorded one.
 *
 * The search for a debug file follows debuggers: by build ID below /usr/lib/debug/.build-
 * id, then by the name in .gnu_debuglink next to the module, in the .debug directory beside
 * it, and below /usr/lib/debug. The debug file must have the module's build ID. Nothing is
 * fetched over the network.
 *
 * The vdso, which the kernel gives each process, has no file. It is read from this
 * process's memory.
 */
#ifndef FXT_SYMBOLIZER_ELF_H
#define FXT_SYMBOLIZER_ELF_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* More hex digits than any linker writes. */
#define FXT_BUILD_ID_MAX_DIGITS 128

struct fxt_elf_file {
	Elf *elf;     /* NULL: there is no such file */
	Dwarf *dwarf; /* NULL: it has no debug information */
	char *path;   /* without symbolic links; NULL: not known */
};

struct fxt_elf {
	struct fxt_elf_file module;  /* may be missing even if the debug file is there */
	struct fxt_elf_file debug;   /* read for its symbols */
	struct fxt_elf_file sources; /* the same file, read for its debug information */
	bool changed;                /* the file at the module's path has another build ID */
	int error;                   /* errno if the file exists and cannot be read, else 0 */
};

/* Opens the module's file at `path`, which may differ from the path it was recorded by.
 * build_id is in lower-case hex, "" for a module without one. Files stay mapped until
 * fxt_elf_close(); no descriptor stays open. */
void fxt_elf_open(struct fxt_elf *files, const char *path, const char *build_id);

/* Opens only a program's own file, for its symbols, whatever its build ID. */
void fxt_elf_open_program(struct fxt_elf *files, const char *path);

/* Opens the debug file too, if the module needs one. `path` is the path the module was
 * recorded by; some debug files lie beside it. Call it when a name is needed. */
void fxt_elf_open_debug(struct fxt_elf *files, const char *path, const char *build_id);

/* Returns the file that has the debug information; its `dwarf` is NULL if there is none.
 * Call it when a source position is needed: libdw unpacks compressed sections as it opens a
 * file, which takes 0.2 s for the debug file of the C library. */
const struct fxt_elf_file *fxt_elf_sources(struct fxt_elf *files, const char *build_id);

void fxt_elf_close(struct fxt_elf *files);

/* True if a path can be opened without waiting: it leads to a regular file, or to nothing.
 * Used for the files that libdw opens by itself: their names come from a file that anybody
 * may have written. */
bool fxt_elf_is_openable(const char *path);

#endif
