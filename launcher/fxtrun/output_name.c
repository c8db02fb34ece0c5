/* Makes names of traces (output_name.h). */
#include "output_name.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Variables in which launchers tell a process its rank, and how many there are. Slurm sets
 * them in a batch script too, which is one process. */
static const struct {
	const char *rank, *count;
} launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"},
        {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"}, {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

static const char *name_rank(void)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const char *rank = getenv(launchers[i].rank), *count = getenv(launchers[i].count);

		if (rank && *rank && strspn(rank, "0123456789") == strlen(rank) && count && atol(count) > 1)
			return rank;
	}
	return NULL;
}

bool fxt_output_is_of_job(void)
{
	return name_rank() != NULL;
}

/* The text for a letter; NULL: it has none. */
static const char *name_part(char letter, const char *program, char *text, size_t bytes)
{
	const char *slash = strrchr(program, '/'), *rank = name_rank();
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
		return rank ? rank : "0";
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
