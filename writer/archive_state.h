/*
 * What an archive of fxtrun's says of itself, in a blob record right behind the magic record: that it is
 * unfinished, until all is in it; or that it was recovered, when another process has finished it. The record
 * is written first and changed in place at the end, so it holds whatever became of its writer. Archives of
 * other producers have none, which says nothing.
 */
#ifndef FXT_WRITER_ARCHIVE_STATE_H
#define FXT_WRITER_ARCHIVE_STATE_H

#include <stdint.h>

#define FXT_ARCHIVE_STATE_BLOB "fxt:archive"

/* Blob records with a packet for the Perfetto UI about the session (launcher/session/description.h). */
#define FXT_DESCRIPTION_BLOB "fxt: description"

enum fxt_archive_end { FXT_ARCHIVE_UNFINISHED = 0, FXT_ARCHIVE_FINISHED = 1, FXT_ARCHIVE_RECOVERED = 2 };

/* The blob's data. */
struct fxt_archive_state {
	uint64_t is_finished;     /* enum fxt_archive_end; what is not known counts as finished */
	uint64_t bytes_unwritten; /* of records, which the file had no room for; 0 while it is unfinished */
};

#endif
