/* In place of report.c: prints the name of each function that is about to be called, and leaves the hooks to
 * the tracer. */
#include "report.h"

#include <stdio.h>

void report_modules(void)
{
}

void report_next_call(const char *file, int line, const char *name)
{
	(void)file;
	(void)line;
	puts(name);
}
