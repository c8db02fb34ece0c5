/* Looks at a process from outside, in /proc alone (process.h). */
#include "process.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "arch.h"
#include "attacher.h"
#include "image.h"
#include "launcher/preload.h"
#include "launcher/proc_status.h"
#include "writer/shared/sys.h"

#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

enum { PROCESS_STAT_STATUS = 52 }; /* number of the field of /proc/PID/stat */

/* Ten seconds, as long as a detach takes at most. */
enum { ATTACHER_WAIT_NS = 1000000, ATTACHER_WAITS = 10000 };

/* The line begins with the process. */
static int process_refuse(pid_t pid, char *error, size_t error_bytes, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

static int process_refuse(pid_t pid, char *error, size_t error_bytes, const char *format, ...)
{
	char name[64] = "", text[PATH_MAX + 256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (fxt_proc_status(pid, "Name", name, sizeof(name)))
		snprintf(error, error_bytes, "process %d (%s) %s", pid, name, text);
	else
		snprintf(error, error_bytes, "process %d %s", pid, text);
	return -1;
}

static long process_number(pid_t pid, const char *field)
{
	char value[64];

	return fxt_proc_status(pid, field, value, sizeof(value)) ? strtol(value, NULL, 10) : 0;
}

static int process_yama(void)
{
	FILE *file = fopen(YAMA, "re");
	int scope = 0;

	if (file && fscanf(file, "%d", &scope) != 1)
		scope = 0;
	if (file)
		fclose(file);
	return scope;
}

void fxt_process_describe_refusal(pid_t pid, int refusal, char *error, size_t error_bytes)
{
	int yama = process_yama();

	if (refusal == ESRCH)
		process_refuse(pid, error, error_bytes, "has ended");
	else if (refusal != EPERM && refusal != EACCES)
		process_refuse(pid, error, error_bytes, "cannot be attached to: %s", strerror(refusal));
	else if (yama == 3)
		process_refuse(pid, error, error_bytes,
		        "cannot be attached to: " YAMA " is 3, which forbids it to everybody until the next "
		        "boot");
	else if (yama > 0 && sys_geteuid() != 0)
		process_refuse(pid, error, error_bytes,
		        "cannot be attached to: " YAMA " is %d; sysctl kernel.yama.ptrace_scope=0 (as root) "
		        "allows it to the processes of one user",
		        yama);
	else
		process_refuse(pid, error, error_bytes,
		        "cannot be attached to: ptrace(2) is not permitted; in a container it takes the "
		        "capability CAP_SYS_PTRACE");
}

/* True if two files of /proc, or below it, are the same file. */
static bool process_is_same_file(const char *left, const char *right)
{
	struct stat a, b;

	return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Refuses processes of other users. */
static int process_check_owner(pid_t pid, char *error, size_t error_bytes)
{
	unsigned real, effective, own = sys_geteuid();
	char users[64], path[32];
	struct stat status;

	if (!fxt_proc_status(pid, "Uid", users, sizeof(users)) ||
	        sscanf(users, "%u %u", &real, &effective) != 2)
		return process_refuse(pid, error, error_bytes, "does not exist");
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	/* Files there are root's if the process is not dumpable. */
	if (effective != 0 && stat(path, &status) == 0 && status.st_uid == 0)
		return process_refuse(pid, error, error_bytes,
		        "may not open its own files in /proc, as after a change of its user (to %u), and "
		        "recording it from now on takes that; start it by fxtrun instead",
		        effective);
	if (real == own && effective == own)
		return 0;
	return process_refuse(pid, error, error_bytes,
	        "belongs to another user (%u); attach as that user: sudo -u '#%u' fxtrun --attach=%d",
	        effective, effective, pid);
}

static bool process_is_of_kernel(pid_t pid)
{
	char path[32], byte;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, &byte, 1) < 0 && errno == ENOENT;
}

bool fxt_process_has_ended(pid_t pid)
{
	char state[64];

	return !fxt_proc_status(pid, "State", state, sizeof(state)) || *state == 'Z' || *state == 'X';
}

bool fxt_process_is_stopped(pid_t pid)
{
	char state[64];

	return fxt_proc_status(pid, "State", state, sizeof(state)) && *state == 'T';
}

/* The answer of PIDFD_GET_INFO: the first version of the kernel's struct pidfd_info. Older
 * headers lack it. */
struct process_info {
	uint64_t wanted; /* the kernel replaces it by what is there */
	uint64_t cgroup;
	uint32_t numbers[11];
	int32_t status;
};

#define PROCESS_GET_INFO _IOWR(0xff, 11, struct process_info)
#define PROCESS_EXIT     (1u << 3)

/* False: nobody has asked for the status yet, or the kernel does not keep it. */
static bool process_kept_status(int pidfd, int *status)
{
	struct process_info info = {.wanted = PROCESS_EXIT};

	if (ioctl(pidfd, PROCESS_GET_INFO, &info) != 0 || !(info.wanted & PROCESS_EXIT))
		return false;
	*status = info.status;
	return true;
}

/* The same for a process that its parent has not asked for yet. */
static bool process_zombie_status(pid_t pid, int *status)
{
	char path[32], line[1024] = "";
	char *field, *rest;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (file) {
		(void)!fgets(line, sizeof(line), file);
		fclose(file);
	}
	field = strrchr(line, ')'); /* behind it the fields begin with the third */
	if (!field || strncmp(field, ") Z ", 4) != 0)
		return false;
	field = strtok_r(field + 1, " \n", &rest);
	for (int number = 3; field && number < PROCESS_STAT_STATUS; number++)
		field = strtok_r(NULL, " \n", &rest);
	*status = field ? (int)strtol(field, NULL, 10) : -1;
	return field;
}

int fxt_process_wait_status(pid_t pid, int pidfd)
{
	int status = -1;

	/* The parent may ask between the first two. */
	if (process_kept_status(pidfd, &status) || process_zombie_status(pid, &status) ||
	        process_kept_status(pidfd, &status))
		return status;
	return -1;
}

/* Returns the process that traces another one, or 0. An attaching process of another
 * recording, which may have been killed just now, is waited for: it detaches soon. */
static long process_tracer(pid_t pid)
{
	char name[64];
	long tracer;

	for (int i = 0; i < ATTACHER_WAITS; i++) {
		tracer = process_number(pid, "TracerPid");
		if (!tracer || !fxt_proc_status((pid_t)tracer, "Name", name, sizeof(name)) ||
		        strcmp(name, FXT_ATTACHER_NAME) != 0)
			break;
		nanosleep(&(struct timespec){0, ATTACHER_WAIT_NS}, NULL);
	}
	return tracer;
}

/* Refuses processes in a state that does not allow it now. */
static int process_check_state(pid_t pid, char *error, size_t error_bytes)
{
	long group = process_number(pid, "Tgid"), tracer = process_tracer(pid),
	     seccomp = process_number(pid, "Seccomp");
	char value[256];

	if (group != pid)
		return process_refuse(
		        pid, error, error_bytes, "is a thread of process %ld; attach to that", group);
	if (fxt_proc_status(pid, "State", value, sizeof(value)) && (*value == 'Z' || *value == 'X'))
		return process_refuse(pid, error, error_bytes, "has ended");
	if (process_is_of_kernel(pid))
		return process_refuse(pid, error, error_bytes, "is a thread of the kernel");
	if (tracer)
		return process_refuse(pid, error, error_bytes,
		        "is traced by process %ld, such as gdb or strace; end that first", tracer);
	if (fxt_process_is_stopped(pid))
		return process_refuse(
		        pid, error, error_bytes, "is stopped; continue it first: kill -CONT %d", pid);
	if (seccomp)
		return process_refuse(pid, error, error_bytes,
		        "runs under seccomp (mode %ld), which may kill it for loading a library; start it by "
		        "fxtrun instead",
		        seccomp);
	if (fxt_proc_status(pid, "x86_Thread_features", value, sizeof(value)) && strstr(value, "shstk"))
		return process_refuse(pid, error, error_bytes,
		        "has a shadow stack, which allows no calls from outside; start it by fxtrun instead");
	if (fxt_proc_status(pid, "SigIgn", value, sizeof(value)) &&
	        strtoull(value, NULL, 16) & 1u << (SIGSEGV - 1))
		return process_refuse(pid, error, error_bytes,
		        "ignores SIGSEGV, by which calls from outside end; start it by fxtrun instead");
	return 0;
}

/* Refuses processes that do not see the files that we see. */
static int process_check_files(pid_t pid, const char *agent, char *error, size_t error_bytes)
{
	char path[PATH_MAX + 64], loaded[PATH_MAX];
	uint64_t base;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	if (!process_is_same_file(path, "/") && errno == EACCES) {
		fxt_process_describe_refusal(pid, EPERM, error, error_bytes);
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, agent);
	if (!process_is_same_file(path, agent))
		return process_refuse(pid, error, error_bytes,
		        "does not see %s, because it runs in a container or another root; run fxtrun there",
		        agent);
	if (fxt_image_find(pid, FXT_AGENT_FILE, loaded, &base) && strcmp(loaded, agent) != 0)
		return process_refuse(pid, error, error_bytes,
		        "has loaded another agent, %s; use the fxtrun that belongs to it, or restart it",
		        loaded);
	return 0;
}

int fxt_process_check(pid_t pid, const char *agent, char *error, size_t error_bytes)
{
	struct fxt_image_functions functions;
	const char *wrong;

	if (!ARCH_CAN_ATTACH) {
		snprintf(error, error_bytes, "--attach is not available on this processor");
		return -1;
	}
	if (process_check_owner(pid, error, error_bytes) != 0 ||
	        process_check_state(pid, error, error_bytes) != 0 ||
	        process_check_files(pid, agent, error, error_bytes) != 0)
		return -1;
	wrong = fxt_image_functions_find(pid, &functions);
	return wrong ? process_refuse(pid, error, error_bytes, "%s", wrong) : 0;
}

/* The processes of a tree. */
struct process_tree {
	pid_t except;
	pid_t *found;
	size_t count, max;
};

static void process_add_children(struct process_tree *tree, pid_t pid, const char *thread)
{
	char path[64];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", pid, thread);
	file = fopen(path, "re");
	while (file && tree->count < tree->max && fscanf(file, "%d", &child) == 1)
		if (child != tree->except)
			tree->found[tree->count++] = child;
	if (file)
		fclose(file);
}

size_t fxt_process_tree(pid_t pid, pid_t except, pid_t *found, size_t max)
{
	struct process_tree tree = {except, found, 1, max};

	found[0] = pid;
	for (size_t i = 0; i < tree.count; i++) {
		struct dirent *entry;
		char path[32];
		DIR *tasks;

		snprintf(path, sizeof(path), "/proc/%d/task", found[i]);
		tasks = opendir(path);
		while (tasks && (entry = readdir(tasks)))
			if (*entry->d_name != '.')
				process_add_children(&tree, found[i], entry->d_name);
		if (tasks)
			closedir(tasks);
	}
	return tree.count;
}
