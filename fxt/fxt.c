/*
 * The main of fxt: chooses the command.
 */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "commands.h"
#include "completion.h"
#include "reader/slices/nearest.h"
#include "terminal.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
#define COMMAND_ROW(name, summary) {#name, fxt_command_##name, summary},
        FXT_COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
};
enum { COMMANDS = sizeof(commands) / sizeof(*commands) };

static void print_help(FILE *out)
{
	fputs("usage: fxt COMMAND [OPTION]... [FILE]...\n"
	      "Reads traces in the Fuchsia trace format (FXT).\n"
	      "\n",
	        out);
	for (int i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-10s  %s\n", commands[i].name, commands[i].summary);
	fputs("\n"
	      "fxt help COMMAND tells more. --version prints the version. The exit status is\n"
	      "0; 1 if a trace is broken or breaks a rule; 2 if the command is wrong, or\n"
	      "a file cannot be read or written; 3 and 4: see check --fail-if.\n",
	        out);
}

static int run_command(int argc, char **argv)
{
	for (int i = 0; i < COMMANDS; i++)
		if (strcmp(argv[0], commands[i].name) == 0)
			return commands[i].run(argc, argv);
	struct fxt_nearest nearest = fxt_nearest(fxt_span(argv[0]));

	for (int i = 0; i < COMMANDS; i++)
		fxt_nearest_consider(&nearest, fxt_span(commands[i].name));
	if (nearest.best.bytes > 0)
		fprintf(stderr, "fxt: no command '%s' (did you mean %.*s?); see fxt --help\n", argv[0],
		        (int)nearest.best.bytes, nearest.best.data);
	else
		fprintf(stderr, "fxt: no command '%s'; see fxt --help\n", argv[0]);
	return FXT_FAILED;
}

static int choose_command(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return FXT_FAILED;
	}
	if (fxt_completion_is_asked(argc, argv)) {
		for (int i = 0; i < COMMANDS; i++)
			printf("%s\t\t%s\n", commands[i].name, commands[i].summary);
		puts("help\t\ttells more about a command\n--help\t\tshow the commands\n--version\t\tshow the "
		     "version");
		return FXT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("fxt " FXT_VERSION);
		return FXT_DONE;
	}
	if (strcmp(argv[1], "help") == 0 && argc > 2)
		return run_command(2, (char *[]){argv[2], "--help", NULL});
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help(stdout);
		return FXT_DONE;
	}
	if (argv[1][0] == '-') {
		fprintf(stderr, "fxt: unknown option '%s'; see fxt --help\n", argv[1]);
		return FXT_FAILED;
	}
	return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	/* If the reader of our output has seen enough and closes it, we end silently,
	 * even if our parent ignores the signal. */
	signal(SIGPIPE, SIG_DFL);
	/* Sets the width of characters. Archives are UTF-8, whatever the terminal's
	 * language. */
	setlocale(LC_CTYPE, "C.UTF-8");
	fxt_terminal_begin();
	int status = choose_command(argc, argv);

	if (fflush(stdout) != 0 || ferror(stdout)) {
		perror("fxt: standard output");
		status = FXT_FAILED;
	}
	return status;
}
