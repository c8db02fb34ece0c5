/*
 * fxtctl: queries a running session of fxtrun, starts and stops it, requests a snapshot, or
 * ends the session, over its control socket (control.h). This file reads the command line.
 */
#include "commands.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"
#include "launcher/option_table.h"
#include "reader/slices/nearest.h"
#include "reader/trace/index.h"

static const struct command {
	const char *name;
	void (*run)(void);
	unsigned options;    /* those that it takes: enum fxtctl_taker */
	const char *operand; /* required argument, or optional if it is in brackets; NULL =
	                      * none */
	const char *usage, *help;
} commands[] = {
        {"list", fxtctl_list, 0, NULL, "list", "show the running sessions"},
        {"status", fxtctl_status, 0, NULL, "status", "show the state of a session and its processes"},
        {"providers", fxtctl_providers, 0, NULL, "providers", "show the processes that it traces"},
        {"categories", fxtctl_categories, 0, "[names]", "categories [A,B]",
                "show the categories; or record only these from now on"},
        {"start", fxtctl_start, FXTCTL_START, NULL, "start",
                "begin to record, or record again; --clear=entire first drops the contents of the buffers, "
                "nondurable all except names, retain nothing [retain]; --categories=A,B adds categories"},
        {"stop", fxtctl_stop, FXTCTL_STOP, NULL, "stop",
                "stop recording; --write-results writes the contents of the buffers to the trace now, and "
                "clears them"},
        {"filter", fxtctl_filter, FXTCTL_FILTER, NULL, "filter",
                "change what is recorded from now on, by these options of fxtrun:"},
        {"trigger", fxtctl_trigger, FXTCTL_TRIGGER, "[trigger]", "trigger [TRIGGER]",
                "add a trigger, in the form of fxtrun --trigger: EVENT:ACTION[/CONDITION]; or remove it with "
                "--remove=N; or show the triggers and their numbers"},
        {"record", fxtctl_record, FXTCTL_RECORD, NULL, "record -o FILE",
                "make a recording of a program that runs with --start=idle, and wait for the trace: until "
                "--duration=TIME is over, Ctrl-C, or the program's end; takes --buffering-mode=MODE, "
                "--categories=A,B, --trigger=TRIGGER and the options of filter in place of those of fxtrun, "
                "and --auto[=PERCENT] after fxtrun --calibrate"},
        {"snapshot", fxtctl_snapshot, FXTCTL_SNAPSHOT, NULL, "snapshot [-o FILE]",
                "write a trace of what the buffers hold (--buffering-mode=circular)"},
        {"attach", fxtctl_attach, 0, "a process", "attach PID|UNIT",
                "record a process that runs already, and its descendants, or the processes of a systemd "
                "unit, beside those of the session"},
        {"detach", fxtctl_detach, 0, "a process", "detach PID|UNIT",
                "end the recording of an attached process and its descendants, or of a unit"},
        {"alert", fxtctl_alert, 0, "a name", "alert NAME", "raise an alert"},
        {"watch", fxtctl_watch, 0, NULL, "watch", "show alerts and state changes as they happen"},
        {"terminate", fxtctl_terminate, 0, NULL, "terminate",
                "end the session, and its program by SIGTERM unless it is detached"},
        {"recover", fxtctl_recover, 0, NULL, "recover",
                "make a trace of what is left of a session whose manager was killed, now and not at the "
                "program's end"},
};
#define COMMANDS (sizeof(commands) / sizeof(*commands))

/* ---- usage ---- */

static void fxtctl_help_command(const struct command *command)
{
	char text[1024];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s", command->help);

	for (unsigned i = 0, before = 0; command->options == FXTCTL_FILTER && i < fxt_option_count; i++)
		if (fxt_option_table[i].takers & FXTCTL_FILTER)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s",
			        before++ ? "," : "", fxt_option_table[i].fxtctl_help);
	fxt_help_print(text, printf("  %s", command->usage), 22);
}

static void fxtctl_help(void)
{
	printf("Usage: fxtctl [options] COMMAND\nControls a running session of fxtrun.\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fxtctl_help_command(&commands[i]);
	putchar('\n');
	for (unsigned i = 0; i < fxt_option_count; i++)
		if (fxt_option_table[i].takers == FXTCTL_ANY)
			fxt_help_print(
			        fxt_option_table[i].fxtctl_help, fxt_option_print(&fxt_option_table[i]), 22);
	printf("\nThe exit status is 0, or 1: it failed, or 2: wrong usage.\n");
}

static const struct command *fxtctl_find_command(const char *name)
{
	struct fxt_nearest nearest = fxt_nearest(fxt_span(name));

	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(name, commands[i].name))
			return &commands[i];
		fxt_nearest_consider(&nearest, fxt_span(commands[i].name));
	}
	if (nearest.best.data)
		fxt_client_fail(2, "%s: no such command (did you mean %.*s?); fxtctl --help lists them all",
		        name, (int)nearest.best.bytes, nearest.best.data);
	fxt_client_fail(2, "%s: no such command; fxtctl --help lists them all", name);
}

/* Prints what a shell completes (fxt_option_print_completion()): the commands, or the options
 * of one, and the options that all take. */
static void fxtctl_print_completion(const char *name)
{
	unsigned takers = FXTCTL_ANY;

	for (size_t i = 0; i < COMMANDS; i++)
		if (!name)
			printf("%s\t\t%s\n", commands[i].name, commands[i].help);
		else if (strcmp(name, commands[i].name) == 0)
			takers |= commands[i].options;
	for (unsigned i = 0; i < fxt_option_count; i++) {
		const struct fxt_option *option = &fxt_option_table[i];
		const char *help = option->takers == FXTCTL_ANY ? option->fxtctl_help : option->help;

		if (option->takers & takers)
			fxt_option_print_completion(option, help ? help : "");
	}
}

/* An option as it was given. */
struct given {
	const struct fxt_option *option;
	int value; /* of getopt_long() */
	const char *argument;
};

/* Refuses an option of another command than the given one. */
static void fxtctl_check_option(const struct command *command, const struct given *given)
{
	char takers[64];
	size_t used = 0;

	if (given->option->takers & (command->options | FXTCTL_ANY))
		return;
	for (size_t i = 0; i < COMMANDS; i++)
		if (commands[i].options & given->option->takers)
			used += (size_t)snprintf(takers + used, sizeof(takers) - used, "%s%s",
			        used ? " and " : "", commands[i].name);
	if (given->value < FXT_OPTION_LONG)
		fxt_client_fail(2, "-%c is for %s only", given->value, takers);
	fxt_client_fail(2, "--%s is for %s only", given->option->name, takers);
}

/* Ends the process if another option was meant. */
static void fxtctl_say_meant(const char *given, const struct option *options)
{
	const char *meant = fxt_nearest_option(given, options);

	if (meant && strncmp(given + 2, meant, strlen(meant)) != 0)
		fxt_client_fail(2, "%s: no such option (did you mean --%s?); fxtctl --help lists them all",
		        given, meant);
}

/* Takes an option, once it is known that the command has it. */
static void fxtctl_take(const struct command *command, const struct given *given)
{
	const struct fxt_option *option = given->option;
	const char *wrong = NULL;

	if (option->write)
		wrong = option->write(
		        fxtctl.params, fxt_option_field(option, command->options), given->argument);
	if (wrong)
		fxt_client_fail(2, "--%s=%s: %s", option->name, given->argument, wrong);
	if (strcmp(option->name, "session") == 0)
		fxtctl.session = given->argument;
	else if (strcmp(option->name, "duration") == 0)
		fxtctl.duration = given->argument;
	else if (strcmp(option->name, "json") == 0)
		fxtctl.json = true;
}

int main(int argc, char **argv)
{
	struct fxt_getopt tables;
	struct given *given = fxt_allocate((size_t)argc * sizeof(*given));
	size_t count = 0;
	const struct command *command;
	int value;

	if (argc > 1 && argc <= 3 && strcmp(argv[argc - 1], "--completion") == 0) {
		fxtctl_print_completion(argc == 3 ? argv[1] : NULL);
		return 0;
	}
	fxt_getopt_fill(&tables, true);
	opterr = 0;
	while ((value = getopt_long(argc, argv, tables.letters, tables.options, NULL)) != -1) {
		const struct fxt_option *option = fxt_option_of(value);

		if (value == '?' || value == ':') {
			fxtctl_say_meant(argv[optind - 1], tables.options);
			fxt_client_fail(2,
			        "%s: no such option, or its value is missing; fxtctl --help lists them all",
			        argv[optind - 1]);
		}
		if (option->result == FXT_COMMAND_LINE_HELP) {
			fxtctl_help();
			return 0;
		}
		if (option->result == FXT_COMMAND_LINE_VERSION) {
			puts("fxtctl " FXT_VERSION);
			return 0;
		}
		given[count++] = (struct given){option, value, optarg};
	}
	if (!argv[optind])
		fxt_client_fail(2, "no command given; fxtctl --help lists the commands");
	command = fxtctl_find_command(argv[optind]);
	fxtctl.operand = argv[optind + 1];
	fxtctl.params = json_object();
	if (command->operand && *command->operand != '[' && !fxtctl.operand)
		fxt_client_fail(2, "%s: needs %s", command->name, command->operand);
	if (fxtctl.operand && (!command->operand || argv[optind + 2]))
		fxt_client_fail(2, "more than one command given; fxtctl --help lists the commands");
	for (size_t i = 0; i < count; i++)
		fxtctl_check_option(command, &given[i]);
	for (size_t i = 0; i < count; i++)
		fxtctl_take(command, &given[i]);
	free(given);
	command->run();
	if (fflush(stdout) != 0 || ferror(stdout))
		fxt_client_fail(1, "standard output: %s", strerror(errno));
	return 0;
}
