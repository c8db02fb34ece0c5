/*
 * What an archive of fxtrun's says of itself, in a blob record right behind the magic record: that it is
 * unfinished, until all is in it; or that it was recovered, when another process has finished it. The record
 * is written first and changed in place at the end, so it holds whatever became of its writer. Archives of
 * other producers have none, which says nothing.
 */
#ifndef FXT_WRITER_ARCHIVE_STATE_H
#define FXT_WRITER_ARCHIVE_STATE_H

#include <stddef.h>
#include <stdint.h>

#define FXT_ARCHIVE_STATE_BLOB "fxt:archive"

/* Blob records with a packet for the Perfetto UI about the session (launcher/session/description.h). */
#define FXT_DESCRIPTION_BLOB "fxt: description"

enum fxt_archive_end { FXT_ARCHIVE_UNFINISHED = 0, FXT_ARCHIVE_FINISHED = 1, FXT_ARCHIVE_RECOVERED = 2 };

/* What readers say of an unfinished archive. */
#define FXT_ARCHIVE_UNFINISHED_TEXT                                                                   \
	"fxtrun did not come to write its end; recorded in streaming mode it has all calls that had " \
	"returned "                                                                                   \
	"a second before, in other modes what the buffers held is missing"

/* The blob's data. */
struct fxt_archive_state {
	uint64_t is_finished;     /* enum fxt_archive_end; what is not known counts as finished */
	uint64_t bytes_unwritten; /* of records, which the file had no room for; 0 while it is unfinished */
	/* A circular session dropped processes that had ended, to keep the trace small. Archives that were
	 * written before there was a bound end here. */
	uint64_t processes_dropped;
	uint64_t records_dropped; /* events of theirs, those that were lost or overwritten before included */
};

/* The shortest data that such a blob may have. */
#define FXT_ARCHIVE_STATE_LEAST_BYTES offsetof(struct fxt_archive_state, processes_dropped)

#endif
