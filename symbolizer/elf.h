/*
 * A module's files: the ELF file itself and, where it was stripped, the debug file kept apart from it. Both
 * are known by build ID, so a file that was built again since the recording is not taken for the one
 * recorded.
 *
 * A debug file is looked for as debuggers do: by build ID below /usr/lib/debug/.build-id, then by the name in
 * .gnu_debuglink next to the module, in its .debug directory and below /usr/lib/debug. It must have the
 * module's build ID. Nothing is fetched over the network.
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
	struct fxt_elf_file module;  /* may be missing although the debug file is there */
	struct fxt_elf_file debug;   /* for its symbols */
	struct fxt_elf_file sources; /* the same, for its debug information */
	bool changed;                /* the file at the module's path has another build ID */
	int error;                   /* it is there, but cannot be read: errno, else 0 */
};

/* Opens the module's file at `path`, which may be another way to it than the path it was recorded by.
 * build_id is in lower-case hex, "" for a module that has none. Files stay mapped until fxt_elf_close(); no
 * descriptor stays open. */
void fxt_elf_open(struct fxt_elf *files, const char *path, const char *build_id);

/* Opens a program's file alone, for its symbols, whatever build ID it has. */
void fxt_elf_open_program(struct fxt_elf *files, const char *path);

/* Opens the debug file too, if the module needs one; `path` is the one it was recorded by, beside which some
 * lie. For the time when a name is wanted. */
void fxt_elf_open_debug(struct fxt_elf *files, const char *path, const char *build_id);

/* The file that has the debug information; without `dwarf` if there is none. For the time when a source
 * position is wanted: libdw unpacks compressed sections as it opens a file, which takes 0.2 s of that of the
 * C library. */
const struct fxt_elf_file *fxt_elf_sources(struct fxt_elf *files, const char *build_id);

void fxt_elf_close(struct fxt_elf *files);

/* Whether a path can be opened without waiting: it leads to a regular file, or to nothing. For the files that
 * libdw opens by itself: their names come out of a file that anybody may have written. */
bool fxt_elf_is_openable(const char *path);

#endif
