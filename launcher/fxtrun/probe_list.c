/*
 * Lists probes (probe_list.h), on the main thread. It must not start the program, nor touch
 * a trace.
 */
#include "probe_list.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launcher/message.h"
#include "launcher/planning/probe_plan.h"
#include "launcher/planning/probe_requests.h"
#include "launcher/preload.h"
#include "target.h"

bool fxt_probe_list_is_wanted(const struct fxt_options *options)
{
	for (unsigned i = 0; i < options->usdt_count; i++)
		if (strcmp(options->usdt[i], "list") == 0)
			return true;
	return false;
}

/* Prints the probes of a file, if it has any, and counts the file. */
static void probe_list_print_file(const char *path, unsigned *files)
{
	struct fxt_probe_plan *plan = NULL;
	char *names = NULL, probe[FXT_PROBE_ITEM_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t bytes;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	if (elf)
		fxt_probe_plan_make(elf, NULL, 0, &plan, &bytes, &names);
	const char *list = names ? names : "";

	if (*list)
		printf("%s\n", path);
	*files += *list != 0;
	while (fxt_probe_request_next(&list, probe))
		printf("  %s\n", probe + strspn(probe, " "));
	free(names);
	elf_end(elf);
	close(fd);
}

static void probe_list_on_library(void *files, const char *name, const char *path)
{
	(void)name;
	probe_list_print_file(path, files);
}

/* Lines of /proc/PID/maps are ADDRESSES rwxp OFFSET DEVICE INODE PATH. A file has one
 * mapping of code. */
static bool probe_list_print_process(long pid, unsigned *files)
{
	char name[64], line[PATH_MAX + 128], last[PATH_MAX] = "";
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%ld/maps", pid);
	maps = fopen(name, "re");
	if (!maps)
		return false;
	while (fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/'), *rights = strchr(line, ' ');

		if (!path || !rights || rights[3] != 'x')
			continue;
		path[strcspn(path, "\n")] = 0;
		if (strcmp(path, last) != 0)
			probe_list_print_file(path, files);
		snprintf(last, sizeof(last), "%s", path);
	}
	fclose(maps);
	return true;
}

int fxt_probe_list_print(const struct fxt_options *options, char *error, size_t error_bytes)
{
	char program[PATH_MAX];
	unsigned files = 0;
	int status;

	if (options->attach && !probe_list_print_process(options->attach_pid, &files)) {
		snprintf(error, error_bytes, "process %ld cannot be looked at", (long)options->attach_pid);
		return FXT_EXIT_FAILED;
	}
	if (!options->attach) {
		status = fxt_target_find(options->program[0], program, error, error_bytes);
		if (status != 0)
			return status;
		probe_list_print_file(program, &files);
		fxt_preload_libraries(program, probe_list_on_library, &files);
	}
	if (files == 0)
		puts("no probes");
	return 0;
}
