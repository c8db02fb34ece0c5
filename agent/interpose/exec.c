/*
 * exec and posix_spawn give our variables back (environment.h). They use no malloc and do
 * not touch the program's own environment, because a vfork child runs here in its parent's
 * memory. vfork itself cannot be interposed. system() and popen() pass on the environment
 * as it is, without our variables if it was cleared. A raw execve system call is left
 * alone.
 */
#include "exec.h"
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "agent/base/attributes.h"
#include "agent/process/environment.h"
#include "agent/hook/events.h"
#include "agent/process/image.h"
#include "process_exit.h"
#include "agent/base/real.h"

#define CATEGORY     "process"
#define PATH_SHOWN   128  /* bytes of an exec's path in its record */
#define ON_STACK_MAX 8192 /* larger ones are mapped, in a vfork child's parent for good */

/* The environment for a new image, completed in the caller's frame or, if it is large, in
 * memory that environment_unmap() unmaps. */
#define COMPLETED(e)                                       \
	((e).bytes == 0 ? (e).given                        \
	                : agent_environment_complete(&(e), \
	                          (e).bytes <= ON_STACK_MAX ? alloca((e).bytes) : exec_map((e).bytes)))

static void *exec_map(size_t bytes)
{
	return sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void environment_unmap(const struct agent_environment *e, char *const *completed)
{
	if (e->bytes > ON_STACK_MAX)
		sys_unmap((void *)(uintptr_t)completed, e->bytes);
}

/* ---- exec ---- */

enum exec_kind { BY_PATH, BY_SEARCH, BY_DESCRIPTOR, BY_FILE };

/* The path as the record of an exec has it. */
static struct fxt_string exec_path_text(const char *path)
{
	bool can_read = agent_can_read_string(path, PATH_SHOWN);

	return fxt_string_inline(can_read ? path : "", can_read ? strnlen(path, PATH_SHOWN) : 0);
}

static enum agent_image exec_look(const char *path, bool is_searched)
{
	return agent_can_read_string(path, SIZE_MAX) ? agent_image_look(path, is_searched)
	                                             : AGENT_IMAGE_ORDINARY;
}

/* Counts an image that no agent can be in, for the manager to report. In a forked child or
 * a vfork child this is the control memory of its parent. */
static void exec_count_untraced(enum agent_image image, uint32_t more)
{
	if (image != AGENT_IMAGE_ORDINARY && agent_untraced && !agent_is_standalone)
		add_relaxed(agent_untraced, more);
}

static int exec_image(
        enum exec_kind kind, int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	enum agent_image image = kind == BY_PATH || kind == BY_SEARCH ? exec_look(path, kind == BY_SEARCH)
	                                                              : AGENT_IMAGE_ORDINARY;
	struct agent_environment e = agent_environment_examine(envp, image);
	char *const *environment = COMPLETED(e);
	struct fxt_argument argument = fxt_argument_string(agent_text("path"), exec_path_text(path));

	if (e.bytes && !environment)
		environment = e.given;
	agent_instant(CATEGORY, "exec", &argument, 1);
	agent_process_ends(true);
	exec_count_untraced(image, 1);
	switch (kind) {
	case BY_PATH:
		REAL(execve)(path, argv, environment);
		break;
	case BY_SEARCH:
		REAL(execvpe)(path, argv, environment);
		break;
	case BY_DESCRIPTOR:
		REAL(execveat)(fd, path, argv, environment, flags);
		break;
	case BY_FILE: /* a missing environment is a fault to libc, an empty one to the kernel */
		REAL(fexecve)(fd, argv, envp ? environment : NULL);
		break;
	}
	int error = errno;

	agent_process_ends(false);
	exec_count_untraced(image, -1);

	environment_unmap(&e, environment);
	errno = error;
	return -1;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	return exec_image(BY_PATH, -1, path, argv, envp, 0);
}

EXPORT int execv(const char *path, char *const argv[])
{
	return exec_image(BY_PATH, -1, path, argv, environ, 0);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return exec_image(BY_SEARCH, -1, file, argv, environ, 0);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return exec_image(BY_SEARCH, -1, file, argv, envp, 0);
}

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	return exec_image(BY_DESCRIPTOR, fd, path, argv, envp, flags);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	return exec_image(BY_FILE, fd, "", argv, envp, 0);
}

/* Counts the arguments up to the NULL that ends them, `first` included. */
static size_t exec_count_arguments(const char *first, va_list list)
{
	size_t count = 0;

	for (const char *argument = first; argument; argument = va_arg(list, const char *))
		count++;
	return count;
}

/* Collects the arguments of execl() and its like as an array in the caller's frame.
 * Afterwards `list` stands behind the NULL. */
#define COLLECT(argv, first, list)                            \
	va_list counting;                                     \
	va_start(list, first);                                \
	va_copy(counting, list);                              \
	size_t count = exec_count_arguments(first, counting); \
	va_end(counting);                                     \
	char *argv[count + 1];                                \
	argv[0] = (char *)(uintptr_t)first;                   \
	for (size_t i = 1; i <= count; i++)                   \
	argv[i] = va_arg(list, char *)

EXPORT int execl(const char *path, const char *first, ...)
{
	va_list list;

	COLLECT(argv, first, list);
	va_end(list);
	return exec_image(BY_PATH, -1, path, argv, environ, 0);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list list;

	COLLECT(argv, first, list);
	va_end(list);
	return exec_image(BY_SEARCH, -1, file, argv, environ, 0);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	va_list list;

	COLLECT(argv, first, list);
	char *const *envp = va_arg(list, char *const *);

	va_end(list);
	return exec_image(BY_PATH, -1, path, argv, envp, 0);
}

/* ---- children ---- */

void agent_record_child(uint64_t begin, const char *how, pid_t child)
{
	struct fxt_argument argument = fxt_argument_koid(agent_text("child"), (uint64_t)child);

	agent_slice_end(begin, CATEGORY, how, &argument, 1);
}

static int exec_spawn(__typeof__(&posix_spawn) function, const char *name, pid_t *child, const char *path,
        const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[],
        char *const envp[])
{
	enum agent_image image = exec_look(path, function == REAL(posix_spawnp));
	struct agent_environment e = agent_environment_examine(envp, image);
	char *const *environment = COMPLETED(e);
	uint64_t begin = agent_slice_begin(CATEGORY);
	pid_t own;
	int error;

	if (e.bytes && !environment)
		environment = e.given;
	error = function(child ? child : &own, path, actions, attributes, argv, environment);
	environment_unmap(&e, environment);
	if (error == 0)
		exec_count_untraced(image, 1);
	if (error == 0)
		agent_record_child(begin, name, child ? *child : own);
	return error;
}

EXPORT int posix_spawn(pid_t *restrict child, const char *restrict path,
        const posix_spawn_file_actions_t *restrict actions, const posix_spawnattr_t *restrict attributes,
        char *const argv[restrict], char *const envp[restrict])
{
	return exec_spawn(REAL(posix_spawn), "posix_spawn", child, path, actions, attributes, argv, envp);
}

EXPORT int posix_spawnp(pid_t *restrict child, const char *restrict file,
        const posix_spawn_file_actions_t *restrict actions, const posix_spawnattr_t *restrict attributes,
        char *const argv[restrict], char *const envp[restrict])
{
	return exec_spawn(REAL(posix_spawnp), "posix_spawnp", child, file, actions, attributes, argv, envp);
}
