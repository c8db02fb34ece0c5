/*
 * Decompresses a gzip or Zstandard file into a file without a name. Runs on the thread that
 * opens the trace. A file that was cut must not be lost: its content before the cut is
 * kept.
 */
#include "compressed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "index.h"
#include "progress.h"
#include "spill.h"
#include "write_all.h"

#define PIECE     ((size_t)1 << 18)
#define GZIP_BITS (15 + 16) /* the largest window, and gzip's header */

/* A file being decompressed. */
struct compressed {
	int from, to;
	off_t offset;   /* of the next read */
	uint64_t bytes; /* size of the file */
	char *in, *out;
	const char *reason;
	char text[128];
};

enum compressed_end { COMPRESSED_WHOLE, COMPRESSED_CUT, COMPRESSED_BROKEN };

bool fxt_is_compressed(const void *first, size_t bytes)
{
	const unsigned char *at = first;

	if (bytes < 4)
		return false;
	/* A Zstandard file may begin with a skippable frame; its magic numbers start at
	 * 0x184D2A50. */
	return (at[0] == 0x1f && at[1] == 0x8b && at[2] == 8) || memcmp(at, "\x28\xb5\x2f\xfd", 4) == 0 ||
	       ((at[0] & 0xf0) == 0x50 && memcmp(at + 1, "\x2a\x4d\x18", 3) == 0);
}

static enum compressed_end compressed_failed(struct compressed *c, const char *what, const char *why)
{
	snprintf(c->text, sizeof(c->text), "%s: %s", what, why);
	c->reason = c->text;
	return COMPRESSED_BROKEN;
}

/* Reads the next piece of the file. Returns 0 at its end, or after an error, which `reason`
 * describes. */
static size_t compressed_read(struct compressed *c)
{
	ssize_t got;

	do
		got = pread(c->from, c->in, PIECE, c->offset);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		compressed_failed(c, "cannot be read", strerror(errno));
	c->offset += got > 0 ? got : 0;
	fxt_progress_report("decompressing", (uint64_t)c->offset, c->bytes);
	return got > 0 ? (size_t)got : 0;
}

static bool compressed_write(struct compressed *c, const char *bytes, size_t count)
{
	int error = fxt_write_all(c->to, bytes, count);

	if (error)
		compressed_failed(c, "cannot be decompressed to a temporary file", strerror(error));
	return !error;
}

/* A gzip file may consist of several members, one behind another. */
static enum compressed_end compressed_gzip(struct compressed *c, z_stream *z)
{
	bool is_inside = false;

	for (;;) {
		if (z->avail_in == 0) {
			z->next_in = (Bytef *)c->in;
			z->avail_in = (uInt)compressed_read(c);
			if (z->avail_in == 0)
				return c->reason   ? COMPRESSED_BROKEN
				       : is_inside ? COMPRESSED_CUT
				                   : COMPRESSED_WHOLE;
		}
		is_inside = true;
		z->next_out = (Bytef *)c->out;
		z->avail_out = (uInt)PIECE;
		int status = inflate(z, Z_NO_FLUSH);

		if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
			return compressed_failed(c, "cannot be decompressed", z->msg ? z->msg : "damaged");
		if (!compressed_write(c, c->out, PIECE - z->avail_out))
			return COMPRESSED_BROKEN;
		if (status == Z_STREAM_END) {
			inflateReset(z);
			is_inside = false;
		}
	}
}

static enum compressed_end compressed_zstd(struct compressed *c, ZSTD_DStream *zstd)
{
	ZSTD_inBuffer in = {c->in, 0, 0};
	size_t left = 0;

	for (;;) {
		ZSTD_outBuffer out = {c->out, PIECE, 0};

		if (in.pos == in.size) {
			in.pos = 0;
			in.size = compressed_read(c);
			if (in.size == 0)
				return c->reason  ? COMPRESSED_BROKEN
				       : left > 0 ? COMPRESSED_CUT
				                  : COMPRESSED_WHOLE;
		}
		do {
			out.pos = 0;
			left = ZSTD_decompressStream(zstd, &out, &in);
			if (ZSTD_isError(left))
				return compressed_failed(
				        c, "cannot be decompressed", ZSTD_getErrorName(left));
			if (!compressed_write(c, c->out, out.pos))
				return COMPRESSED_BROKEN;
		} while (in.pos < in.size || (out.pos == out.size && left > 0));
	}
}

static enum compressed_end compressed_copy(struct compressed *c)
{
	enum compressed_end end;
	unsigned char first = 0;

	if (pread(c->from, &first, 1, 0) == 1 && first == 0x1f) {
		z_stream z = {0};

		if (inflateInit2(&z, GZIP_BITS) != Z_OK)
			fxt_out_of_memory();
		end = compressed_gzip(c, &z);
		inflateEnd(&z);
	} else {
		ZSTD_DStream *zstd = ZSTD_createDStream();

		if (!zstd)
			fxt_out_of_memory();
		end = compressed_zstd(c, zstd);
		ZSTD_freeDStream(zstd);
	}
	if (end == COMPRESSED_CUT && !compressed_write(c, "", 1))
		end = COMPRESSED_BROKEN;
	return end;
}

int fxt_decompress(int fd, const char **reason)
{
	static struct compressed c;
	struct stat status;

	c = (struct compressed){.from = fd, .to = fxt_spill_file()};
	if (fstat(fd, &status) == 0)
		c.bytes = (uint64_t)status.st_size;
	if (c.to < 0) {
		compressed_failed(&c, "cannot be decompressed to a temporary file", strerror(errno));
		*reason = c.reason;
		return -1;
	}
	c.in = fxt_allocate(PIECE);
	c.out = fxt_allocate(PIECE);
	enum compressed_end end = compressed_copy(&c);

	fxt_progress_end();
	free(c.in);
	free(c.out);
	if (end != COMPRESSED_BROKEN)
		return c.to;
	close(c.to);
	*reason = c.reason;
	return -1;
}
