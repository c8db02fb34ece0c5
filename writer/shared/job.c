/* Finds the place of this process in a parallel job (job.h). Runs in programs before
 * main(), so it uses nothing of libc that depends on the locale. */
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "sys.h"

/*
 * The variables of each launcher; NULL: it has none. A rank without its `size` is no rank:
 * Slurm sets SLURM_PROCID in a batch script too, which is one process of no step. PMIx
 * alone does not say how many there are.
 */
static const struct launcher {
	const char *rank, *size, *name;
} launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"},
        {"PMI_RANK", "PMI_SIZE", "PMI_JOBID"}, {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "PMI_JOBID"},
        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL}, {"PMIX_RANK", NULL, "PMIX_NAMESPACE"}};

static bool job_number(const char *text, uint32_t *number)
{
	uint64_t value = 0;

	if (!text || !*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || value > UINT32_MAX / 10)
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	*number = (uint32_t)value;
	return value <= UINT32_MAX;
}

/* Users know a job by the scheduler's number. */
static void job_take_name(struct fxt_job *job, const struct launcher *launcher, fxt_job_getenv *get)
{
	const char *name = get("SLURM_JOB_ID");

	if (!name && launcher->name)
		name = get(launcher->name);
	for (size_t i = 0; name && name[i] && i + 1 < sizeof(job->name); i++)
		job->name[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
}

static void job_take_host(struct fxt_job *job)
{
	struct utsname names;

	if (sys_call(SYS_uname, &names, 0, 0, 0) == 0)
		memcpy(job->host, names.nodename, strnlen(names.nodename, sizeof(job->host) - 1));
}

struct fxt_job fxt_job_find(fxt_job_getenv *get)
{
	struct fxt_job job = {.has_rank = false};

	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers) && !job.has_rank; i++) {
		const struct launcher *launcher = &launchers[i];
		uint32_t rank = 0, size = 0;

		if (!job_number(get(launcher->rank), &rank) ||
		        (launcher->size && !job_number(get(launcher->size), &size)))
			continue;
		job = (struct fxt_job){.has_rank = true, .rank = rank, .size = size};
		job_take_name(&job, launcher, get);
		job_take_host(&job);
	}
	return job;
}
