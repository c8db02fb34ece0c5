/* Makes and finds the names of a rotated trace's files (rotated_name.h). */
#include "rotated_name.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launcher/manager/output.h"

/* More are written as they are. */
enum { DIGITS = 6 };

static const char *rotated_base(const char *output)
{
	const char *slash = strrchr(output, '/');

	return slash ? slash + 1 : output;
}

bool fxt_rotated_name(char path[PATH_MAX], const char *output, uint32_t number)
{
	const char *extension = fxt_trace_output_extension(output);

	return snprintf(path, PATH_MAX, "%.*s.%0*u%s", (int)(extension - output), output, DIGITS, number,
	               extension) < PATH_MAX;
}

/* The number in the name of one of the files; 0: it is none. */
static uint32_t rotated_number(const char *name, const char *output)
{
	const char *base = rotated_base(output), *extension = fxt_trace_output_extension(output);
	size_t stem = (size_t)(extension - base);
	unsigned long number;
	char *end;

	if (strncmp(name, base, stem) != 0 || name[stem] != '.')
		return 0;
	name += stem + 1;
	number = strtoul(name, &end, 10);
	return *name >= '0' && *name <= '9' && end - name >= DIGITS && number < UINT32_MAX &&
	                       strcmp(end, extension) == 0
	               ? (uint32_t)number
	               : 0;
}

uint32_t fxt_rotated_look(const char *output)
{
	char path[PATH_MAX];
	size_t folder_bytes = (size_t)(rotated_base(output) - output);
	uint32_t last = 0;
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "%.*s", (int)folder_bytes, output);
	folder = opendir(folder_bytes ? path : ".");
	while (folder && (entry = readdir(folder)) != NULL) {
		uint32_t number = rotated_number(entry->d_name, output);

		last = number > last ? number : last;
	}
	if (folder)
		closedir(folder);
	return last;
}
