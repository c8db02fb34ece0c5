#define _GNU_SOURCE
#include "report.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>

static const char *next_file, *next_name;
static int next_line;

void report_next_call(const char *file, int line, const char *name)
{
	next_file = file;
	next_line = line;
	next_name = name;
}

void __cyg_profile_func_enter(void *function, void *call_site)
{
	(void)call_site;
	if (next_name)
		printf("call %p %s %d %s\n", function, next_file, next_line, next_name);
	next_name = NULL;
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)function;
	(void)call_site;
}

static int report_module(struct dl_phdr_info *info, size_t bytes, void *context)
{
	char *path = realpath(info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe", NULL);

	(void)bytes;
	(void)context;
	if (!path)
		return 0;
	printf("module %s\n", path);
	free(path);
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			printf("segment %#lx %#lx %#lx\n",
			        (unsigned long)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
			        (unsigned long)info->dlpi_phdr[i].p_memsz,
			        (unsigned long)info->dlpi_phdr[i].p_vaddr);
	return 0;
}

void report_modules(void)
{
	dl_iterate_phdr(report_module, NULL);
}
