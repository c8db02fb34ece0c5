/*
 * symbolizer/ finishes archives: it replaces addresses by the names of functions, and gives
 * heaps a profile that viewers draw. It reads archives through reader/, and ELF and DWARF
 * files through elfutils. This is the first header to read.
 *
 * Errors in the whole folder: only memory and writing can fail. A function that returns a
 * pointer returns NULL when memory is short; one that returns an int returns 0 or an errno
 * value. The functions of this header, which users call, return -1 and one line of text
 * instead. A file that is missing, damaged or not the recorded one is no error: its
 * functions stay addresses and are counted.
 *
 * The rewriting reads an archive and writes an archive. It replaces the placeholders that
 * an agent leaves in string records by function names, and adds a userspace-object record
 * with the source position for each function.
 *
 * A placeholder is the whole text of a string record:
 *   {{{pc:0x55d0c0de1139:3}}}                              address, module id
 *
 * For a call still open, the manager writes the placeholder as the inline name of an event
 * record, in the same form. Log records of the same provider announce the modules, before
 * the first placeholder that needs them:
 *   {{{module:3:/usr/bin/lua:elf:8f3a…}}}                  id, path, kind, build ID in lower-case hex (may be
 *                                                          empty)
 *   {{{mmap:0x55d0c0de0000:0x21000:load:3:rx:0x0}}}        address, bytes, "load", module id, flags, address
 *                                                          in the module
 * A record that says nothing is a provider-section record that names the current provider
 * again. A manager writes such records where it has left room for a name. A module id is
 * never reused within a provider. Module 0 stands for the module mapped at the address at
 * that time.
 *
 * The userspace-object record follows the string record directly. It is written once for
 * each function of a provider if the process is known (from a kernel-object record, else
 * from the provider's first thread record). It has pointer = address, name = the string
 * just registered, and as far as they are known the arguments file (string), line (uint32),
 * module (string: the path) and build_id (string). Strings that are valid in one chunk only
 * get no such record.
 */
#ifndef FXT_SYMBOLIZER_REWRITE_H
#define FXT_SYMBOLIZER_REWRITE_H

#include <stdbool.h>
#include <stdint.h>
#include "record_filter.h"
#include "reader/trace/cursor.h"

/* Events of a provider that are left out: all that lie in one part of the archive. */
struct fxt_archive_cleared {
	uint32_t provider;
	struct fxt_archive_part part;
};

struct fxt_rewrite_options {
	/* written into every initialization record; 0 = leave them */
	uint64_t ticks_per_second;
	/* leave out records that say nothing (see above) */
	bool without_room;
	bool symbols; /* false: copy placeholders as they are */
	/* calls it excludes are left out, if `symbols` is set; or NULL */
	const struct fxt_record_filter *filter;
	/* the filter applies to calls that begin before these ticks; 0 = to all */
	uint64_t kept_from;
	bool heap_profiles; /* append them for the Perfetto UI if the archive has a heap and no
	                     * profiles yet */
	/* outside of these the archive has plain calls only; NULL: not known. Used for
	 * profiles that are appended */
	const struct fxt_archive_part *parts;
	size_t part_count;
	/* in archive order for each provider; or NULL */
	const struct fxt_archive_cleared *cleared;
	size_t cleared_count;
	bool compressed;  /* write Zstandard frames (reader/trace/zstd_frames.h) */
	bool keeps_owner; /* a replaced file may be another user's, and stays theirs */
};

struct fxt_rewrite_result {
	uint64_t functions; /* placeholders replaced */
	uint64_t unknown;   /* among these, shown as module+0x1234 or as a bare address */
	uint64_t calls_left_out;
	uint64_t records_unknown; /* records of kinds that are not known, copied as they are */
	struct fxt_fault fault;   /* where the input ended early; the rest was left out */
};

/*
 * Reads the archive on in_fd (a regular file, from its start) and writes the finished one
 * to out_fd at its current position. Both stay open. Returns 0, or -1 with one line in
 * error[error_bytes] that says what went wrong; out_fd then holds part of an archive and
 * must be discarded. A truncated tail of the input is left out and is not an error. A line
 * on stderr names each module that was built again since the recording.
 */
int fxt_rewrite_archive(int in_fd, int out_fd, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes);

/*
 * Appends heap profiles for the Perfetto UI to an archive that is otherwise final, as a
 * rewriting with heap_profiles does. The file must be open for reading and writing. Only
 * the given parts are read. Does nothing if the archive has no heap or already has
 * profiles. Returns 0, or -1 with one line in error[error_bytes]; the archive then ends in
 * whole records.
 */
int fxt_rewrite_append_profiles(
        int fd, const struct fxt_rewrite_options *options, char *error, unsigned error_bytes);

/* fxt_rewrite_archive() for a file by name. The file is replaced atomically on success and
 * left untouched on failure. It keeps its owner and mode. Its directory must have room for
 * both files. */
int fxt_rewrite_file(const char *path, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes);

/* The same into another file, opened as draft.h describes; `from` may be "-". */
int fxt_rewrite_copy(const char *from, const char *to, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes);

#endif
