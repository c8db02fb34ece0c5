#include "options.h"
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "place.h"

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
	static const char units[] = "KMG";
	char *end;
	uint64_t number = strtoull(value, &end, 10);
	const char *unit = *end ? strchr(units, *end) : &units[1];
	uint64_t bytes;

	if (*value < '0' || *value > '9' || !unit || (*end && end[1]))
		return "must be a number of MiB, or a number with K, M or G, such as 64 or 256K";
	bytes = number << 10 * (unit - units + 1);
	/* The number alone is compared first: the shift may overflow, as may strtoull, which then gives the
	 * largest. */
	if (number > FXT_BUFFER_MAX_BYTES >> 10 || bytes < FXT_BUFFER_MIN_BYTES ||
	        bytes > FXT_BUFFER_MAX_BYTES || bytes % 4096)
		return "must be a multiple of 4K, at least 4K and at most 4G";
	o->buffer_bytes = o->descendant_buffer_bytes = bytes;
	return NULL;
}

static const char *set_buffering_mode(struct fxt_options *o, const char *value)
{
	static const char *const modes[] = {
	        [FXT_ONESHOT] = "oneshot", [FXT_CIRCULAR] = "circular", [FXT_STREAMING] = "streaming"};

	for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(value, modes[i])) {
			o->buffering_mode = (enum fxt_buffering_mode)i;
			return NULL;
		}
	return "must be oneshot, circular or streaming";
}

static const char *set_on_full(struct fxt_options *o, const char *value)
{
	if (!strcmp(value, "block"))
		o->on_full = FXT_ON_FULL_BLOCK;
	else if (!strcmp(value, "drop"))
		o->on_full = FXT_ON_FULL_DROP;
	else
		return "must be block or drop";
	return NULL;
}

static const char *set_heap(struct fxt_options *o, const char *value)
{
	static const char sampled[] = "sampled:";
	static const char *const modes[] = {
	        [FXT_HEAP_OFF] = "off", [FXT_HEAP_OBJECTS] = "objects", [FXT_HEAP_COUNTERS] = "counters"};

	for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (modes[i] && !strcmp(value, modes[i])) {
			o->heap_mode = (enum fxt_heap_mode)i;
			return NULL;
		}
	if (strncmp(value, sampled, sizeof(sampled) - 1) != 0 || !value[sizeof(sampled) - 1])
		return "must be objects, sampled:BYTES, counters or off";
	value += sizeof(sampled) - 1;
	char *end;
	uint64_t number = strtoull(value, &end, 10);
	unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;

	if (*value < '0' || *value > '9' || end[shift != 0] || number == 0 || number > UINT32_MAX >> shift)
		return "BYTES must be a number from 1 to 4G, or one with K or M, such as 512K";
	o->heap_mode = FXT_HEAP_SAMPLED;
	o->heap_sample_bytes = number << shift;
	return NULL;
}

static const char *set_heap_stacks(struct fxt_options *o, const char *value)
{
	static const char *const stacks[] = {[FXT_HEAP_STACKS_AUTO] = "auto",
	        [FXT_HEAP_STACKS_SHADOW] = "shadow",
	        [FXT_HEAP_STACKS_UNWIND] = "unwind",
	        [FXT_HEAP_STACKS_NONE] = "none"};

	for (unsigned i = 0; i < sizeof(stacks) / sizeof(*stacks); i++)
		if (!strcmp(value, stacks[i])) {
			o->heap_stacks = (enum fxt_heap_stacks)i;
			return NULL;
		}
	return "must be auto, shadow, unwind or none";
}

static const char *set_no_perfetto_heap(struct fxt_options *o, const char *value)
{
	(void)value;
	o->no_perfetto_heap = true;
	return NULL;
}

static const char *set_categories(struct fxt_options *o, const char *value)
{
	o->categories_bytes = 0;
	for (;;) {
		size_t bytes = strcspn(value, ",");

		if (bytes == 0)
			return "must be names with one comma between two of them";
		if (bytes > FXT_NAME_BYTES)
			return "a name may have at most 100 bytes";
		if (o->categories_bytes + bytes + 1 > sizeof(o->categories))
			return "the names may have at most 2048 bytes together, one more counted for each";
		memcpy(o->categories + o->categories_bytes, value, bytes);
		o->categories[o->categories_bytes + bytes] = 0;
		o->categories_bytes += bytes + 1;
		if (!value[bytes])
			return NULL;
		value += bytes + 1;
	}
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
                "where the trace goes; - is standard output [trace.fxt]"},
        {"buffer-size", "MB", set_buffer_size, 0, 0,
                "memory for the records of a process, in MiB or with K, M, G\n"
                "[64 for the program, 16 for each process it starts]"},
        {"buffering-mode", "MODE", set_buffering_mode, 0, 0,
                "oneshot: keep the beginning; circular: keep the end;\n"
                "streaming: keep all [streaming]"},
        {"on-full", "block|drop", set_on_full, 0, 0,
                "streaming, when the disk is too slow: make the program\n"
                "wait, or drop records and count them [block]"},
        {"categories", "A,B", set_categories, 0, 0,
                "record only these categories; a * at the end of a name\n"
                "stands for any rest [all]"},
        {"heap", "MODE", set_heap, 0, 0,
                "objects: record every allocation and free; sampled:BYTES:\n"
                "one in so many bytes; counters: how much lives; off [off]"},
        {"heap-stacks", "FROM", set_heap_stacks, 0, 0,
                "call paths of allocations from the shadow stack, unwind\n"
                "(libunwind), auto: either, or none [auto]"},
        {"no-perfetto-heap", NULL, set_no_perfetto_heap, 0, 0,
                "no heap flame graph for the Perfetto UI in the trace"},
        {"session", "NAME", set_session, 0, 0,
                "what fxtctl is to find this session by [the process\n"
                "number of fxtrun]"},
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
		for (;;) {
			int line = (int)strcspn(help, "\n");

			printf("%*s%.*s\n", HELP_COLUMN - column, "", line, help);
			if (!help[line])
				break;
			help += line + 1;
			column = 0;
		}
	}
	printf("\nThe exit status is the program's (128+n: ended by signal n), or 125: fxtrun failed,\n"
	       "126: the program cannot be executed, 127: it was not found.\n");
}
