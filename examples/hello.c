/*
 * Lesson 1: a first trace.
 *
 *     fxt-cc -g hello.c -o hello
 *     fxtrun ./hello
 *     fxt report trace.fxt
 *
 * main calls greet three times, and greet calls shout once; the trace holds each of these calls with its
 * begin and its end. printf and toupper belong to libc, which was not compiled by fxt-cc: they are not there.
 */
#include <ctype.h>
#include <stdio.h>

static void shout(const char *text)
{
	while (*text)
		putchar(toupper((unsigned char)*text++));
	putchar('\n');
}

static void greet(const char *name)
{
	printf("hello, %s: ", name);
	if (name[0] == 'w')
		shout(name);
	else
		puts(name);
}

int main(void)
{
	greet("reader");
	greet("tracer");
	greet("world");
}
