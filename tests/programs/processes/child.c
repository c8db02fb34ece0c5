/*
 * Appends a line to the file "truth": its number, its parent's, its name, and how it ends:
 * by the exit status of its argument, or by the signal of that number behind a "-".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int end = argc > 1 ? atoi(argv[1]) : 0;
	const char *slash = strrchr(argv[0], '/');
	FILE *truth = fopen("truth", "a");

	fprintf(truth, "%d %d %s %d\n", getpid(), getppid(), slash ? slash + 1 : argv[0], end);
	fclose(truth);
	if (end < 0)
		kill(getpid(), -end);
	return end;
}
