/* Makes names of traces (output_name.h). */
#include "output_name.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "launcher/manager/output.h"
#include "writer/shared/job.h"

bool fxt_output_is_of_job(void)
{
	const struct fxt_job job = fxt_job_find(getenv);

	return job.has_rank && job.size != 1;
}

/* The text that a letter stands for; "%" for others. */
static const char *name_part(char letter, const char *process, const char *program, char *text, size_t bytes)
{
	const char *slash;
	time_t now;
	struct tm local;

	switch (letter) {
	case 'p':
		return process;
	case 'h':
		if (gethostname(text, bytes) != 0)
			return "host";
		text[bytes - 1] = 0;
		return text;
	case 'r':
		snprintf(text, bytes, "%u", fxt_job_find(getenv).rank);
		return text;
	case 't':
		now = time(NULL);
		if (!localtime_r(&now, &local) || !strftime(text, bytes, "%Y%m%d-%H%M%S", &local))
			return "0";
		return text;
	case 'n':
		slash = strrchr(program, '/');
		return slash ? slash + 1 : program;
	default:
		return "%";
	}
}

/* The length of the next part of a pattern: 2 for % and a letter, whether or not it stands for
 * something, else 1. */
static size_t name_part_bytes(const char *at)
{
	return *at == '%' && at[1] ? 2 : 1;
}

bool fxt_output_name_put(char name[PATH_MAX], const char *pattern, const char *letters, const char *process,
        const char *program)
{
	size_t used = 0;

	for (const char *at = pattern; *at; at += name_part_bytes(at)) {
		char text[HOST_NAME_MAX + 1];
		size_t bytes = name_part_bytes(at);
		const char *part = at;

		if (bytes == 2 && strchr(letters, at[1])) {
			part = name_part(at[1], process, program, text, sizeof(text));
			bytes = strlen(part);
		}
		if (used + bytes >= PATH_MAX)
			return false;
		memcpy(name + used, part, bytes);
		used += bytes;
	}
	name[used] = 0;
	return true;
}

const char *fxt_output_name(const char *pattern, const char *program)
{
	static char name[PATH_MAX];
	char process[16];

	snprintf(process, sizeof(process), "%d", getpid());
	return fxt_output_name_put(name, pattern, "%phrtn", process, program) ? name : NULL;
}

const char *fxt_output_name_of_processes(char pattern[PATH_MAX], const char *output)
{
	const char *extension = fxt_trace_output_extension(output), *slash = strrchr(output, '/');
	char name[PATH_MAX];
	bool is_named = false;

	for (const char *at = output; *at; at += name_part_bytes(at)) {
		bool is_part = *at == '%' && (at[1] == 'p' || at[1] == 'n');

		if (is_part && at < slash)
			return "%p and %n can stand for processes in the file's name only, not in its "
			       "folder's";
		is_named |= is_part && at[1] == 'p';
	}
	if (snprintf(name, sizeof(name), "%.*s%s%s", (int)(extension - output), output, is_named ? "" : ".%p",
	            extension) >= PATH_MAX ||
	        !fxt_output_name_put(pattern, name, "hrt", "", ""))
		return "the name is too long";
	return NULL;
}
