/*
 * symbolizer/ finishes archives: addresses get the names of functions, heaps a profile that viewers draw. It
 * reads archives by reader/, and ELF and DWARF files by elfutils; this is the first header to read.
 *
 * Errors, in the whole folder. Two things fail: memory, and writing. A function that returns a pointer
 * returns NULL when memory is short; one that returns an int returns 0 or an errno value; here, where users
 * call, that becomes -1 and one line of text. A file that is missing, not the one recorded, or damaged is no
 * error: its functions stay addresses, and are counted.
 *
 * Archive in, archive out: replaces the placeholders an agent leaves in string records by function names, and
 * adds a userspace-object record for each function with its source position.
 *
 * A placeholder is the whole text of a string record:   {{{pc:0x55d0c0de1139:3}}}      address, module id
 * or, written by the manager for a call still open, the inline name of an event record of the same form.
 * Modules are announced by log records of the same provider, before the first placeholder that needs them:
 *   {{{module:3:/usr/bin/lua:elf:8f3a…}}}                  id, path, kind, build ID in lower-case hex (may be
 *                                                          empty)
 *   {{{mmap:0x55d0c0de0000:0x21000:load:3:rx:0x0}}}        address, bytes, "load", module id, flags, address
 *                                                          in the module
 * Records that say nothing are sections of the provider whose section it is. A manager puts them where it has
 * left room for a name.
 * A module id is never reused within a provider. Module 0 is whichever lies at the address at that time.
 *
 * The userspace-object record stands right behind the string record, once for each function of a provider
 * whose process is known (by a kernel-object record, else by its first thread record): pointer = address,
 * name = the string just registered, and as far as they are known the arguments file (string), line (uint32),
 * module (string: the path) and build_id (string). Strings that hold for one chunk only have none.
 */
#ifndef FXT_SYMBOLIZER_REWRITE_H
#define FXT_SYMBOLIZER_REWRITE_H

#include <stdbool.h>
#include <stdint.h>
#include "selection.h"
#include "reader/trace/cursor.h"

/* Events of a provider that are left out: those that stand in a part of the archive. */
struct fxt_archive_cleared {
	uint32_t provider;
	struct fxt_archive_part part;
};

struct fxt_rewrite_options {
	uint64_t ticks_per_second;          /* patched into every initialization record; 0 = leave them */
	bool without_room;                  /* leave out records that say nothing (above) */
	bool symbols;                       /* false: copy placeholders as they are */
	const struct fxt_selection *filter; /* calls it leaves out are, where symbols are added; or NULL */
	uint64_t kept_from;                 /* ... those that begin before these ticks; 0 = all */
	bool heap_profiles; /* append them for the Perfetto UI, if there is a heap and none yet */
	const struct fxt_archive_part *parts; /* outside of which the archive has plain calls alone; NULL: it
	                                         is not known. Of use to profiles that are appended */
	size_t part_count;
	const struct fxt_archive_cleared *cleared; /* of one provider in the order of the archive; or NULL */
	size_t cleared_count;
	bool compressed;  /* into frames of Zstandard (frames.h) */
	bool keeps_owner; /* a file that is replaced may be another user's, and stays theirs */
};

struct fxt_rewrite_result {
	uint64_t functions; /* placeholders replaced */
	uint64_t unknown;   /* of these, shown as module+0x1234 or as a bare address */
	uint64_t calls_left_out;
	struct fxt_fault fault; /* where the input ended early; the rest of it was left out */
};

/*
 * Reads the archive on in_fd (a regular file, from its start) and writes the finished one to out_fd at its
 * current position. Both stay open. Returns 0, or -1 with one line of what went wrong in error[error_bytes];
 * out_fd then holds part of an archive and is to be thrown away. A truncated tail of the input is left out,
 * not an error. A line on stderr says which modules were built
 * again since the recording.
 */
int fxt_rewrite_archive(int in_fd, int out_fd, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes);

/*
 * Appends heap profiles for the Perfetto UI to an archive that is final otherwise, on a file open for reading
 * and writing: what a rewriting with heap_profiles does. Nothing outside of the parts is read. Nothing if it
 * has no heap, or has profiles already. Returns 0, or -1 with one line in error[error_bytes]; the archive
 * then ends in whole records.
 */
int fxt_rewrite_append_profiles(
        int fd, const struct fxt_rewrite_options *options, char *error, unsigned error_bytes);

/* fxt_rewrite_archive() for a file by name, replaced atomically when it succeeds and left untouched when it
 * does not. It keeps its owner and mode; its directory must have room for both. */
int fxt_rewrite_file(const char *path, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes);

/* The same into another file, opened as draft.h says; `from` may be "-". */
int fxt_rewrite_copy(const char *from, const char *to, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes);

#endif
