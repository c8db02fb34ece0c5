/* Makes and keeps plans (plans.h), on a thread of its own. */
#include "plans.h"
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "descriptors.h"
#include "launcher/message.h"
#include "launcher/planning/argument_plan.h"
#include "launcher/planning/plan.h"
#include "launcher/planning/probe_plan.h"
#include "launcher/values.h"
#include "reader/trace/text.h"
#include "symbolizer/demangle.h"

/* The most open plans, so that a build of many programs leaves descriptors free. */
#define OPEN_PLANS 64

struct fxt_plan_job {
	struct fxt_plan_job *next;
	int connection;
	pid_t pid;
	enum fxt_plan_kind kind;
	const struct fxt_options *options;
	char path[sizeof(((struct fxt_plan_request *)0)->path)];
};

/* ---- files ---- */

static const char *plans_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether a file is to be patched. Without patterns the programs are, with patterns the
 * files that they match. */
static bool plans_choose(const char *patterns, const char *path, bool is_program)
{
	const char *name = plans_base_name(path);
	char pattern[256];

	if (!*patterns)
		return is_program;
	for (;;) {
		size_t bytes = fxt_value_item_bytes(patterns);

		if (bytes < sizeof(pattern)) {
			memcpy(pattern, patterns, bytes);
			pattern[bytes] = 0;
			if (fnmatch(pattern, name, 0) == 0)
				return true;
		}
		if (!patterns[bytes])
			return false;
		patterns += bytes + 1;
	}
}

/* Stores a plan in memory that processes can map. Returns its descriptor, or -1. */
static int plans_store(const void *plan, size_t bytes)
{
	int fd = memfd_create("fxt-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING), readable;
	char path[40];

	if (fd < 0)
		return -1;
	if (write(fd, plan, bytes) != (ssize_t)bytes ||
	        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
		close(fd);
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	readable = open(path, O_RDONLY | O_CLOEXEC);
	close(fd);
	return readable;
}

static void plans_tell(void *context, const char *symbol, uint64_t address, enum fxt_plan_obstacle obstacle)
{
	const struct fxt_planned_file *file = context;
	const char *why = fxt_plan_obstacle_text(obstacle);
	char name[FXT_NAME_ROOM];

	if (symbol)
		fxt_say("--patch: %.*s of %s is left out: %s", (int)fxt_demangle(symbol, name), name,
		        file->name, why);
	else
		fxt_say("--patch: %s+0x%llx is left out: %s", file->name, (unsigned long long)address, why);
}

/* Makes the plan of patched functions. Returns NULL, or the reason for no plan. */
static const char *plans_make_patches(struct fxt_planned_file *file, Elf *elf, bool tells)
{
	struct fxt_plan *plan = NULL;
	const char *why = fxt_plan_make(elf, &plan, &file->bytes, tells ? plans_tell : NULL, file);

	elf_end(elf);
	if (!why) {
		file->fd = plans_store(plan, file->bytes);
		file->count = plan->count;
		memcpy(file->left_out, plan->left_out, sizeof(plan->left_out));
	}
	free(plan);
	return why;
}

static const char *plans_make_arguments(
        struct fxt_planned_file *file, Elf *elf, const char *path, struct fxt_argument_requests *requests)
{
	struct fxt_argument_plan *plan = NULL;
	size_t bytes;
	const char *why = fxt_argument_plan_make(elf, path, requests, &plan, &bytes);

	if (!why && plan->calls) {
		file->fd = plans_store(plan, bytes);
		file->bytes = bytes;
		file->count = plan->calls;
	}
	free(plan);
	return why;
}

/* Makes the plan of the file's wanted probes, if there are any. */
static const char *plans_make_probes(
        struct fxt_planned_file *file, Elf *elf, const struct fxt_options *options)
{
	struct fxt_probe_plan *plan = NULL;
	const char *why;

	free(file->probes);
	why = fxt_probe_plan_make(
	        elf, options->usdt, options->usdt_count, &plan, &file->bytes, &file->probes);
	elf_end(elf);
	if (plan) {
		file->count = plan->count;
		file->fd = plans_store(plan, file->bytes);
		if (plan->left_out && !file->last_asked)
			fxt_say("--usdt: %u of %u probe%s of %s %s left out: there is no room for a jump",
			        plan->left_out, plan->left_out + plan->count,
			        fxt_plural(plan->left_out + plan->count), file->name,
			        plan->left_out == 1 ? "is" : "are");
	}
	free(plan);
	return why;
}

static void plans_make(struct fxt_plans *plans, struct fxt_planned_file *file, const char *path, int fd,
        const struct fxt_options *options)
{
	static const char *const failures[FXT_PLAN_KINDS] = {
	        "--patch: no functions of", "--args: no arguments of", "--usdt: no probes of"};
	const char *why = "it cannot be read";
	Elf *elf;

	elf_version(EV_CURRENT);
	/* The file is not mapped: a build may write it again. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		elf_end(elf);
	else if (file->kind == FXT_PLAN_PATCHES)
		/* a plan that is made again has nothing new to say */
		why = plans_make_patches(file, elf, options->verbose && !file->last_asked);
	else if (file->kind == FXT_PLAN_ARGUMENTS)
		why = plans_make_arguments(file, elf, path, &plans->requests);
	else
		why = plans_make_probes(file, elf, options);
	if (!why && file->count && file->fd < 0)
		why = strerror(errno);
	file->can_be_planned = !why && file->count;
	if (why)
		fxt_say("%s %s are recorded: %s", failures[file->kind], file->name, why);
}

/* Closes the least recently requested plan, if the number of open plans has reached its
 * limit. A later request makes the plan again. */
static void plans_make_room(struct fxt_plans *plans)
{
	struct fxt_planned_file *oldest = NULL;
	size_t open = 0;

	for (struct fxt_planned_file *f = plans->files; f < plans->files + plans->count; f++) {
		if (f->fd < 0)
			continue;
		open++;
		if (!oldest || f->last_asked < oldest->last_asked)
			oldest = f;
	}
	if (open < OPEN_PLANS)
		return;
	close(oldest->fd);
	oldest->fd = -1;
}

static struct fxt_planned_file *plans_add(
        struct fxt_plans *plans, enum fxt_plan_kind kind, const char *path, const struct stat *status)
{
	struct fxt_planned_file *files = reallocarray(plans->files, plans->count + 1, sizeof(*files));
	struct fxt_planned_file *file;

	if (!files)
		return NULL;
	plans->files = files;
	file = &files[plans->count];
	*file = (struct fxt_planned_file){.kind = kind,
	        .device = status->st_dev,
	        .number = status->st_ino,
	        .changed = status->st_mtim,
	        .name = strdup(plans_base_name(path)),
	        .can_be_planned = true,
	        .fd = -1};
	if (!file->name)
		return NULL;
	plans->count++;
	return file;
}

static struct fxt_planned_file *plans_look_up(
        const struct fxt_plans *plans, enum fxt_plan_kind kind, const struct stat *status)
{
	for (size_t i = 0; i < plans->count; i++) {
		struct fxt_planned_file *file = &plans->files[i];

		if (file->kind == kind && file->device == status->st_dev && file->number == status->st_ino &&
		        file->changed.tv_sec == status->st_mtim.tv_sec &&
		        file->changed.tv_nsec == status->st_mtim.tv_nsec)
			return file;
	}
	return NULL;
}

/* Reads --args and --returns. The command line has read them before, so they have no
 * errors. */
static void plans_read_requests(struct fxt_plans *plans, const struct fxt_options *options)
{
	if (plans->requests.count)
		return;
	for (unsigned i = 0; i < options->argument_list_count; i++)
		fxt_argument_requests_add(&plans->requests, options->argument_lists[i].text,
		        options->argument_lists[i].is_of_results);
}

static bool plans_are_wanted(
        struct fxt_plans *plans, const struct fxt_plan_job *job, const char *name, bool is_program)
{
	if (job->kind == FXT_PLAN_PATCHES)
		return job->options->patch && plans_choose(job->options->patch, name, is_program);
	if (job->kind == FXT_PLAN_PROBES)
		return job->options->usdt_count;
	plans_read_requests(plans, job->options);
	return plans->requests.count;
}

/* Finds a job's file and its plan. NULL: it has no plan, or none is wanted. */
static const struct fxt_planned_file *plans_find(struct fxt_plans *plans, const struct fxt_plan_job *job)
{
	bool is_program = !job->path[0];
	char path[sizeof(job->path) + 32], link[64], executable[PATH_MAX];
	const char *name = is_program ? executable : job->path;
	struct fxt_planned_file *file = NULL;
	struct stat status;
	ssize_t bytes;
	int fd;

	snprintf(link, sizeof(link), "/proc/%d/exe", job->pid);
	bytes = readlink(link, executable, sizeof(executable) - 1);
	executable[bytes > 0 ? bytes : 0] = 0;
	if (!plans_are_wanted(plans, job, name, is_program))
		return NULL;
	if (is_program)
		strcpy(path, link);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s/%s", job->pid, job->path[0] == '/' ? "root" : "cwd",
		        job->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
		file = plans_look_up(plans, job->kind, &status);
		if (!file)
			file = plans_add(plans, job->kind, name, &status);
		if (file && file->fd < 0 && file->can_be_planned) {
			plans_make_room(plans);
			plans_make(plans, file, name, fd, job->options);
		}
		if (file)
			file->last_asked = ++plans->asked;
	}
	close(fd);
	return file && file->fd >= 0 ? file : NULL;
}

/* ---- the thread ---- */

static void plans_do(struct fxt_plans *plans, struct fxt_plan_job *job)
{
	const struct fxt_planned_file *file = plans_find(plans, job);
	uint64_t bytes = file ? file->bytes : 0;

	fxt_descriptors_send(job->connection, &bytes, sizeof(bytes), file ? &file->fd : NULL, file != NULL);
	close(job->connection);
	free(job);
}

static void *plans_run(void *context)
{
	struct fxt_plans *plans = context;

	pthread_mutex_lock(&plans->mutex);
	for (;;) {
		struct fxt_plan_job *job = plans->jobs;

		if (job) {
			plans->jobs = job->next;
			pthread_mutex_unlock(&plans->mutex);
			plans_do(plans, job);
			pthread_mutex_lock(&plans->mutex);
		} else if (plans->is_ending) {
			break;
		} else {
			pthread_cond_wait(&plans->has_job, &plans->mutex);
		}
	}
	pthread_mutex_unlock(&plans->mutex);
	return NULL;
}

void fxt_plans_open(struct fxt_plans *plans)
{
	*plans = (struct fxt_plans){.mutex = PTHREAD_MUTEX_INITIALIZER, .has_job = PTHREAD_COND_INITIALIZER};
}

void fxt_plans_answer(struct fxt_plans *plans, int connection, pid_t pid,
        const struct fxt_plan_request *request, const struct fxt_options *options)
{
	struct fxt_plan_job *job = malloc(sizeof(*job)), **last = &plans->jobs;

	if (!plans->is_running && job)
		plans->is_running = pthread_create(&plans->thread, NULL, plans_run, plans) == 0;
	if (!job || !plans->is_running) { /* the process goes on without a plan */
		close(connection);
		free(job);
		return;
	}
	*job = (struct fxt_plan_job){.connection = connection,
	        .pid = pid,
	        .kind = (enum fxt_plan_kind)request->kind,
	        .options = options};
	memcpy(job->path, request->path, sizeof(job->path));
	pthread_mutex_lock(&plans->mutex);
	while (*last)
		last = &(*last)->next;
	*last = job;
	pthread_cond_signal(&plans->has_job);
	pthread_mutex_unlock(&plans->mutex);
}

void fxt_plans_end(struct fxt_plans *plans)
{
	if (!plans->is_running)
		return;
	pthread_mutex_lock(&plans->mutex);
	plans->is_ending = true;
	pthread_cond_signal(&plans->has_job);
	pthread_mutex_unlock(&plans->mutex);
	pthread_join(plans->thread, NULL);
	plans->is_running = false;
}

void fxt_plans_close(struct fxt_plans *plans)
{
	fxt_plans_end(plans);
	for (size_t i = 0; i < plans->count; i++) {
		free(plans->files[i].name);
		free(plans->files[i].probes);
		if (plans->files[i].fd >= 0)
			close(plans->files[i].fd);
	}
	free(plans->files);
	fxt_argument_requests_free(&plans->requests);
	fxt_plans_open(plans);
}
