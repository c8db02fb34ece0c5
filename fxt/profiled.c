#include "profiled.h"

#include <unistd.h>
#include "reader/spill.h"
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
	return bytes < 0 ? -1 : 0;
}

int fxt_profiled_write(
        FILE *out, uint64_t ticks_per_second, void (*write)(void *context, FILE *trace), void *context)
{
	int fd = fxt_spill_file(), again = fd < 0 ? -1 : dup(fd), status = -1;
	FILE *file = again < 0 ? NULL : fdopen(again, "w");
	const struct fxt_rewrite_options options = {.ticks_per_second = ticks_per_second};
	char error[4096 + 256];

	if (file) {
		write(context, file);
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
