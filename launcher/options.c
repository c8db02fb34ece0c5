#include "options.h"
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "place.h"
#include "values.h"
#include "writer/heap.h"

#define MIB (UINT64_C(1) << 20)

#define DEFAULT_BUFFER_BYTES                                                          \
	(64 * MIB) /* streaming at full rate: 1.0-1.1 x the floor, 16 MiB up to 1.3 x \
	            */
#define DEFAULT_DESCENDANT_BUFFER_BYTES (16 * MIB) /* the least whose durable buffer is as large as any */

/* The setters return NULL, or what is wrong with the value. */

static const char *set_output_file(struct fxt_options *o, const char *value)
{
	o->output_file = value;
	return *value ? NULL : "needs the name of a file";
}

static const char *set_session(struct fxt_options *o, const char *value)
{
	o->session = value;
	return fxt_session_name_is_valid(value)
	               ? NULL
	               : "must be at most 31 letters, digits, - _ or ., and not begin with .";
}

static const char *set_buffer_size(struct fxt_options *o, const char *value)
{
	const char *wrong = fxt_value_buffer_bytes(value, &o->buffer_bytes);

	o->descendant_buffer_bytes = o->buffer_bytes;
	return wrong;
}

static const char *set_provider_buffer_size(struct fxt_options *o, const char *value)
{
	const char *colon = strrchr(value, ':'); /* the last: a name may have some */
	struct fxt_provider_spec spec = {value, colon ? (size_t)(colon - value) : 0, 0};
	const char *wrong;

	if (spec.name_bytes == 0)
		return "must be the name of a program and a size, such as server:256";
	if (spec.name_bytes > FXT_NAME_BYTES)
		return "a name may have at most 100 bytes";
	if (o->provider_spec_count == FXT_PROVIDER_SPECS)
		return "may be given for at most 100 programs";
	wrong = fxt_value_buffer_bytes(colon + 1, &spec.buffer_bytes);
	if (!wrong)
		o->provider_specs[o->provider_spec_count++] = spec;
	return wrong;
}

#define WORD(value, words, place) FXT_VALUE_WORD(value, strlen(value), words, place)

static const char *set_buffering_mode(struct fxt_options *o, const char *value)
{
	static const char *const modes[] = {
	        [FXT_ONESHOT] = "oneshot", [FXT_CIRCULAR] = "circular", [FXT_STREAMING] = "streaming"};

	return WORD(value, modes, &o->buffering_mode) ? NULL : "must be oneshot, circular or streaming";
}

static const char *set_on_full(struct fxt_options *o, const char *value)
{
	static const char *const ways[] = {[FXT_ON_FULL_BLOCK] = "block", [FXT_ON_FULL_DROP] = "drop"};

	return WORD(value, ways, &o->on_full) ? NULL : "must be block or drop";
}

static const char *set_heap(struct fxt_options *o, const char *value)
{
	return fxt_heap_mode_read(value, &o->heap_mode, &o->heap_sample_bytes);
}

static const char *set_heap_stacks(struct fxt_options *o, const char *value)
{
	return fxt_heap_stacks_read(value, &o->heap_stacks);
}

static const char *set_duration(struct fxt_options *o, const char *value)
{
	return fxt_value_seconds(value, &o->duration_ns);
}

static const char *set_follow(struct fxt_options *o, const char *value)
{
	static const char *const words[] = {[FXT_FOLLOW_FORK] = "fork", [FXT_FOLLOW_EXEC] = "exec"};

	o->follow = FXT_FOLLOW_NONE;
	if (!strcmp(value, "none"))
		return NULL;
	for (;; value++) {
		size_t bytes = strcspn(value, ",");
		unsigned place;

		if (!FXT_VALUE_WORD(value, bytes, words, &place))
			return "must be fork, exec, both with a comma between them, or none";
		o->follow |= place;
		value += bytes;
		if (!*value)
			return NULL;
	}
}

/* Options that take no value. */
#define SET_FLAG(member)                                                           \
	static const char *set_##member(struct fxt_options *o, const char *unused) \
	{                                                                          \
		(void)unused;                                                      \
		o->member = true;                                                  \
		return NULL;                                                       \
	}
SET_FLAG(no_perfetto_heap)
SET_FLAG(no_sched)
SET_FLAG(calibrate)
SET_FLAG(populate)
SET_FLAG(detach)
SET_FLAG(decouple)

static const char *set_categories(struct fxt_options *o, const char *value)
{
	o->categories.bytes = 0;
	for (;;) {
		size_t bytes = strcspn(value, ",");

		if (bytes == 0)
			return "must be names with one comma between two of them";
		if (bytes > FXT_NAME_BYTES)
			return "a name may have at most 100 bytes";
		if (o->categories.bytes + bytes + 1 > sizeof(o->categories.names))
			return "the names may have at most 2048 bytes together, one more counted for each";
		memcpy(o->categories.names + o->categories.bytes, value, bytes);
		o->categories.names[o->categories.bytes + bytes] = 0;
		o->categories.bytes += bytes + 1;
		if (!value[bytes])
			return NULL;
		value += bytes + 1;
	}
}

static const char *set_start(struct fxt_options *o, const char *value)
{
	static const char *const words[] = {[FXT_START_NOW] = "now",
	        [FXT_START_PAUSED] = "paused",
	        [FXT_START_CONTROLLER] = "controller"};

	return WORD(value, words, &o->start) ? NULL : "must be now, paused or controller";
}

static const char *set_trigger(struct fxt_options *o, const char *value)
{
	static const char *const actions[] = {[FXT_TRIGGER_STOP] = "stop",
	        [FXT_TRIGGER_SNAPSHOT] = "snapshot",
	        [FXT_TRIGGER_TERMINATE] = "terminate"};
	struct fxt_trigger *trigger = &o->triggers[o->trigger_count];
	const char *colon = strrchr(value, ':'); /* the last: a name may have some */
	size_t bytes = colon ? (size_t)(colon - value) : 0;

	if (bytes == 0 || bytes >= sizeof(trigger->alert))
		return "must be the name of an alert, of 1 to 14 bytes, and what it does, such as "
		       "slow:snapshot";
	if (o->trigger_count == FXT_TRIGGERS)
		return "may be given 16 times";
	if (!WORD(colon + 1, actions, &trigger->action))
		return "what it does must be stop, snapshot or terminate";
	memcpy(trigger->alert, value, bytes);
	o->trigger_count++;
	return NULL;
}

/* Rows without a setter end the parsing with `result`. */
static const struct row {
	const char *name;
	const char *argument; /* as --help shows it; NULL = takes none */
	const char *(*set)(struct fxt_options *, const char *value);
	enum fxt_options_result result;
	char letter; /* 0 = none */
	const char *help;
} rows[] = {
        {"output-file", "FILE", set_output_file, 0, 'o',
                "where the trace goes; - is standard output\n"
                "[trace.fxt]"},
        {"buffer-size", "MB", set_buffer_size, 0, 0,
                "memory for the records of a process, in MiB or\n"
                "with K, M, G [64 for the program, 16 for each\n"
                "process it starts]"},
        {"provider-buffer-size", "NAME:MB", set_provider_buffer_size, 0, 0,
                "the same for processes of that name alone; may be\n"
                "given again for other names"},
        {"populate", NULL, set_populate, 0, 0,
                "touch all of that memory before the program runs:\n"
                "a longer start, and no slower calls at first"},
        {"buffering-mode", "MODE", set_buffering_mode, 0, 0,
                "oneshot: keep the beginning; circular: keep the\n"
                "end; streaming: keep all [streaming]"},
        {"on-full", "block|drop", set_on_full, 0, 0,
                "streaming, when the disk is too slow: make the\n"
                "program wait, or drop records and count them\n"
                "[block]"},
        {"categories", "A,B", set_categories, 0, 0,
                "record only these categories; a * at the end of a\n"
                "name stands for any rest [all]"},
        {"start", "WHEN", set_start, 0, 0,
                "when to record: now; paused: when fxtctl says\n"
                "start; controller: the same, and the program\n"
                "itself begins once a controller has initialized\n"
                "the session [now]"},
        {"trigger", "ALERT:ACTION", set_trigger, 0, 0,
                "stop, snapshot or terminate when an alert of that\n"
                "name is raised; may be given again"},
        {"heap", "MODE", set_heap, 0, 0,
                "objects: record every allocation and free;\n"
                "sampled:BYTES: one in so many bytes; counters: how\n"
                "much lives; off [off]"},
        {"heap-stacks", "FROM", set_heap_stacks, 0, 0,
                "call paths of allocations from the shadow stack,\n"
                "unwind (libunwind), auto: either, or none [auto]"},
        {"no-perfetto-heap", NULL, set_no_perfetto_heap, 0, 0,
                "no heap flame graph for the Perfetto UI in the\n"
                "trace"},
        {"no-sched", NULL, set_no_sched, 0, 0, "do not record when threads ran and waited"},
        {"calibrate", NULL, set_calibrate, 0, 0,
                "measure first what recording a call costs here,\n"
                "for fxt report --corrected"},
        {"duration", "SECONDS", set_duration, 0, 0,
                "end the session after so long, and the program\n"
                "with it (by SIGTERM) [when the program ends]"},
        {"detach", NULL, set_detach, 0, 0,
                "let the program go on, untraced, when the session\n"
                "ends"},
        {"decouple", NULL, set_decouple, 0, 0,
                "go on when the program ends, until the last\n"
                "process that came of it has ended"},
        {"follow", "fork,exec|none", set_follow, 0, 0,
                "record forked children, programs that are\n"
                "executed, or neither [fork,exec]"},
        {"session", "NAME", set_session, 0, 0,
                "what fxtctl is to find this session by [the\n"
                "process number of fxtrun]"},
        {"help", NULL, NULL, FXT_OPTIONS_HELP, 0, "show this and exit"},
        {"version", NULL, NULL, FXT_OPTIONS_VERSION, 0, "show the version and exit"},
};
#define ROWS          (sizeof(rows) / sizeof(*rows))
#define FIRST_ROW_VAL 256 /* getopt_long() returns this plus the number of a row */

static const struct row *row_of(int val)
{
	if (val >= FIRST_ROW_VAL)
		return &rows[val - FIRST_ROW_VAL];
	for (const struct row *row = rows; row < rows + ROWS; row++)
		if (val && row->letter == val)
			return row;
	return NULL;
}

enum fxt_options_result fxt_options_parse(
        struct fxt_options *o, int argc, char **argv, char *error, size_t error_bytes)
{
	char letters[2 + 2 * ROWS + 1] = "+:"; /* stop at the program; tell a missing value apart */
	struct option table[ROWS + 1] = {0};
	char *letter = letters + 2;
	int val;

	for (unsigned i = 0; i < ROWS; i++) {
		table[i] = (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument,
		        NULL, FIRST_ROW_VAL + (int)i};
		if (rows[i].letter) {
			*letter++ = rows[i].letter;
			if (rows[i].argument)
				*letter++ = ':';
		}
	}

	*o = (struct fxt_options){
	        .output_file = "trace.fxt",
	        .buffer_bytes = DEFAULT_BUFFER_BYTES,
	        .descendant_buffer_bytes = DEFAULT_DESCENDANT_BUFFER_BYTES,
	        .buffering_mode = FXT_STREAMING,
	        .on_full = FXT_ON_FULL_BLOCK,
	        .start_patience_ns = FXT_START_PATIENCE_NS,
	        .follow = FXT_FOLLOW_FORK | FXT_FOLLOW_EXEC,
	};

	optind = 0; /* glibc: begin anew, whatever was parsed before */
	opterr = 0;
	while ((val = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		const struct row *row = row_of(val == '?' || val == ':' ? optopt : val);
		const char *wrong;

		if (val == ':') {
			snprintf(error, error_bytes,
			        "--%s=%s: the value is missing; fxtrun --help explains it", row->name,
			        row->argument);
			return FXT_OPTIONS_WRONG;
		}
		if (val == '?') {
			if (row)
				snprintf(error, error_bytes, "--%s takes no value", row->name);
			else if (optopt)
				snprintf(error, error_bytes,
				        "unknown option -%c; fxtrun --help lists them all", optopt);
			else
				snprintf(error, error_bytes,
				        "unknown option %s; fxtrun --help lists them all", argv[optind - 1]);
			return FXT_OPTIONS_WRONG;
		}
		if (!row->set)
			return row->result;
		wrong = row->set(o, optarg);
		if (wrong) {
			snprintf(error, error_bytes, "--%s=%s: %s", row->name, optarg, wrong);
			return FXT_OPTIONS_WRONG;
		}
	}

	o->program = argv + optind;
	if (!*o->program) {
		snprintf(error, error_bytes, "no program given; use: fxtrun [options] program [arguments]");
		return FXT_OPTIONS_WRONG;
	}
	return FXT_OPTIONS_RUN;
}

uint64_t fxt_options_buffer_bytes(
        const struct fxt_options *o, const char *name, size_t name_bytes, bool is_program)
{
	for (unsigned i = o->provider_spec_count; i-- > 0;) {
		const struct fxt_provider_spec *spec = &o->provider_specs[i];

		if (spec->name_bytes == name_bytes && memcmp(spec->name, name, name_bytes) == 0)
			return spec->buffer_bytes;
	}
	return is_program ? o->buffer_bytes : o->descendant_buffer_bytes;
}

void fxt_options_help(void)
{
	enum { HELP_COLUMN = 30 };

	printf("Usage: fxtrun [options] [--] program [arguments]\n"
	       "Runs a program compiled with -finstrument-functions and records its calls.\n\n");
	for (const struct row *row = rows; row < rows + ROWS; row++) {
		const char *help = row->help;
		int column = row->letter ? printf("  -%c, ", row->letter) : printf("      ");

		column += printf(
		        "--%s%s%s", row->name, row->argument ? "=" : "", row->argument ? row->argument : "");
		if (column >= HELP_COLUMN)
			column = printf("\n") - 1;
		for (;;) {
			int line = (int)strcspn(help, "\n");

			printf("%*s%.*s\n", HELP_COLUMN - column, "", line, help);
			if (!help[line])
				break;
			help += line + 1;
			column = 0;
		}
	}
	printf("\nThe exit status is the program's (128+n: ended by signal n), or 125: fxtrun\n"
	       "failed, 126: the program cannot be executed, 127: it was not found.\n");
}
