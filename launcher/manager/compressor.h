/*
 * Compresses an archive while it is written, on a thread of its own, into frames
 * (reader/trace/zstd_frames.h):
 *
 *     archive --append--> queue |bytes .............| --thread--> frames --> file
 *                               saved        appended
 *
 * The appending thread copies its bytes, and waits for room in the queue as it would for a
 * disk. Bytes that will be replaced later are marked, and stored uncompressed in a frame of
 * their own. A frame holds whole records. It is written when it is full, or a tenth of a
 * second after its first record.
 *
 * The queue lies in memory that fxtrun's supervisor shares. If the manager is killed, no
 * appended byte is lost: the supervisor takes the bytes that are not in the file from the
 * queue (fxt_compressor_unpack()).
 */
#ifndef FXT_LAUNCHER_MANAGER_COMPRESSOR_H
#define FXT_LAUNCHER_MANAGER_COMPRESSOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "reader/trace/append.h"
#include "reader/trace/zstd_frames.h"

/* frames to compress while the disk takes one */
#define FXT_COMPRESSOR_QUEUE_BYTES ((uint64_t)16 << 20)

struct fxt_compressor_queue {
	uint32_t is_used;                          /* the file consists of frames (release) */
	uint64_t file_bytes;                       /* of whole frames in the file (release; stored
	                                            * before `saved`) */
	uint64_t saved;                            /* bytes of the archive that are in those
	                                            * frames (release) */
	uint64_t appended;                         /* bytes appended in all (release) */
	uint8_t bytes[FXT_COMPRESSOR_QUEUE_BYTES]; /* the bytes since `saved`; byte n stands at n
	                                            * % size */
};

/* A piece of the archive that may be replaced; pieces are in archive order. */
struct fxt_compressor_part {
	uint64_t at, bytes;
	uint64_t file_at; /* valid after it is stored */
};

struct fxt_compressor {
	struct fxt_compressor_queue *queue;
	pthread_t thread;
	pthread_mutex_t lock; /* for all fields below; also taken to change `appended` and
	                       * the bytes not yet taken */
	pthread_cond_t work, done;
	uint64_t taken; /* bytes of the archive that the thread has copied */
	struct fxt_compressor_part *parts;
	size_t part_count, stored_count;
	bool is_hurried; /* do not wait for a full frame */
	bool is_ending;
	int error; /* errno value that ended the writing; 0 = none */
	/* Belongs to the thread; to everyone after the thread has ended. */
	struct fxt_frames frames;
	uint8_t *block;
};

/* Returns how many of the first `bytes` bytes are whole records. The records may lie in
 * memory shared with an agent: whatever it holds, the result is at most `bytes`. */
uint64_t fxt_whole_records(const uint8_t *records, uint64_t bytes);

/* Maps a queue. Must be called before the manager is forked. NULL: memory is short. */
struct fxt_compressor_queue *fxt_compressor_map_queue(void);

/* Empties the queue after an archive is finished, and gives its memory back. */
void fxt_compressor_empty_queue(struct fxt_compressor_queue *queue);

/* Begins in an empty file. The caller keeps owning the file and the queue. Returns 0, or an
 * errno value: the file is unchanged. */
int fxt_compressor_begin(struct fxt_compressor *compressor, struct fxt_compressor_queue *queue, int fd);

/* Marks the next `bytes` bytes to be appended as replaceable. Returns 0 or ENOMEM. */
int fxt_compressor_mark(struct fxt_compressor *compressor, uint64_t bytes);

/* Appends whole records, from one thread at a time. Returns 0, or the errno value that
 * ended the writing: the archive then ends behind its first fxt_compressor_saved()
 * bytes. */
int fxt_compressor_append(struct fxt_compressor *compressor, const void *records, uint64_t bytes);

/* Overwrites bytes of a marked piece. Returns 0, or an errno value. */
int fxt_compressor_replace(struct fxt_compressor *compressor, uint64_t at, const void *bytes, uint64_t count);

/* Waits until all appended bytes are in the file. Returns the same as
 * fxt_compressor_append(). */
int fxt_compressor_drain(struct fxt_compressor *compressor);
uint64_t fxt_compressor_saved(const struct fxt_compressor *compressor);

/* Ends the thread and writes the table of the frames. If the file is full, it gets no
 * table. */
void fxt_compressor_end(struct fxt_compressor *compressor);

/* For the supervisor after the manager was killed: returns a descriptor of an unnamed file
 * that holds the archive as far as it was written, or -1 and errno. */
int fxt_compressor_unpack(const struct fxt_compressor_queue *queue, int fd);

#endif
