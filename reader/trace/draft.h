/*
 * A file that a command writes: a draft beside its final place, which takes that place once
 * it is whole. The previous file at that place stays as it is until then, and for good if
 * the writing fails.
 *
 * The place may be in a directory where others may write too. Another user can wait there
 * with a file of their own, to read what is written to it. They can also put a symbolic or
 * hard link to a file of the caller's there, to have that file overwritten. A draft is
 * therefore a new file, and the file it replaces must be a regular file of the caller's. A
 * symbolic link is followed only if it is the caller's or root's.
 *
 * Devices, pipes and open descriptors (/dev/null, /dev/stdout, /dev/fd/63) are written to
 * as they are. So is a file of the caller's in a directory where the caller may not create
 * files.
 */
#ifndef FXT_READER_DRAFT_H
#define FXT_READER_DRAFT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include "source.h"

struct fxt_draft_config {
	/* The trace that the output is made from. A new file gets its mode, less the
	 * umask's bits, because an output reveals as much as its trace. */
	const struct fxt_source_file *source;
	bool may_be_source;  /* the output may replace the trace itself, also if it is foreign */
	bool may_be_foreign; /* the output may replace another user's file; it stays theirs */
	bool is_named;       /* the draft has a name while it is written */
};

struct fxt_draft {
	int fd;        /* to write to */
	int directory; /* of the output's place; -1: the output itself is written to */
	bool has_replaced;
	struct stat replaced;
	gid_t group; /* of the trace that it is made from */
	char name[NAME_MAX + 1];
	char temporary[NAME_MAX + 1]; /* "": the draft has no name */
};

/* Opens a draft of the file `path`, relative to the directory `at` (AT_FDCWD: the current
 * one). Returns NULL, or the reason for the failure as half a sentence, which holds until
 * the next call; then there is no draft. */
const char *fxt_draft_open(
        struct fxt_draft *draft, int at, const char *path, const struct fxt_draft_config *config);

/* Puts the draft in its place, and closes it. Returns 0, or an errno value; then the draft
 * is gone. */
int fxt_draft_publish(struct fxt_draft *draft);

/* Removes the draft; the previous file at its place stays. */
void fxt_draft_abandon(struct fxt_draft *draft);

/*
 * Opens a directory to write drafts into; `path` is relative to the directory `at`. A
 * missing one is created with the mode of a file, plus search permission for those with
 * read permission. An existing one must be the caller's. Returns NULL and the descriptor in
 * *directory, or the reason as fxt_draft_open() does.
 */
const char *fxt_draft_open_directory(
        int *directory, int at, const char *path, const struct fxt_source_file *source);

#endif
