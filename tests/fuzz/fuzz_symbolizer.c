/*
 * Any bytes as a trace to be symbolized, with its heap profiles appended.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "symbolizer/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const struct fxt_rewrite_options options = {
	        .ticks_per_second = 1000000000, .symbols = true, .heap_profiles = true};
	uint64_t *words = calloc(bytes / 8 + 1, 8);
	struct fxt_archive archive = {.words = words, .bytes = bytes};
	struct fxt_rewrite_result result;
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (!words || out < 0)
		abort();
	if (bytes > 0)
		memcpy(words, data, bytes);
	fxt_rewrite_records(&archive, out, &options, &result);
	close(out);
	free(words);
	return 0;
}
