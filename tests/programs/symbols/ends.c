/* Calls innermost() by way of outermost(), which then ends the program: ends kill, or replaces the file it
 * runs from: ends replace FILE PROGRAM. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int innermost(char **argv)
{
	if (strcmp(argv[1], "kill") == 0)
		return raise(SIGKILL);
	return rename(argv[2], argv[3]);
}

static int outermost(char **argv)
{
	return innermost(argv) + 1;
}

int main(int argc, char **argv)
{
	return argc > 1 ? outermost(argv) - 1 : 2;
}
