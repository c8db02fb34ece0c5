/*
 * Writes and reads the frames of a compressed trace, and the table of frames at its end
 * (zstd_frames.h). Runs on the thread that compresses or reads the file. A damaged or
 * truncated file must never make it read beyond the bytes it was given.
 */
#include "zstd_frames.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "reader/trace/append.h"
#include "reader/trace/write_all.h"

/* Level 3 takes twice as long and saves only a hundredth more on the records of calls. */
#define LEVEL 1

_Static_assert(FXT_FRAME_MAGIC == ZSTD_MAGICNUMBER, "");

#define STORED_HEADER_BYTES 12
#define TABLE_MAGIC         0x184D2A5Eu
#define TABLE_FOOTER_MAGIC  0x8F92EAB1u
#define TABLE_FOOTER_BYTES  9

/* Adds a written frame to the table. */
static void frames_list(struct fxt_frames *f, size_t bytes, size_t content)
{
	f->file_bytes += bytes;
	f->content_bytes += content;
	if (f->count == f->room && !f->is_unlisted) {
		size_t room = f->room ? 2 * f->room : 1024;
		void *table = reallocarray(f->table, room, sizeof(*f->table));

		f->is_unlisted = !table;
		if (table) {
			f->table = table;
			f->room = room;
		}
	}
	if (f->is_unlisted)
		return;
	f->table[f->count][0] = htole32((uint32_t)bytes);
	f->table[f->count++][1] = htole32((uint32_t)content);
}

int fxt_frames_begin(struct fxt_frames *f, int fd)
{
	*f = (struct fxt_frames){.fd = fd,
	        .block = malloc(FXT_FRAME_BYTES),
	        .frame = malloc(ZSTD_COMPRESSBOUND(FXT_FRAME_BYTES)),
	        .compression = ZSTD_createCCtx()};
	if (f->block && f->frame && f->compression)
		return 0;
	fxt_frames_end(f);
	return ENOMEM;
}

/* Writes behind the first `end` bytes of the file. */
static int frames_write(const struct fxt_frames *f, const void *bytes, size_t count, uint64_t end)
{
	return f->is_exposed ? fxt_append_all(f->fd, bytes, count, &end) : fxt_write_all(f->fd, bytes, count);
}

int fxt_frames_flush(struct fxt_frames *f)
{
	size_t content = f->pending, bytes;
	int error;

	if (content == 0)
		return 0;
	bytes = ZSTD_compressCCtx(
	        f->compression, f->frame, ZSTD_COMPRESSBOUND(FXT_FRAME_BYTES), f->block, content, LEVEL);
	if (ZSTD_isError(bytes))
		return ENOMEM; /* the room is enough, so only memory can fail */
	error = frames_write(f, f->frame, bytes, f->file_bytes);
	if (!error)
		frames_list(f, bytes, content);
	f->pending = 0;
	return error;
}

int fxt_frames_append(struct fxt_frames *f, const void *bytes, size_t count)
{
	for (size_t done = 0, part; done < count; done += part) {
		part = FXT_FRAME_BYTES - f->pending < count - done ? FXT_FRAME_BYTES - f->pending
		                                                   : count - done;
		memcpy(f->block + f->pending, (const char *)bytes + done, part);
		f->pending += part;
		if (f->pending == FXT_FRAME_BYTES) {
			int error = fxt_frames_flush(f);

			if (error)
				return error;
		}
	}
	return 0;
}

int fxt_frames_store(struct fxt_frames *f, const void *bytes, size_t count, uint64_t *at)
{
	/* RFC 8878: the magic number; a single segment with a size of four bytes and no
	 * checksum; one last block, uncompressed, with a size in three bytes. */
	const uint32_t magic = htole32(ZSTD_MAGICNUMBER), size = htole32((uint32_t)count);
	const uint32_t block = htole32((uint32_t)count << 3 | 1);
	char frame[STORED_HEADER_BYTES + FXT_FRAME_STORED_BYTES];
	int error = fxt_frames_flush(f);

	if (!error && count > FXT_FRAME_STORED_BYTES)
		error = EMSGSIZE;
	if (error)
		return error;
	memcpy(frame, &magic, 4);
	frame[4] = (char)0xa0;
	memcpy(frame + 5, &size, 4);
	memcpy(frame + 9, &block, 3);
	memcpy(frame + STORED_HEADER_BYTES, bytes, count);
	error = frames_write(f, frame, STORED_HEADER_BYTES + count, f->file_bytes);
	if (error)
		return error;
	*at = f->file_bytes + STORED_HEADER_BYTES;
	frames_list(f, STORED_HEADER_BYTES + count, count);
	return 0;
}

int fxt_frames_finish(struct fxt_frames *f)
{
	uint32_t head[2] = {htole32(TABLE_MAGIC)}, count, magic = htole32(TABLE_FOOTER_MAGIC);
	/* the number of frames, no checksums, a magic number */
	char footer[TABLE_FOOTER_BYTES] = {0};
	int error = fxt_frames_flush(f);
	size_t table_bytes;

	if (error || f->is_unlisted)
		return error;
	table_bytes = f->count * sizeof(*f->table);
	head[1] = htole32((uint32_t)(table_bytes + TABLE_FOOTER_BYTES));
	count = htole32((uint32_t)f->count);
	memcpy(footer, &count, sizeof(count));
	memcpy(footer + 5, &magic, sizeof(magic));
	error = frames_write(f, head, sizeof(head), f->file_bytes);
	if (!error)
		error = frames_write(f, f->table, table_bytes, f->file_bytes + sizeof(head));
	return error ? error
	             : frames_write(f, footer, sizeof(footer), f->file_bytes + sizeof(head) + table_bytes);
}

static bool frames_begin_file(const struct fxt_frames *f)
{
	uint32_t magic;

	return pread(f->fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       magic == htole32(FXT_FRAME_MAGIC);
}

void fxt_frames_keep(struct fxt_frames *f, uint64_t file_bytes)
{
	size_t count = f->is_unlisted || !frames_begin_file(f) ? 0 : f->count;

	f->count = f->file_bytes = f->content_bytes = 0;
	while (f->count < count && f->file_bytes + le32toh(f->table[f->count][0]) <= file_bytes) {
		f->file_bytes += le32toh(f->table[f->count][0]);
		f->content_bytes += le32toh(f->table[f->count++][1]);
	}
}

void fxt_frames_end(struct fxt_frames *f)
{
	free(f->block);
	free(f->frame);
	free(f->table);
	ZSTD_freeCCtx(f->compression);
	*f = (struct fxt_frames){.fd = -1};
}
