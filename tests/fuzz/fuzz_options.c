/*
 * Any texts as the command line of fxtrun: an argument a line, and behind a byte 0xff the
 * file that --filter-file names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "launcher/fxtrun/command_line.h"

enum { ARGUMENTS = 64 };

/* A file of ours is read already. */
static bool fuzz_is_of_interest(const char *argument)
{
	return strncmp(argument, "--fi", 4) != 0;
}

static void fuzz_parse(int count, char **arguments)
{
	static struct fxt_options options;
	char error[8192];

	if (fxt_command_line_parse(&options, count, arguments, error, sizeof(error)) ==
	                FXT_COMMAND_LINE_WRONG &&
	        !memchr(error, 0, sizeof(error)))
		abort();
	fxt_record_filter_free(&options.filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1), *arguments[ARGUMENTS + 4] = {"fxtrun"}, filter[64], *line;
	const uint8_t *file = bytes ? memchr(data, 0xff, bytes) : NULL;
	size_t length = file ? (size_t)(file - data) : bytes;
	int count = 1, fd = -1;

	if (!text)
		abort();
	memcpy(text, data, length);
	text[length] = 0;
	if (file) {
		fd = memfd_create("filter", MFD_CLOEXEC);
		if (fd < 0 || write(fd, file + 1, bytes - length - 1) < 0)
			abort();
		snprintf(filter, sizeof(filter), "--filter-file=/proc/self/fd/%d", fd);
		arguments[count++] = filter;
	}
	for (line = strtok(text, "\n"); line && count < ARGUMENTS; line = strtok(NULL, "\n"))
		if (fuzz_is_of_interest(line))
			arguments[count++] = line;
	fuzz_parse(count, arguments);
	if (fd >= 0)
		close(fd);
	free(text);
	return 0;
}
