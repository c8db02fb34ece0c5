/*
 * Leaks blocks that the C library handed to it, in many ways, and has the library allocate what it keeps for itself:
 * stdout's buffer, a locale, a time zone, users, converters, a thread, a module.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <iconv.h>
#include <locale.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void *thread(void *argument)
{
	return argument;
}

/* Nothing may be left on the stack that points to a leaked block. */
static void leak(void)
{
	char *volatile text;
	char *line = NULL;
	size_t bytes = 0;
	FILE *file = fopen("/proc/self/maps", "r");

	text = strdup("a copy");
	if (asprintf(&line, "%d bottles", 99) > 0)
		line = NULL;
	if (getline(&line, &bytes, file) > 0)
		line = NULL;
	fclose(file);
	text = (char *)opendir("/");
	text = realpath("/usr/bin/..", NULL);
	text = getcwd(NULL, 0);
	text = malloc(12345);
	text = NULL;
	(void)text;
}

static void have_library_allocate(void)
{
	time_t now = 0;
	pthread_t other;

	puts("hello");
	setlocale(LC_ALL, "C.UTF-8");
	tzset();
	localtime(&now);
	getpwuid(0);
	iconv_close(iconv_open("UTF-16", "KOI8-R"));
	dlerror();
	dlopen("libm.so.6", RTLD_NOW);
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
}

int main(void)
{
	leak();
	have_library_allocate();
	return 0;
}
