/*
 * The place of a file among the files of one recording (fxtrun --rotate or
 * --file-per-process), in a blob record at the beginning of each. Files of the same session
 * have the same processes and threads under the same koids.
 */
#ifndef FXT_WRITER_ROTATION_H
#define FXT_WRITER_ROTATION_H

#include <stdint.h>

#define FXT_ROTATION_BLOB "fxt:rotation"

/* The blob's data. */
struct fxt_rotation {
	uint64_t session; /* no other session of this boot has that number; not 0 */
	uint64_t number;  /* of the file, as its name has it; 0: the file of one process */
	/* of the session's first file; later files count without a gap; 0 if `number` is */
	uint64_t first;
	uint64_t keep; /* how many files fxtrun keeps: earlier ones are deleted */
};

#endif
