#include "launcher/options.h"
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launcher/runtime_dir.h"
#include "launcher/values.h"
#include "writer/heap.h"

#define MIB          (UINT64_C(1) << 20)
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Streaming at full rate takes 1.0-1.1 x the floor; with 16 MiB up to 1.3 x. */
#define DEFAULT_BUFFER_BYTES (64 * MIB)
/* The least whose durable buffer is as large as any. */
#define DEFAULT_DESCENDANT_BUFFER_BYTES (16 * MIB)

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

		if (!fxt_value_word(value, bytes, words, COUNT(words), &place))
			return "must be fork, exec, both with a comma between them, or none";
		o->follow |= place;
		value += bytes;
		if (!*value)
			return NULL;
	}
}

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
	if (!fxt_value_word(colon + 1, strlen(colon + 1), actions, COUNT(actions), &trigger->action))
		return "what it does must be stop, snapshot or terminate";
	memcpy(trigger->alert, value, bytes);
	o->trigger_count++;
	return NULL;
}

static const char *const on_full_words[] = {[FXT_ON_FULL_BLOCK] = "block", [FXT_ON_FULL_DROP] = "drop"};
static const char *const start_words[] = {
        [FXT_START_NOW] = "now", [FXT_START_PAUSED] = "paused", [FXT_START_CONTROLLER] = "controller"};

#define MEMBER(member)       offsetof(struct fxt_options, member)
#define FLAG(member)         .is_flag = true, .at = MEMBER(member)
#define WORDS(array, member) .words = array, .word_count = COUNT(array), .at = MEMBER(member)

/* Each row has one of: a setter, words, a flag, a result. */
static const struct row {
	const char *name;
	const char *argument; /* as --help shows it; NULL = takes none */
	const char *help;
	char letter; /* 0 = none */
	const char *(*set)(struct fxt_options *, const char *value);
	const char *const *words; /* the place of the value among them goes to an enum */
	size_t word_count;
	bool is_flag;                   /* a bool becomes true */
	size_t at;                      /* the member of either, in struct fxt_options */
	enum fxt_options_result result; /* ends the parsing */
} rows[] = {
        {"output-file", "FILE", "where the trace goes; - is standard output [trace.fxt]", .letter = 'o',
                .set = set_output_file},
        {"buffer-size", "MB",
                "memory for the records of a process, in MiB or with K, M, G [64 for the program, 16 for "
                "each process it starts]",
                .set = set_buffer_size},
        {"provider-buffer-size", "NAME:MB",
                "the same for processes of that name alone; may be given again for other names",
                .set = set_provider_buffer_size},
        {"populate", NULL,
                "touch all of that memory before the program runs: a longer start, and no slower calls at "
                "first",
                FLAG(populate)},
        {"buffering-mode", "MODE",
                "oneshot: keep the beginning; circular: keep the end; streaming: keep all [streaming]",
                WORDS(fxt_buffering_mode_words, buffering_mode)},
        {"on-full", "block|drop",
                "streaming, when the disk is too slow: make the program wait, or drop records and count them "
                "[block]",
                WORDS(on_full_words, on_full)},
        {"categories", "A,B",
                "record only these categories; a * at the end of a name stands for any rest [all]",
                .set = set_categories},
        {"start", "WHEN",
                "when to record: now; paused: when fxtctl says start; controller: the same, and the program "
                "itself begins once a controller has initialized the session [now]",
                WORDS(start_words, start)},
        {"trigger", "ALERT:ACTION",
                "stop, snapshot or terminate when an alert of that name is raised; may be given again",
                .set = set_trigger},
        {"heap", "MODE",
                "objects: record every allocation and free; sampled:BYTES: one in so many bytes; counters: "
                "how much lives; off [off]",
                .set = set_heap},
        {"heap-stacks", "FROM",
                "call paths of allocations from the shadow stack, unwind (libunwind), auto: either, or none "
                "[auto]",
                .set = set_heap_stacks},
        {"no-perfetto-heap", NULL, "no heap flame graph for the Perfetto UI in the trace",
                FLAG(no_perfetto_heap)},
        {"no-sched", NULL, "do not record when threads ran and waited", FLAG(no_sched)},
        {"calibrate", NULL, "measure first what recording a call costs here, for fxt report --corrected",
                FLAG(calibrate)},
        {"duration", "SECONDS",
                "end the session after so long, and the program with it (by SIGTERM) [when the program ends]",
                .set = set_duration},
        {"detach", NULL, "let the program go on, untraced, when the session ends", FLAG(detach)},
        {"decouple", NULL, "go on when the program ends, until the last process that came of it has ended",
                FLAG(decouple)},
        {"follow", "fork,exec|none",
                "record forked children, programs that are executed, or neither [fork,exec]",
                .set = set_follow},
        {"session", "NAME", "what fxtctl is to find this session by [the process number of fxtrun]",
                .set = set_session},
        {"help", NULL, "show this and exit", .result = FXT_OPTIONS_HELP},
        {"version", NULL, "show the version and exit", .result = FXT_OPTIONS_VERSION},
};
#define ROWS          COUNT(rows)
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

/* "must be a, b or c" */
static const char *must_be(const struct row *row)
{
	static char text[64];
	size_t used = 0;

	for (size_t i = 0; i < row->word_count; i++)
		if (row->words[i])
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
			        !used                     ? "must be "
			        : i + 1 < row->word_count ? ", "
			                                  : " or ",
			        row->words[i]);
	return text;
}

/* Does what an option says. Returns NULL, or what is wrong with its value. */
static const char *apply(const struct row *row, struct fxt_options *o, const char *value)
{
	void *member = (char *)o + row->at;

	if (row->set)
		return row->set(o, value);
	if (row->is_flag)
		*(bool *)member = true;
	else if (!fxt_value_word(value, strlen(value), row->words, row->word_count, member))
		return must_be(row);
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
		if (row->result)
			return row->result;
		wrong = apply(row, o, optarg);
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

/* Prints text in lines that begin in HELP_COLUMN, the first one after `column` that was printed already. */
static void print_help(const char *text, int column)
{
	enum { HELP_COLUMN = 30, WIDTH = 80 };

	if (column >= HELP_COLUMN)
		column = printf("\n") - 1;
	while (*text) {
		int line = (int)strlen(text);

		while (line > WIDTH - HELP_COLUMN || (text[line] && text[line] != ' '))
			line--;
		printf("%*s%.*s\n", HELP_COLUMN - column, "", line, text);
		column = 0;
		text += line + strspn(text + line, " ");
	}
}

void fxt_options_help(void)
{
	printf("Usage: fxtrun [options] [--] program [arguments]\n"
	       "Runs a program compiled with -finstrument-functions and records its calls.\n\n");
	for (const struct row *row = rows; row < rows + ROWS; row++) {
		int column = row->letter ? printf("  -%c, ", row->letter) : printf("      ");

		column += printf(
		        "--%s%s%s", row->name, row->argument ? "=" : "", row->argument ? row->argument : "");
		print_help(row->help, column);
	}
	printf("\nThe exit status is the program's (128+n: ended by signal n), or 125: fxtrun\n"
	       "failed, 126: the program cannot be executed, 127: it was not found.\n");
}
