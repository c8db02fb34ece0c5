/*
 * Compresses an archive while it is written, on a thread of its own, into frames (symbolizer/frames.h):
 *
 *     archive --append--> queue |bytes .............| --thread--> frames --> file
 *                               saved        appended
 *
 * Whoever appends copies, and waits for room in the queue as it would for a disk. What will be changed later
 * is marked, and stands as it is in a frame of its own. A frame holds whole records and is written once it is
 * full, or a tenth of a second after its first.
 *
 * The queue lies in memory that fxtrun's job has too. If the recorder is killed nothing that was appended is
 * lost: the job takes from there what is not in the file (fxt_compressor_unpack()).
 */
#ifndef FXT_LAUNCHER_SESSION_COMPRESSOR_H
#define FXT_LAUNCHER_SESSION_COMPRESSOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "symbolizer/frames.h"

#define FXT_COMPRESSOR_QUEUE_BYTES ((uint64_t)16 << 20) /* frames to compress while the disk takes one */

struct fxt_compressor_queue {
	uint32_t is_used;                          /* what is in the file are frames (release) */
	uint64_t file_bytes;                       /* of whole frames in the file (release, before `saved`) */
	uint64_t saved;                            /* bytes of the archive that are in them (release) */
	uint64_t appended;                         /* all that came (release) */
	uint8_t bytes[FXT_COMPRESSOR_QUEUE_BYTES]; /* those since `saved`, the n-th at n % size */
};

/* A piece of the archive that may be replaced, in the order of the archive. */
struct fxt_compressor_part {
	uint64_t at, bytes;
	uint64_t file_at; /* once it is stored */
};

struct fxt_compressor {
	struct fxt_compressor_queue *queue;
	pthread_t thread;
	pthread_mutex_t lock; /* of everything below, and to change `appended`, and what was not taken */
	pthread_cond_t work, done;
	uint64_t taken; /* bytes of the archive that the thread has copied */
	struct fxt_compressor_part *parts;
	size_t part_count, stored_count;
	bool is_hurried; /* what there is is not to wait for a full frame */
	bool is_ending;
	int error; /* that ended the writing; 0 = none */
	/* The thread's, and everybody's once it has ended. */
	struct fxt_frames frames;
	uint8_t *block;
};

/* Bytes of the whole records among the first `bytes` of a row. They may lie in memory that an agent shares:
 * whatever stands there now, the answer is at most `bytes`. */
uint64_t fxt_whole_records(const uint8_t *records, uint64_t bytes);

/* Maps a queue, before the recorder is forked. NULL: memory is short. */
struct fxt_compressor_queue *fxt_compressor_map_queue(void);

/* Empties the queue of a finished archive, and gives its memory back. */
void fxt_compressor_empty_queue(struct fxt_compressor_queue *queue);

/* Begins in an empty file, which stays the caller's, as the queue does. Returns 0, or an errno value: the
 * file is as it was. */
int fxt_compressor_begin(struct fxt_compressor *compressor, struct fxt_compressor_queue *queue, int fd);

/* What is appended next, so many bytes, may be replaced. Returns 0 or ENOMEM. */
int fxt_compressor_mark(struct fxt_compressor *compressor, uint64_t bytes);

/* Appends whole records, from one thread at a time. Returns 0, or the errno value that ended the writing: the
 * archive then ends behind the first fxt_compressor_saved() bytes. */
int fxt_compressor_append(struct fxt_compressor *compressor, const void *records, uint64_t bytes);

/* Writes over bytes of a marked piece. Returns 0, or an errno value. */
int fxt_compressor_replace(struct fxt_compressor *compressor, uint64_t at, const void *bytes, uint64_t count);

/* Waits until all that was appended is in the file. Returns as fxt_compressor_append(). */
int fxt_compressor_drain(struct fxt_compressor *compressor);
uint64_t fxt_compressor_saved(const struct fxt_compressor *compressor);

/* Ends the thread and writes the table of the frames, which a file that is full does without. */
void fxt_compressor_end(struct fxt_compressor *compressor);

/* The recorder is dead: returns a descriptor of a file without a name that holds the archive as far as it
 * got, or -1 and errno. */
int fxt_compressor_unpack(const struct fxt_compressor_queue *queue, int fd);

#endif
