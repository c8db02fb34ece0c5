#include "proc_status.h"
#include <stdio.h>
#include <string.h>

bool fxt_proc_status(pid_t pid, const char *field, char *value, size_t bytes)
{
	char path[32], line[256];
	size_t name_bytes = strlen(field);
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = strncmp(line, field, name_bytes) == 0 && line[name_bytes] == ':';
	if (file)
		fclose(file);
	if (!found)
		return false;
	line[strcspn(line, "\n")] = 0;
	snprintf(value, bytes, "%s", line + name_bytes + 1 + strspn(line + name_bytes + 1, " \t"));
	return true;
}
