#include "profiled.h"

#include <unistd.h>
#include "output.h"
#include "reader/trace/spill.h"
#include "symbolizer/rewrite.h"

static int profiled_copy(int from, FILE *to)
{
	static char piece[1 << 16];
	off_t at = 0;
	ssize_t bytes;

	while ((bytes = pread(from, piece, sizeof(piece), at)) > 0) {
		fwrite_unlocked(piece, 1, (size_t)bytes, to);
		at += bytes;
	}
	if (bytes < 0)
		perror("fxt: a file in TMPDIR cannot be read");
	return bytes < 0 ? -1 : 0;
}

static int profiled_write_with_profiles(const struct fxt_profiled *p, FILE *out)
{
	int fd = fxt_spill_file(), again = fd < 0 ? -1 : dup(fd), status = -1;
	FILE *file = again < 0 ? NULL : fdopen(again, "w");
	const struct fxt_rewrite_options options = {.ticks_per_second = p->ticks_per_second};
	char error[4096 + 256];

	if (file) {
		p->write(p->context, file);
		status = fclose(file);
	}
	if (status != 0) {
		perror("fxt: no file can be written in TMPDIR");
	} else if (fxt_rewrite_append_profiles(fd, &options, error, sizeof(error)) != 0) {
		fprintf(stderr, "fxt: %s\n", error);
		status = -1;
	} else {
		status = profiled_copy(fd, out);
	}
	if (fd >= 0)
		close(fd);
	return status;
}

int fxt_profiled_write(
        const char *name, const struct fxt_source_file *from, const struct fxt_profiled *profiled)
{
	struct fxt_output out;
	int failed = 0;

	if (fxt_output_open(&out, name, from) != 0)
		return -1;
	if (profiled->has_profiles)
		failed = profiled_write_with_profiles(profiled, out.file);
	else
		profiled->write(profiled->context, out.file);
	if (!failed)
		return fxt_output_close(&out);
	fxt_output_abandon(&out);
	return -1;
}
