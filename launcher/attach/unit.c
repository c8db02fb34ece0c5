/* Searches the file system of control groups (unit.h). */
#include "unit.h"
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "launcher/proc_status.h"

#define GROUPS "/sys/fs/cgroup"

/* More processes than a unit has in practice. */
#define UNIT_PROCESSES 4096

enum { DESCRIPTORS = 16 };

/* What nftw() has found. */
static struct {
	char name[NAME_MAX + 1];
	char path[PATH_MAX];
	int level; /* the fewer, the nearer to the root: a unit of the system before a user's */
	pid_t processes[UNIT_PROCESSES];
	size_t count;
} unit;

static int unit_look_at(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	if (type == FTW_D && strcmp(path + place->base, unit.name) == 0 &&
	        (!*unit.path || place->level < unit.level)) {
		snprintf(unit.path, sizeof(unit.path), "%s", path);
		unit.level = place->level;
	}
	return 0;
}

/* True for fxtrun itself, which a service may have started. */
static bool unit_is_own(pid_t pid)
{
	struct stat own, other;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 && own.st_dev == other.st_dev &&
	       own.st_ino == other.st_ino;
}

/* Adds the processes of a group. */
static int unit_add(const char *path, const struct stat *status, int type, struct FTW *place)
{
	FILE *file;
	int pid;

	(void)status;
	if (type != FTW_F || strcmp(path + place->base, "cgroup.procs") != 0)
		return 0;
	file = fopen(path, "re");
	while (file && unit.count < UNIT_PROCESSES && fscanf(file, "%d", &pid) == 1)
		if (pid > 0 && !unit_is_own(pid))
			unit.processes[unit.count++] = pid;
	if (file)
		fclose(file);
	return 0;
}

static int unit_compare(const void *left, const void *right)
{
	pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;

	return a < b ? -1 : a > b;
}

static bool unit_has_parent(pid_t pid)
{
	char parent[64];
	pid_t number =
	        fxt_proc_status(pid, "PPid", parent, sizeof(parent)) ? (pid_t)strtol(parent, NULL, 10) : 0;

	for (size_t i = 0; i < unit.count; i++)
		if (unit.processes[i] == number)
			return true;
	return false;
}

size_t fxt_unit_processes(const char *name, pid_t *found, size_t max)
{
	size_t first = 0;
	pid_t swapped;

	unit.count = 0;
	*unit.path = 0;
	if ((size_t)snprintf(unit.name, sizeof(unit.name), "%s%s", name,
	            strchr(name, '.') ? "" : ".service") >= sizeof(unit.name))
		return 0;
	nftw(GROUPS, unit_look_at, DESCRIPTORS, FTW_PHYS);
	if (*unit.path)
		nftw(unit.path, unit_add, DESCRIPTORS, FTW_PHYS);
	qsort(unit.processes, unit.count, sizeof(*unit.processes), unit_compare);
	while (first < unit.count && unit_has_parent(unit.processes[first]))
		first++;
	if (first > 0 && first < unit.count) {
		swapped = unit.processes[0];
		unit.processes[0] = unit.processes[first];
		unit.processes[first] = swapped;
	}
	if (unit.count < max)
		max = unit.count;
	memcpy(found, unit.processes, max * sizeof(*found));
	return max;
}
