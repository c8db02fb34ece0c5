#include "completion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool fxt_completion_is_asked(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], "--completion") == 0;
}

/* Returns what follows the option's name in the line of help that begins with it; NULL: the
 * help has no such line. */
static const char *completion_find(const char *help, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *line = help; line; line = strchr(line, '\n')) {
		line += strspn(line, "\n");
		const char *at = line + strspn(line, " ");

		if (at[0] == '-' && at[1] != '-' && at[2] == ',') /* the short form */
			at += strlen("-x, ");
		if (strncmp(at, "--", 2) == 0 && strncmp(at + 2, name, bytes) == 0 &&
		        !isalnum((unsigned char)at[2 + bytes]) && at[2 + bytes] != '-')
			return at + 2 + bytes;
	}
	return NULL;
}

/* Prints the first line of a description, which may begin in the next line. */
static void completion_print_text(const char *text)
{
	for (text += strspn(text, " \n"); *text && *text != '\n'; text++)
		if (isprint((unsigned char)*text))
			putchar(*text);
}

void fxt_completion_print(const struct option *options, const char *help)
{
	for (; options->name; options++) {
		const char *text = completion_find(help, options->name);
		size_t argument = text ? strcspn(text, " \n") : 0;

		printf("--%s%s\t", options->name, options->has_arg == required_argument ? "=" : "");
		if (argument > 0)
			printf("%.*s", (int)argument - 1, text + 1);
		putchar('\t');
		if (text)
			completion_print_text(text + argument);
		putchar('\n');
	}
}
