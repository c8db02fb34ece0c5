/* Writes lines in pieces, lines that have no end, long lines, and bytes that are not UTF-8. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void by_write(const char *text)
{
	if (write(2, text, strlen(text)) < 0)
		abort();
}

static void *without_end(void *unused)
{
	fputs("a thread's line without an end", stderr);
	return unused;
}

int main(void)
{
	static char longest[5002];
	pthread_t thread;

	fprintf(stderr, "in %d ", 3);
	fputs("pie", stderr);
	fputc('c', stderr);
	fwrite("es", 1, 2, stderr);
	by_write(" of \xe2\x82");
	by_write("\xac\n\n");
	by_write("one\ntwo\nthree\n");
	by_write("not UTF-8: \xff\xc3\n");
	by_write("{{{reset}}}\n");
	memset(longest, 'x', 5000);
	longest[5000] = '\n';
	fputs(longest, stderr);
	puts("to the standard output");
	by_write("before a thread, ");
	pthread_create(&thread, NULL, without_end, NULL);
	pthread_join(thread, NULL);
	by_write("after it\n");
	fputs("before a child, ", stderr);
	if (fork() == 0) {
		fputs("in the child\nat the child's end", stderr);
		_exit(0);
	}
	wait(NULL);
	fputs("after it\nat the end", stderr);
	return 0;
}
