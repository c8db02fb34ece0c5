/*
 * fxtctl: queries a running session of fxtrun, starts and stops it, requests a snapshot, or
 * ends the session, over its control socket (control.h). This file reads the command line.
 */
#include "commands.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "client.h"
#include "launcher/values.h"
#include "reader/slices/nearest.h"

static const char help[] =
        "Usage: fxtctl [options] COMMAND\n"
        "Controls a session of fxtrun that runs.\n\n"
        "  list                the sessions that run\n"
        "  status              what a session does\n"
        "  providers           the processes it traces\n"
        "  categories [A,B]    what can be recorded; or has it record these alone from now on\n"
        "  start               begins to record, again or at last; with --clear=entire\n"
        "                      what the buffers hold goes first, nondurable: all but\n"
        "                      names, retain: nothing [retain]; with --categories=A,B\n"
        "                      these too are recorded\n"
        "  stop                stops recording; with --write-results what the buffers\n"
        "                      hold goes into the trace now, and is cleared\n"
        "  filter              has it record, from now on, what these say as options of\n"
        "                      fxtrun: --include=PATTERN, --exclude=PATTERN, -F or\n"
        "                      --only-under=PATTERN, -N or --not-under=PATTERN (again, or\n"
        "                      nothing behind the = for none), --filter-file=FILE, -D or\n"
        "                      --depth=N or any, and, where fxtrun was given one of them,\n"
        "                      -t or --min-duration=TIME, --max-calls=N or any\n"
        "  trigger [TRIGGER]   has something done when something happens, from now on, as fxtrun\n"
        "                      --trigger has it: EVENT:ACTION[/CONDITION]; or with --remove=N\n"
        "                      no more; or shows what triggers there are, and their numbers\n"
        "  record -o FILE      makes a recording of a program that runs with --start=idle,\n"
        "                      again and again if wanted, and waits for the trace: until\n"
        "                      --duration=TIME is over, on Ctrl-C, or when the program ends;\n"
        "                      with --buffering-mode=MODE, --categories=A,B, --trigger=TRIGGER\n"
        "                      and all options of filter, in place of what fxtrun was given;\n"
        "                      and --auto[=PERCENT] as fxtrun has it, after fxtrun --calibrate\n"
        "  snapshot [-o FILE]  has it write what its buffers hold (--buffering-mode=circular)\n"
        "  alert NAME          raises an alert\n"
        "  watch               shows alerts, and what becomes of the session, as it happens\n"
        "  terminate           ends the session, and its program by SIGTERM, unless it is to\n"
        "                      be detached\n"
        "  recover             makes a trace of what is left of a session whose recording\n"
        "                      process was killed, now and not once its program has ended\n\n"
        "      --session=NAME  the session, by name or process number [the only one that runs]\n"
        "      --json          show replies as they come, for programs\n"
        "  -h, --help          show this and exit\n"
        "      --version       show the version and exit\n\n"
        "The exit status is 0, or 1: it failed, or 2: wrong usage.\n";

/* ---- usage ---- */

static const struct command {
	const char *name;
	void (*run)(void);
	const char *options; /* letters of options for this command only */
	const char *operand; /* required argument, or optional if it is in brackets; NULL =
	                      * none */
} commands[] = {
        {"list", fxtctl_list, "", NULL},
        {"status", fxtctl_status, "", NULL},
        {"providers", fxtctl_providers, "", NULL},
        {"categories", fxtctl_categories, "", "[names]"},
        {"start", fxtctl_start, "cC", NULL},
        {"stop", fxtctl_stop, "w", NULL},
        {"filter", fxtctl_filter, "tMPD", NULL},
        {"trigger", fxtctl_trigger, "r", "[trigger]"},
        {"record", fxtctl_record, "oCtMPDmdTA", NULL},
        {"snapshot", fxtctl_snapshot, "o", NULL},
        {"alert", fxtctl_alert, "", "a name"},
        {"watch", fxtctl_watch, "", NULL},
        {"terminate", fxtctl_terminate, "", NULL},
        {"recover", fxtctl_recover, "", NULL},
};

static const struct command *fxtctl_find_command(const char *name)
{
	struct fxt_nearest nearest = fxt_nearest(fxt_span(name));

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (!strcmp(name, commands[i].name))
			return &commands[i];
		fxt_nearest_consider(&nearest, fxt_span(commands[i].name));
	}
	if (nearest.best.data)
		fxt_client_fail(2, "%s: no such command (did you mean %.*s?); fxtctl --help lists them all",
		        name, (int)nearest.best.bytes, nearest.best.data);
	fxt_client_fail(2, "%s: no such command; fxtctl --help lists them all", name);
}

/* Refuses options of another command than the given one. */
static void fxtctl_check_options(const struct command *command)
{
	const struct {
		bool is_given;
		char letter;
		const char *wrong;
	} special[] = {{fxtctl.file, 'o', "-o is for record and snapshot only"},
	        {fxtctl.mode, 'm', "--buffering-mode is for record only"},
	        {fxtctl.duration, 'd', "--duration is for record only"},
	        {fxtctl.muting_percent, 'A', "--auto is for record only"},
	        {fxtctl.clear, 'c', "--clear is for start only"},
	        {fxtctl.categories, 'C', "--categories is for start and record only"},
	        {fxtctl.min_duration, 't', "--min-duration is for filter and record only"},
	        {fxtctl.max_calls, 'M', "--max-calls is for filter and record only"},
	        {fxtctl.depth, 'D', "--depth is for filter and record only"},
	        {fxtctl.triggers, 'T', "--trigger is for record only"},
	        {fxtctl.remove, 'r', "--remove is for trigger only"},
	        {fxtctl.patterns, 'P', "patterns of functions are for filter and record only"},
	        {fxtctl.write_results, 'w', "--write-results is for stop only"}};

	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
		if (special[i].is_given && !strchr(command->options, special[i].letter))
			fxt_client_fail(2, "%s", special[i].wrong);
}

/* Ends the process if another option was meant. */
static void fxtctl_say_meant(const char *given, const struct option *options)
{
	const char *meant = fxt_nearest_option(given, options);

	if (meant && strncmp(given + 2, meant, strlen(meant)) != 0)
		fxt_client_fail(2, "%s: no such option (did you mean --%s?); fxtctl --help lists them all",
		        given, meant);
}

int main(int argc, char **argv)
{
	static const struct option table[] = {{"session", required_argument, NULL, 's'},
	        {"json", no_argument, NULL, 'j'}, {"output-file", required_argument, NULL, 'o'},
	        {"clear", required_argument, NULL, 'c'}, {"categories", required_argument, NULL, 'C'},
	        {"min-duration", required_argument, NULL, 't'}, {"max-calls", required_argument, NULL, 'M'},
	        {"include", required_argument, NULL, 'I'}, {"exclude", required_argument, NULL, 'X'},
	        {"only-under", required_argument, NULL, 'F'}, {"not-under", required_argument, NULL, 'N'},
	        {"depth", required_argument, NULL, 'D'}, {"filter-file", required_argument, NULL, 'f'},
	        {"trigger", required_argument, NULL, 'T'}, {"remove", required_argument, NULL, 'r'},
	        {"buffering-mode", required_argument, NULL, 'm'}, {"duration", required_argument, NULL, 'd'},
	        {"auto", optional_argument, NULL, 'A'}, {"write-results", no_argument, NULL, 'w'},
	        {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'v'}, {NULL, 0, NULL, 0}};
	const struct command *command;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "ho:t:F:N:D:", table, NULL)) != -1)
		switch (option) {
		case 's':
			fxtctl.session = optarg;
			break;
		case 'j':
			fxtctl.json = true;
			break;
		case 'o':
			fxtctl.file = optarg;
			break;
		case 'c':
			fxtctl.clear = optarg;
			break;
		case 'C':
			fxtctl.categories = optarg;
			break;
		case 't':
			fxtctl.min_duration = optarg;
			break;
		case 'M':
			fxtctl.max_calls = optarg;
			break;
		case 'I':
			fxtctl_take_pattern(FXT_RECORD_FILTER_INCLUDE, optarg);
			break;
		case 'X':
			fxtctl_take_pattern(FXT_RECORD_FILTER_EXCLUDE, optarg);
			break;
		case 'F':
			fxtctl_take_pattern(FXT_RECORD_FILTER_ONLY_UNDER, optarg);
			break;
		case 'N':
			fxtctl_take_pattern(FXT_RECORD_FILTER_NOT_UNDER, optarg);
			break;
		case 'D':
			fxtctl.depth = optarg;
			break;
		case 'f':
			fxtctl_take_filter_file(optarg);
			break;
		case 'T':
			fxtctl_take_trigger(optarg);
			break;
		case 'r':
			fxtctl.remove = optarg;
			break;
		case 'm':
			fxtctl.mode = optarg;
			break;
		case 'd':
			fxtctl.duration = optarg;
			break;
		case 'A':
			fxtctl.muting_percent = optarg ? optarg : FXT_MUTING_PERCENT;
			break;
		case 'w':
			fxtctl.write_results = true;
			break;
		case 'h':
			fputs(help, stdout);
			return 0;
		case 'v':
			puts("fxtctl " FXT_VERSION);
			return 0;
		default:
			fxtctl_say_meant(argv[optind - 1], table);
			fxt_client_fail(2,
			        "%s: no such option, or its value is missing; fxtctl --help lists them all",
			        argv[optind - 1]);
		}
	if (!argv[optind])
		fxt_client_fail(2, "no command given; fxtctl --help lists the commands");
	command = fxtctl_find_command(argv[optind]);
	fxtctl.operand = argv[optind + 1];
	if (command->operand && *command->operand != '[' && !fxtctl.operand)
		fxt_client_fail(2, "%s: needs %s", command->name, command->operand);
	if (fxtctl.operand && (!command->operand || argv[optind + 2]))
		fxt_client_fail(2, "more than one command given; fxtctl --help lists the commands");
	fxtctl_check_options(command);
	command->run();
	if (fflush(stdout) != 0 || ferror(stdout))
		fxt_client_fail(1, "standard output: %s", strerror(errno));
	return 0;
}
