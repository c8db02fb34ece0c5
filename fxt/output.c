/*
 * Output files of commands as stdio streams, with compression behind them. Runs on the main
 * thread. It must not touch the old file before the new one is complete.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "reader/trace/index.h"
#include "reader/trace/progress_line.h"
#include "reader/trace/text.h"
#include "reader/trace/write_all.h"

#define PIECE      ((size_t)1 << 17)
#define GZIP_BITS  (15 + 16) /* the largest window, and gzip's header */
#define GZIP_LEVEL 6

/* The state behind the FILE. */
struct fxt_output_stream {
	int fd;
	int error; /* of the first write that failed */
	bool is_gzip;
	z_stream gzip;
	ZSTD_CStream *zstd; /* NULL: no Zstandard */
	char piece[PIECE];
};

/* ---- compressing ---- */

static bool output_write_all(struct fxt_output_stream *s, const char *bytes, size_t count)
{
	if (s->error == 0)
		s->error = fxt_write_all(s->fd, bytes, count);
	return s->error == 0;
}

static bool output_gzip(struct fxt_output_stream *s, const char *bytes, size_t count, bool is_end)
{
	s->gzip.next_in = (Bytef *)(uintptr_t)bytes;
	s->gzip.avail_in = (unsigned)count;
	do {
		s->gzip.next_out = (Bytef *)s->piece;
		s->gzip.avail_out = PIECE;
		deflate(&s->gzip, is_end ? Z_FINISH : Z_NO_FLUSH);
		if (!output_write_all(s, s->piece, PIECE - s->gzip.avail_out))
			return false;
	} while (s->gzip.avail_out == 0);
	return true;
}

static bool output_zstd(struct fxt_output_stream *s, const char *bytes, size_t count, bool is_end)
{
	ZSTD_inBuffer in = {bytes, count, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {s->piece, PIECE, 0};

		left = ZSTD_compressStream2(s->zstd, &out, &in, is_end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			s->error = ENOMEM;
		if (!output_write_all(s, s->piece, out.pos))
			return false;
	} while (is_end ? left > 0 : in.pos < in.size);
	return true;
}

static bool output_put(struct fxt_output_stream *s, const char *bytes, size_t count, bool is_end)
{
	return s->is_gzip ? output_gzip(s, bytes, count, is_end)
	       : s->zstd  ? output_zstd(s, bytes, count, is_end)
	                  : output_write_all(s, bytes, count);
}

static ssize_t output_write(void *cookie, const char *bytes, size_t count)
{
	return output_put(cookie, bytes, count, false) ? (ssize_t)count : 0;
}

/* ---- files ---- */

char *fxt_output_name(const char *trace, const char *ending)
{
	static const char *const endings[] = {".zst", ".gz", ".fxt"};
	struct fxt_span name = fxt_span(trace);
	char *file;

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (fxt_ends_with(name, endings[i]))
			name.bytes -= strlen(endings[i]);
	bool is_standard = strcmp(trace, "-") == 0;

	if ((is_standard ? asprintf(&file, "-")
	                 : asprintf(&file, "%.*s.%s", (int)name.bytes, name.data, ending)) < 0)
		fxt_out_of_memory();
	return file;
}

static void output_begin(struct fxt_output *output, int fd)
{
	struct fxt_output_stream *s = fxt_allocate(sizeof(*s));
	struct fxt_span name = fxt_span(output->name);
	bool has_memory = true;

	s->fd = fd;
	s->is_gzip = fxt_ends_with(name, ".gz") || fxt_ends_with(name, ".svgz");
	if (s->is_gzip)
		has_memory = deflateInit2(&s->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_BITS, 8,
		                     Z_DEFAULT_STRATEGY) == Z_OK;
	else if (fxt_ends_with(name, ".zst"))
		has_memory = (s->zstd = ZSTD_createCStream()) != NULL;
	output->stream = s;
	output->file = fopencookie(s, "w", (cookie_io_functions_t){.write = output_write});
	if (!has_memory || !output->file)
		fxt_out_of_memory();
	setvbuf(output->file, NULL, _IOFBF, PIECE);
	__fsetlocking(output->file, FSETLOCKING_BYCALLER); /* one thread writes to it,
	                                                      many small pieces */
}

int fxt_output_open_in(struct fxt_output *output, int directory, const char *file, const char *name,
        const struct fxt_source_file *from)
{
	const struct fxt_draft_config config = {.source = from};
	const char *reason = NULL;

	*output = (struct fxt_output){.name = name, .is_standard = strcmp(file, "-") == 0};
	if (output->is_standard)
		fxt_progress_stop();
	else
		reason = fxt_draft_open(&output->draft, directory, file, &config);
	if (reason) {
		fprintf(stderr, "fxt: %s: cannot be written: %s\n", name, reason);
		return -1;
	}
	output_begin(output, output->is_standard ? STDOUT_FILENO : output->draft.fd);
	return 0;
}

int fxt_output_open(struct fxt_output *output, const char *name, const struct fxt_source_file *from)
{
	return fxt_output_open_in(output, AT_FDCWD, name, name, from);
}

/* Writes the remaining data. Returns 0 or an errno value. */
static int output_end(struct fxt_output *output)
{
	struct fxt_output_stream *s = output->stream;

	if (fclose(output->file) == 0)
		output_put(s, NULL, 0, true);
	int error = s->error;

	if (s->is_gzip)
		deflateEnd(&s->gzip);
	ZSTD_freeCStream(s->zstd);
	free(s);
	return error;
}

void fxt_output_abandon(struct fxt_output *output)
{
	output_end(output);
	if (!output->is_standard)
		fxt_draft_abandon(&output->draft);
}

int fxt_output_close(struct fxt_output *output)
{
	int error = output_end(output);

	if (error && !output->is_standard)
		fxt_draft_abandon(&output->draft);
	else if (!output->is_standard)
		error = fxt_draft_publish(&output->draft);
	if (error == 0)
		return 0;
	fprintf(stderr, "fxt: %s: cannot be written: %s\n",
	        output->is_standard ? "standard output" : output->name, strerror(error));
	return -1;
}
