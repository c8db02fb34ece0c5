/*
 * The state of an archive of fxtrun's, in a blob record right behind the magic record. It
 * says that the archive is unfinished, until it is complete; or that it was recovered, if
 * another process has finished it. The record is written first and changed in place at the
 * end, so it is right whatever became of its writer. Archives of other producers have no
 * such record, which says nothing about them.
 */
#ifndef FXT_WRITER_ARCHIVE_STATE_H
#define FXT_WRITER_ARCHIVE_STATE_H

#include <stddef.h>
#include <stdint.h>

#define FXT_ARCHIVE_STATE_BLOB "fxt:archive"

/* Blob records with a packet for the Perfetto UI that describes the session
 * (launcher/manager/description.h). */
#define FXT_DESCRIPTION_BLOB "fxt: description"

enum fxt_archive_end { FXT_ARCHIVE_UNFINISHED = 0, FXT_ARCHIVE_FINISHED = 1, FXT_ARCHIVE_RECOVERED = 2 };

/* Readers report this about an unfinished archive. */
#define FXT_ARCHIVE_UNFINISHED_TEXT                                                                      \
	"fxtrun was killed before it wrote the end; in streaming mode the trace has all calls that had " \
	"returned a second before, in other modes the contents of the buffers are missing"

/* The blob's data. */
struct fxt_archive_state {
	/* enum fxt_archive_end; unknown values count as finished */
	uint64_t is_finished;
	/* bytes of records that found no room in the file; 0 while the archive is
	 * unfinished */
	uint64_t bytes_unwritten;
	/* A circular session dropped processes that had ended, to keep the trace small. In
	 * archives from before that bound existed the data end before this field. */
	uint64_t processes_dropped;
	/* events of these processes, including those that were lost or overwritten
	 * before */
	uint64_t records_dropped;
	/* The recording ended when the archive had this size, as the user had asked; 0: it
	 * did not. In older archives the data end before this field. */
	uint64_t max_bytes;
	/* events of programs among the records that came after that */
	uint64_t events_refused;
};

/* The shortest data that such a blob may have. */
#define FXT_ARCHIVE_STATE_LEAST_BYTES offsetof(struct fxt_archive_state, processes_dropped)

#endif
