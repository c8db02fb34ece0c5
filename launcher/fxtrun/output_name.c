/* Makes names of traces (output_name.h). */
#include "output_name.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "writer/shared/job.h"

bool fxt_output_is_of_job(void)
{
	const struct fxt_job job = fxt_job_find(getenv);

	return job.has_rank && job.size != 1;
}

/* The text for a letter; NULL: it has none. */
static const char *name_part(char letter, const char *program, char *text, size_t bytes)
{
	const char *slash = strrchr(program, '/');
	time_t now = time(NULL);
	struct tm local;

	switch (letter) {
	case '%':
		return "%";
	case 'p':
		snprintf(text, bytes, "%d", getpid());
		return text;
	case 'h':
		if (gethostname(text, bytes) != 0)
			return "host";
		text[bytes - 1] = 0;
		return text;
	case 'r':
		snprintf(text, bytes, "%u", fxt_job_find(getenv).rank);
		return text;
	case 't':
		if (!localtime_r(&now, &local) || !strftime(text, bytes, "%Y%m%d-%H%M%S", &local))
			return "0";
		return text;
	case 'n':
		return slash ? slash + 1 : program;
	default:
		return NULL;
	}
}

const char *fxt_output_name(const char *pattern, const char *program)
{
	static char name[PATH_MAX];
	size_t used = 0;

	for (const char *at = pattern; *at; at++) {
		char text[HOST_NAME_MAX + 1];
		const char *part = *at == '%' ? name_part(at[1], program, text, sizeof(text)) : NULL;
		size_t bytes = part ? strlen(part) : 1;

		if (used + bytes >= sizeof(name))
			return NULL;
		memcpy(name + used, part ? part : at, bytes);
		used += bytes;
		at += part != NULL;
	}
	name[used] = 0;
	return name;
}
