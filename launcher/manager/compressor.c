/*
 * Compresses the archive on a thread of its own; writers copy their bytes to a queue. Every
 * queued byte must stay valid until it is in the file, since the supervisor reads the queue
 * if the manager is killed.
 */
#include "compressor.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "threads.h"
#include "reader/trace/compressed.h"
#include "writer/shared/atomics.h"
#include "writer/format/format.h"
#include "writer/shared/search.h"

#define STACK_BYTES ((size_t)256 << 10) /* a stored frame is built on the stack */
#define PATIENCE_NS 100000000L          /* wait time of records that do not fill a frame */

uint64_t fxt_whole_records(const uint8_t *records, uint64_t bytes)
{
	uint64_t end = 0;

	while (bytes - end >= 8) {
		uint64_t header, words;

		memcpy(&header, records + end, sizeof(header));
		words = fxt_record_words(header);
		if (words == 0 || words > (bytes - end) / 8)
			break;
		end += words * 8;
	}
	return end;
}

static uint64_t compressor_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- the queue ---- */

struct fxt_compressor_queue *fxt_compressor_map_queue(void)
{
	void *queue = mmap(NULL, sizeof(struct fxt_compressor_queue), PROT_READ | PROT_WRITE,
	        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return queue == MAP_FAILED ? NULL : queue;
}

void fxt_compressor_empty_queue(struct fxt_compressor_queue *queue)
{
	queue->is_used = 0;
	queue->file_bytes = queue->saved = queue->appended = 0;
	madvise(queue, sizeof(*queue), MADV_REMOVE);
}

/* Returns how many of `count` bytes from `at` on are contiguous in the queue. */
static uint64_t compressor_straight(uint64_t at, uint64_t count)
{
	return compressor_least(FXT_COMPRESSOR_QUEUE_BYTES - at % FXT_COMPRESSOR_QUEUE_BYTES, count);
}

static void compressor_put(struct fxt_compressor_queue *q, uint64_t at, const uint8_t *bytes, uint64_t count)
{
	uint64_t first = compressor_straight(at, count);

	memcpy(q->bytes + at % FXT_COMPRESSOR_QUEUE_BYTES, bytes, first);
	memcpy(q->bytes, bytes + first, count - first);
}

static void compressor_get(const struct fxt_compressor_queue *q, uint64_t at, uint8_t *bytes, uint64_t count)
{
	uint64_t first = compressor_straight(at, count);

	memcpy(bytes, q->bytes + at % FXT_COMPRESSOR_QUEUE_BYTES, first);
	memcpy(bytes + first, q->bytes, count - first);
}

/* ---- the thread ---- */

/* Another process has cut the file: only the frames before the cut count. With the lock
 * held. */
static void compressor_keep_rest(struct fxt_compressor *c)
{
	struct stat status;

	fxt_frames_keep(&c->frames, fstat(c->frames.fd, &status) == 0 ? (uint64_t)status.st_size : 0);
	store_release(&c->queue->file_bytes, c->frames.file_bytes);
	store_release(&c->queue->saved, c->frames.content_bytes);
}

/* All taken bytes are in the file, or `error` is why they are not. With the lock held. */
static void compressor_saved(struct fxt_compressor *c, int error)
{
	if (error == FXT_ERROR_CUT)
		compressor_keep_rest(c);
	if (error) {
		c->error = error;
		store_release(&c->queue->appended, c->queue->saved);
		/* If this fails, readers find an incomplete frame at the end. A file
		 * without a frame of ours is another's. */
		if (c->frames.file_bytes)
			(void)!ftruncate(c->frames.fd, (off_t)c->frames.file_bytes);
	} else {
		/* Release: the frames are in the file. The order matters: if the process
		 * dies between the two stores, the queue still holds bytes that the file
		 * may have already. */
		store_release(&c->queue->file_bytes, c->frames.file_bytes);
		store_release(&c->queue->saved, c->frames.content_bytes);
	}
	pthread_cond_broadcast(&c->done);
}

/* Stores the marked piece that is next. The lock is held, so that the piece cannot be
 * replaced in the meantime. */
static void compressor_store(struct fxt_compressor *c, struct fxt_compressor_part *part)
{
	compressor_get(c->queue, part->at, c->block, part->bytes);
	c->taken += part->bytes;
	c->stored_count++;
	compressor_saved(c, fxt_frames_store(&c->frames, c->block, part->bytes, &part->file_at));
}

/* Compresses `bytes` bytes, or without `all` only the whole records among them. Called with
 * the lock held, and releases it in between. False: there is no whole record. */
static bool compressor_compress(struct fxt_compressor *c, uint64_t bytes, bool all)
{
	uint64_t whole;
	int error;

	compressor_get(c->queue, c->taken, c->block, bytes);
	whole = fxt_whole_records(c->block, bytes);
	if (whole == 0 && all)
		whole = bytes;
	if (whole == 0)
		return false;
	c->taken += whole;
	pthread_mutex_unlock(&c->lock);
	error = fxt_frames_append(&c->frames, c->block, whole);
	if (!error)
		error = fxt_frames_flush(&c->frames);
	pthread_mutex_lock(&c->lock);
	compressor_saved(c, error);
	return true;
}

/* PATIENCE_NS from now. */
static struct timespec compressor_deadline(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += PATIENCE_NS;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

/* Takes the available bytes. Returns true if it took any. With the lock held. */
static bool compressor_take(struct fxt_compressor *c, bool is_late)
{
	struct fxt_compressor_part *part =
	        c->stored_count < c->part_count ? c->parts + c->stored_count : NULL;
	uint64_t there = c->queue->appended - c->taken;
	uint64_t before =
	        /* bytes before the next replaceable piece */
	        part ? part->at - c->taken : UINT64_MAX;
	uint64_t bytes = compressor_least(compressor_least(there, before), FXT_FRAME_BYTES);
	bool is_all = bytes == before || c->is_hurried || c->is_ending;

	if (part && before == 0 && there >= part->bytes) {
		compressor_store(c, part);
		return true;
	}
	if (bytes == 0 || !(is_all || is_late || bytes == FXT_FRAME_BYTES))
		return false;
	return compressor_compress(c, bytes, is_all || bytes == FXT_FRAME_BYTES);
}

static void *compressor_run(void *context)
{
	struct fxt_compressor *c = context;
	struct timespec deadline = {0};
	bool is_waiting = false, is_late = false; /* waiting for a full frame */

	pthread_mutex_lock(&c->lock);
	while (!c->error) {
		if (compressor_take(c, is_late)) {
			is_waiting = is_late = false;
		} else if (c->taken == c->queue->appended && c->is_ending) {
			break;
		} else if (c->taken == c->queue->appended) {
			pthread_cond_wait(&c->work, &c->lock);
		} else {
			if (!is_waiting || is_late)
				deadline = compressor_deadline();
			is_waiting = true;
			is_late = pthread_cond_timedwait(&c->work, &c->lock, &deadline) == ETIMEDOUT;
		}
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* ---- its beginning and end ---- */

static void compressor_free(struct fxt_compressor *c)
{
	fxt_frames_end(&c->frames);
	free(c->block);
	free(c->parts);
	c->block = NULL;
	c->parts = NULL;
	c->part_count = c->stored_count = 0;
}

int fxt_compressor_begin(struct fxt_compressor *c, struct fxt_compressor_queue *queue, int fd)
{
	int error;

	*c = (struct fxt_compressor){
	        .queue = queue, .lock = PTHREAD_MUTEX_INITIALIZER, .block = malloc(FXT_FRAME_BYTES)};
	error = c->block ? fxt_frames_begin(&c->frames, fd) : ENOMEM;
	if (error) {
		compressor_free(c);
		return error;
	}
	c->frames.is_exposed = true;
	fxt_condition_begin(&c->work);
	fxt_condition_begin(&c->done);
	error = fxt_thread_start(&c->thread, STACK_BYTES, compressor_run, c);
	if (error)
		compressor_free(c);
	else
		store_release(&queue->is_used, 1);
	return error;
}

uint64_t fxt_compressor_saved(const struct fxt_compressor *c)
{
	return load_acquire(&c->queue->saved);
}

int fxt_compressor_drain(struct fxt_compressor *c)
{
	struct stat status;
	int error;

	pthread_mutex_lock(&c->lock);
	c->is_hurried = true;
	pthread_cond_signal(&c->work);
	while (!c->error && c->queue->saved < c->queue->appended)
		pthread_cond_wait(&c->done, &c->lock);
	c->is_hurried = false;
	if (!c->error && fstat(c->frames.fd, &status) == 0 && (uint64_t)status.st_size < c->frames.file_bytes)
		compressor_saved(c, FXT_ERROR_CUT);
	error = c->error;
	pthread_mutex_unlock(&c->lock);
	return error;
}

void fxt_compressor_end(struct fxt_compressor *c)
{
	pthread_mutex_lock(&c->lock);
	c->is_ending = true;
	pthread_cond_signal(&c->work);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	if (!c->error)
		compressor_saved(c, fxt_frames_finish(&c->frames));
	compressor_free(c);
}

/* ---- what comes ---- */

int fxt_compressor_mark(struct fxt_compressor *c, uint64_t bytes)
{
	struct fxt_compressor_part *parts;

	if (bytes > FXT_FRAME_STORED_BYTES)
		return EMSGSIZE;
	pthread_mutex_lock(&c->lock);
	parts = reallocarray(c->parts, c->part_count + 1, sizeof(*parts));
	if (parts) {
		c->parts = parts;
		parts[c->part_count++] = (struct fxt_compressor_part){c->queue->appended, bytes, 0};
	}
	pthread_mutex_unlock(&c->lock);
	return parts ? 0 : ENOMEM;
}

int fxt_compressor_append(struct fxt_compressor *c, const void *records, uint64_t bytes)
{
	struct fxt_compressor_queue *q = c->queue;
	uint64_t done = 0;
	int error;

	pthread_mutex_lock(&c->lock);
	while (!c->error && done < bytes) {
		uint64_t at = q->appended, room = FXT_COMPRESSOR_QUEUE_BYTES - (at - q->saved);
		uint64_t part = compressor_least(room, bytes - done);

		if (part == 0) {
			pthread_cond_wait(&c->done, &c->lock);
			continue;
		}
		/* No other thread writes there: these bytes are not appended yet. */
		pthread_mutex_unlock(&c->lock);
		compressor_put(q, at, (const uint8_t *)records + done, part);
		pthread_mutex_lock(&c->lock);
		if (c->error)
			break;
		done += part;
		/* Release: the bytes are in place before `appended` covers them. */
		store_release(&q->appended, at + part);
		pthread_cond_signal(&c->work);
	}
	error = c->error;
	pthread_mutex_unlock(&c->lock);
	return error;
}

/* Returns the marked piece with these bytes, or NULL. With the lock held. */
static const struct fxt_compressor_part *compressor_part(
        const struct fxt_compressor *c, uint64_t at, uint64_t count)
{
	uint64_t place = partition_point(i, c->part_count, c->parts[i].at + c->parts[i].bytes <= at);
	const struct fxt_compressor_part *part = &c->parts[place];

	if (place == c->part_count || at < part->at || count > part->at + part->bytes - at)
		return NULL;
	return part;
}

int fxt_compressor_replace(struct fxt_compressor *c, uint64_t at, const void *bytes, uint64_t count)
{
	const struct fxt_compressor_part *part;
	int error = 0;

	pthread_mutex_lock(&c->lock);
	part = compressor_part(c, at, count);
	if (!part || at + count > c->queue->appended) {
		error = EINVAL;
	} else if (at >= c->taken) {
		compressor_put(c->queue, at, bytes, count);
	} else if (!part->file_at) {
		error = EIO; /* the piece was not written */
	} else {
		off_t place = (off_t)(part->file_at + (at - part->at));
		struct stat status;
		/* Behind a cut it would hide that the file was cut. */
		bool is_cut = fstat(c->frames.fd, &status) == 0 && place + (off_t)count > status.st_size;
		ssize_t written = is_cut ? 0 : pwrite(c->frames.fd, bytes, count, place);

		error = written < 0 ? errno : (uint64_t)written == count ? 0 : EIO;
	}
	pthread_mutex_unlock(&c->lock);
	return error;
}

/* ---- what is left ---- */

/* Writes the contents of the queue behind those of the frames. Returns 0, or an errno
 * value. */
static int compressor_unpack_queue(const struct fxt_compressor_queue *q, int plain)
{
	uint64_t appended = load_acquire(&q->appended);
	struct stat status;
	uint64_t at;

	if (fstat(plain, &status) != 0)
		return errno;
	at = (uint64_t)status.st_size;
	if (at < q->saved || at > appended)
		return EIO; /* the file was changed by another process */
	while (at < appended) {
		uint64_t part = compressor_straight(at, appended - at);
		ssize_t written = pwrite(plain, q->bytes + at % FXT_COMPRESSOR_QUEUE_BYTES, part, (off_t)at);

		if (written < 0 && errno != EINTR)
			return errno;
		at += written > 0 ? (uint64_t)written : 0;
	}
	return 0;
}

int fxt_compressor_unpack(const struct fxt_compressor_queue *q, int fd)
{
	const char *reason;
	int plain, error;

	/* Removes an incomplete frame. */
	if (ftruncate(fd, (off_t)load_acquire(&q->file_bytes)) != 0)
		return -1;
	plain = fxt_decompress(fd, &reason);
	if (plain < 0) {
		errno = EIO;
		return -1;
	}
	error = compressor_unpack_queue(q, plain);
	if (!error)
		return plain;
	close(plain);
	errno = error;
	return -1;
}
