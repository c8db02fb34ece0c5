/*
 * Runs a build (build.h). The compilers are links to fxt-cc in a directory that comes first
 * in $PATH, for builds that name their compiler themselves; $CC and $CXX are for builds
 * that ask, and keep the answer. Each fxt-cc appends a letter to a file, which is counted
 * at the end (wrapper/fxt_cc.c). Nothing is traced.
 */
#include "build.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "launcher/message.h"
#include "run.h"

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

/* Finds the directory of the links, beside fxtrun or where make install puts it. */
static int build_find_compilers(char path[PATH_MAX])
{
	static const char *const folders[] = {"compilers", "../lib/fxt/compilers"};
	char self[PATH_MAX], candidate[PATH_MAX + 32];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return -1;
	self[length] = 0;
	*strrchr(self, '/') = 0;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(candidate, sizeof(candidate), "%s/%s", self, folders[i]);
		if (realpath(candidate, path))
			return 0;
	}
	return -1;
}

/* Makes a link the value of CC or CXX; the user's own value is the compiler below it. */
static void build_set_compiler(const char *variable, const char *below, const char *folder, const char *link)
{
	const char *own = getenv(variable);
	char path[PATH_MAX + 16];

	if (own && *own && !strstr(own, "fxt-c") && strncmp(own, folder, strlen(folder)) != 0)
		setenv(below, own, 1);
	snprintf(path, sizeof(path), "%s/%s", folder, link);
	setenv(variable, path, 1);
}

static int build_prepare(const char *counts)
{
	const char *path = getenv("PATH");
	char folder[PATH_MAX], *paths;

	if (build_find_compilers(folder) != 0) {
		fxt_say("--build: the directory \"compilers\" is missing beside fxtrun and in ../lib/fxt; "
		        "make install puts it there");
		return -1;
	}
	build_set_compiler("CC", "FXT_CC", folder, "cc");
	build_set_compiler("CXX", "FXT_CXX", folder, "c++");
	if (asprintf(&paths, "%s:%s", folder, path ? path : "/usr/bin:/bin") < 0)
		return -1;
	setenv("PATH", paths, 1);
	setenv("FXT_BUILD_COUNTS", counts, 1);
	free(paths);
	return 0;
}

static int build_run(char **command)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(command[0], command);
		int error = errno;

		fxt_say("%s: %s", command[0], strerror(error));
		_exit(error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
	}
	if (pid < 0) {
		fxt_say("%s: %s", command[0], strerror(errno));
		return FXT_EXIT_FAILED;
	}
	/* The terminal sends these to the build too, which ends by them. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Says what the letters in the file stand for. */
static void build_report(int counts)
{
	unsigned long made = 0, own = 0, none = 0;
	char letters[4096];
	ssize_t got;

	for (off_t at = 0; (got = pread(counts, letters, sizeof(letters), at)) > 0; at += got)
		for (ssize_t i = 0; i < got; i++) {
			made += letters[i] == 'i';
			own += letters[i] == 'o';
			none += letters[i] == 'n';
		}
	fxt_say("%lu compilation%s of C or C++ made recordable", made, made == 1 ? "" : "s");
	if (made + own + none == 0)
		fxt_say("nothing was compiled by cc, gcc, clang or $CC: everything may be built already, or "
		        "the build names another compiler");
	else
		fxt_say("%lu left as they were: %lu by options of the project, %lu by FXT_INSTRUMENT=none",
		        own + none, own, none);
}

int fxt_build(char **command)
{
	const char *folder = getenv("TMPDIR");
	char counts[PATH_MAX];
	int status = FXT_EXIT_FAILED, fd;

	if (!command[0]) {
		fxt_say("no command given; use: fxtrun --build make [arguments]");
		return FXT_EXIT_FAILED;
	}
	snprintf(counts, sizeof(counts), "%s/fxtrun.XXXXXX", folder && *folder ? folder : "/tmp");
	fd = mkostemp(counts, O_CLOEXEC);
	if (fd < 0) {
		fxt_say("--build: %s: %s", counts, strerror(errno));
		return FXT_EXIT_FAILED;
	}
	if (build_prepare(counts) == 0) {
		status = build_run(command);
		if (status != NOT_EXECUTABLE && status != NOT_FOUND)
			build_report(fd);
	}
	unlink(counts);
	close(fd);
	return status;
}
