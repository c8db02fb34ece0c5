#include "preload.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "writer/shared/shared.h"

int fxt_preload_find(char path[PATH_MAX], char *error, size_t error_bytes)
{
	static const char *const folders[] = {"", "../lib/", "../lib/fxt/"};
	const char *given = getenv("FXT_AGENT");
	char executable[PATH_MAX], candidate[PATH_MAX + 32];
	ssize_t length;

	if (given && *given) {
		if (realpath(given, path) && access(path, R_OK) == 0)
			return 0;
		snprintf(error, error_bytes, "FXT_AGENT=%s: %s; it must name the file " FXT_AGENT_FILE, given,
		        strerror(errno));
		return -1;
	}
	length = readlink("/proc/self/exe", executable, sizeof(executable) - 1);
	if (length < 0) {
		snprintf(error, error_bytes,
		        "cannot look for " FXT_AGENT_FILE " beside fxtrun: /proc/self/exe: %s; set FXT_AGENT",
		        strerror(errno));
		return -1;
	}
	executable[length] = 0;
	*strrchr(executable, '/') = 0;
	for (unsigned i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(candidate, sizeof(candidate), "%s/%s" FXT_AGENT_FILE, executable, folders[i]);
		if (realpath(candidate, path) && access(path, R_OK) == 0)
			return 0;
	}
	snprintf(error, error_bytes,
	        FXT_AGENT_FILE
	        " is missing in %s and its ../lib; install it there or set FXT_AGENT to its path",
	        executable);
	return -1;
}

/* Runs in the child. The loader prints the libraries of the program without starting it. */
static void preload_print_libraries(const char *program, int output)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (nowhere >= 0 && setenv("LD_TRACE_LOADED_OBJECTS", "1", 1) == 0 &&
	        dup2(nowhere, STDIN_FILENO) >= 0 && dup2(nowhere, STDERR_FILENO) >= 0 &&
	        dup2(output, STDOUT_FILENO) >= 0)
		execl(program, program, (char *)NULL);
	_exit(127);
}

/* Takes a line "\tNAME => PATH (ADDRESS)" apart; without " => PATH" the name is the path. */
static bool preload_split(char *line, const char **name, const char **path)
{
	char *arrow = strstr(line, " => "), *address = strstr(arrow ? arrow : line, " (0x");

	if (*line != '\t' || !address)
		return false;
	*address = 0;
	if (arrow)
		*arrow = 0;
	*name = line + 1;
	*path = arrow ? arrow + strlen(" => ") : *name;
	return true;
}

void fxt_preload_libraries(const char *program, fxt_preload_library *visit, void *context)
{
	char line[2 * PATH_MAX];
	const char *name, *path;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	pid = fork();
	if (pid == 0)
		preload_print_libraries(program, ends[1]);
	close(ends[1]);
	FILE *lines = fdopen(ends[0], "r");

	while (lines && fgets(line, sizeof(line), lines))
		if (preload_split(line, &name, &path))
			visit(context, name, path);
	if (lines)
		fclose(lines);
	else
		close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void preload_note_mpi(void *is_used, const char *name, const char *path)
{
	(void)path;
	if (strncmp(name, "libmpi", strlen("libmpi")) == 0)
		*(bool *)is_used = true;
}

static bool preload_uses_mpi(const char *program)
{
	bool is_used = false;

	fxt_preload_libraries(program, preload_note_mpi, &is_used);
	return is_used;
}

void fxt_preload_find_mpi(char path[PATH_MAX], const char *agent, const char *program)
{
	const char *slash = strrchr(agent, '/');

	if (snprintf(path, PATH_MAX, "%.*s/" FXT_MPI_FILE, (int)(slash - agent), agent) >= PATH_MAX ||
	        access(path, R_OK) != 0 || !fxt_preload_can_hold(path) || !preload_uses_mpi(program))
		*path = 0;
}

bool fxt_preload_can_hold(const char *path)
{
	return !path[strcspn(path, ": \t\n\v\f\r$")];
}

static void preload_link_path(char path[PATH_MAX], const char *directory)
{
	snprintf(path, PATH_MAX, "%s/" FXT_AGENT_FILE, directory);
}

int fxt_preload_link(char path[PATH_MAX], const char *directory)
{
	char link[PATH_MAX];

	if (fxt_preload_can_hold(path))
		return 0;
	preload_link_path(link, directory);
	if (symlink(path, link) != 0)
		return errno;
	strcpy(path, link);
	return 0;
}

void fxt_preload_unlink(const char *directory)
{
	char link[PATH_MAX];

	preload_link_path(link, directory);
	unlink(link);
}

int fxt_preload_environment(const char *agent, const char *mpi, const char *socket_path)
{
	const char *others = getenv("LD_PRELOAD"), *wishes = getenv("ASAN_OPTIONS");
	char *list, *asan;

	if (asprintf(&list, "%s%s%s%s%s", agent, *mpi ? ":" : "", mpi, others && *others ? ":" : "",
	            others ? others : "") < 0)
		return ENOMEM;
	if (setenv("LD_PRELOAD", list, 1) != 0 || setenv(FXT_SOCKET_ENVIRONMENT, socket_path, 1) != 0)
		return errno;
	free(list);
	/* A program built with AddressSanitizer refuses to run with any library before the
	 * sanitizer's. Ours is harmless: it passes on every call that it interposes. */
	if (asprintf(&asan, "verify_asan_link_order=0%s%s", wishes ? ":" : "", wishes ? wishes : "") < 0)
		return ENOMEM;
	if (setenv("ASAN_OPTIONS", asan, 1) != 0)
		return errno;
	free(asan);
	return 0;
}
