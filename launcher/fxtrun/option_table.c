/*
 * The table of fxtrun's options and the setters of their values. Setters must change
 * nothing but the options, and print nothing.
 */
#include "option_table.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launcher/filter_file.h"
#include "launcher/runtime_dir.h"
#include "launcher/values.h"
#include "reader/slices/query_filter.h"
#include "writer/engine/heap.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* ---- setters: readers of values (message.h) ---- */

static const char *option_output_file(struct fxt_options *o, const char *value)
{
	o->output_file = value;
	o->keeps_old = false;
	return fxt_value_trace_file(value);
}

static const char *option_session(struct fxt_options *o, const char *value)
{
	o->session = value;
	return fxt_session_name_is_valid(value)
	               ? NULL
	               : "must be at most 31 letters, digits, - _ or ., and not begin with .";
}

static const char *option_buffer_size(struct fxt_options *o, const char *value)
{
	const char *wrong = fxt_value_buffer_bytes(value, &o->buffer_bytes);

	o->descendant_buffer_bytes = o->buffer_bytes;
	return wrong;
}

static const char *option_provider_buffer_size(struct fxt_options *o, const char *value)
{
	const char *colon = strrchr(value, ':'); /* the last one: a name may contain colons */
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

static const char *option_total_size(struct fxt_options *o, const char *value)
{
	return fxt_value_size(value, &o->total_bytes);
}

static const char *option_heap(struct fxt_options *o, const char *value)
{
	return fxt_heap_mode_read(value, &o->heap_mode, &o->heap_sample_bytes);
}

static const char *option_heap_stacks(struct fxt_options *o, const char *value)
{
	return fxt_heap_stacks_read(value, &o->heap_stacks);
}

static const char *option_duration(struct fxt_options *o, const char *value)
{
	return fxt_value_time(value, &o->duration_ns);
}

static const char *option_follow(struct fxt_options *o, const char *value)
{
	static const char *const words[] = {[FXT_FOLLOW_FORK] = "fork", [FXT_FOLLOW_EXEC] = "exec"};

	o->follow = FXT_FOLLOW_NONE;
	if (!strcmp(value, "none"))
		return NULL;
	for (;; value++) {
		size_t bytes = strcspn(value, ",");
		unsigned bit;

		if (!fxt_value_word(value, bytes, words, COUNT(words), &bit))
			return "must be fork, exec, both with a comma between them, or none";
		o->follow |= bit;
		value += bytes;
		if (!*value)
			return NULL;
	}
}

static const char *option_categories(struct fxt_options *o, const char *value)
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

static const char *option_include(struct fxt_options *o, const char *value)
{
	return fxt_record_filter_add(&o->filter, FXT_RECORD_FILTER_INCLUDE, value);
}

static const char *option_exclude(struct fxt_options *o, const char *value)
{
	return fxt_record_filter_add(&o->filter, FXT_RECORD_FILTER_EXCLUDE, value);
}

static const char *option_only_under(struct fxt_options *o, const char *value)
{
	return fxt_record_filter_add(&o->filter, FXT_RECORD_FILTER_ONLY_UNDER, value);
}

static const char *option_not_under(struct fxt_options *o, const char *value)
{
	return fxt_record_filter_add(&o->filter, FXT_RECORD_FILTER_NOT_UNDER, value);
}

static const char *option_depth(struct fxt_options *o, const char *value)
{
	return fxt_value_depth(value, &o->depth_limit);
}

static const char *option_min_duration(struct fxt_options *o, const char *value)
{
	const char *colon = strrchr(value, ':'); /* the last one: a pattern may contain colons */
	uint64_t ns;
	const char *wrong = fxt_options_read_min_duration(colon ? colon + 1 : value, &ns);

	if (wrong)
		return colon ? "must be a pattern and a time with a unit, such as parse:10us" : wrong;
	if (colon)
		return fxt_record_filter_add_limit(
		        &o->filter, FXT_RECORD_FILTER_MIN_DURATION, value, (size_t)(colon - value), ns);
	o->has_min_duration = true;
	o->limits.min_duration_ns = ns;
	return NULL;
}

static const char *option_max_calls(struct fxt_options *o, const char *value)
{
	const char *colon = strrchr(value, ':');
	uint64_t calls;
	const char *wrong = fxt_value_max_calls(colon ? colon + 1 : value, &calls);

	if (wrong)
		return colon ? "must be a pattern and a number of calls, such as parse:100" : wrong;
	if (colon)
		return fxt_record_filter_add_limit(
		        &o->filter, FXT_RECORD_FILTER_MAX_CALLS, value, (size_t)(colon - value), calls);
	o->limits.first_counted = calls + 1;
	return NULL;
}

static const char *option_auto(struct fxt_options *o, const char *value)
{
	o->calibrate = true; /* the share of time that recording takes is computed from the
	                      * cost of a call */
	return fxt_value_muting_percent(value ? value : FXT_MUTING_PERCENT, &o->muting_percent);
}

static const char *option_take_pattern(void *options, enum fxt_record_filter_kind kind, const char *pattern)
{
	struct fxt_options *o = options;

	return fxt_record_filter_add(&o->filter, kind, pattern);
}

static const char *option_filter_file(struct fxt_options *o, const char *value)
{
	return fxt_filter_file_read(value, option_take_pattern, o);
}

static const char *option_trigger(struct fxt_options *o, const char *value)
{
	struct fxt_trigger *trigger = &o->triggers[o->trigger_count];
	const char *wrong;

	if (o->trigger_count == FXT_TRIGGERS)
		return "may be given 15 times";
	wrong = fxt_trigger_read(trigger, value);
	if (!wrong)
		wrong = fxt_trigger_select(trigger, o->trigger_count, &o->filter);
	o->trigger_count += !wrong;
	return wrong;
}

static const char *const on_full_words[] = {[FXT_ON_FULL_BLOCK] = "block", [FXT_ON_FULL_DROP] = "drop"};
static const char *const start_words[] = {[FXT_START_NOW] = "now",
        [FXT_START_PAUSED] = "paused",
        [FXT_START_CONTROLLER] = "controller",
        [FXT_START_IDLE] = "idle"};

/* ---- the options ---- */

#define FLAG(name) .is_flag = true, .member = offsetof(struct fxt_options, name)
#define WORDS(array, name) \
	.words = array, .word_count = COUNT(array), .member = offsetof(struct fxt_options, name)

const struct fxt_option fxt_option_table[] = {
        {"output-file", "FILE",
                "where the trace goes; - is standard output (the program's own goes to standard error); "
                "compressed if it ends in .zst [trace.fxt]",
                .letter = 'o', .set = option_output_file, .is_for_command_line = true},
        {"buffer-size", "MB",
                "memory for the records of a process, in MiB or with K, M, G [64 for the program, 16 for "
                "each process it starts]",
                .set = option_buffer_size},
        {"provider-buffer-size", "NAME:MB",
                "the same for processes of that name alone; may be given again for other names",
                .set = option_provider_buffer_size},
        {"populate", NULL,
                "touch all of that memory before the program runs: a longer start, and no slower calls at "
                "first",
                FLAG(populate)},
        {"buffering-mode", "MODE",
                "oneshot: keep the beginning; circular: keep the end; streaming: keep all [streaming]",
                WORDS(fxt_buffering_mode_words, buffering_mode)},
        {"total-size", "MB",
                "circular: keep so much in all, and drop whole processes that have ended, the oldest first "
                "[256, or 4 times --buffer-size if that is more]",
                .set = option_total_size},
        {"on-full", "block|drop",
                "streaming, when the disk is too slow: make the program wait, or drop records and count them "
                "[block]",
                WORDS(on_full_words, on_full)},
        {"categories", "A,B",
                "record only these categories; a * at the end of a name stands for any rest [all]",
                .set = option_categories},
        {"include", "PATTERN",
                "record the calls of these functions alone; a pattern is 'parse*' or '/^parse_/' for names, "
                "file:parse.c, module:libz*; may be given again",
                .set = option_include},
        {"exclude", "PATTERN", "do not record the calls of these functions, included or not",
                .set = option_exclude},
        {"only-under", "PATTERN", "record the calls of these functions and those inside of them alone",
                .letter = 'F', .set = option_only_under},
        {"not-under", "PATTERN", "record neither the calls of these functions nor those inside of them",
                .letter = 'N', .set = option_not_under},
        {"filter-file", "FILE",
                "patterns from a file: on each line one of these four options without dashes, and a pattern",
                .set = option_filter_file},
        {"depth", "N", "record so many calls deep; counted anew inside of a function of --only-under",
                .letter = 'D', .set = option_depth},
        {"min-duration", "[PATTERN:]TIME",
                "record a call only if it takes so long, or something inside of it is recorded; the others "
                "are counted; may be given again for other functions",
                .letter = 't', .set = option_min_duration},
        {"max-calls", "[PATTERN:]N",
                "record the first N calls of each function, and count the others; may be given again for "
                "other functions",
                .set = option_max_calls},
        {"no-patch", NULL,
                "leave the programs' code as it is; without this, calls of hooks are taken out of it for "
                "functions that are left out, and for all while no calls are recorded",
                FLAG(no_patch)},
        {"auto", "[=PERCENT]",
                "mute functions with many short calls as long as recording takes more than so much of the "
                "time that the program runs [20]; measures first what a call costs, as --calibrate does",
                .set = option_auto, .is_optional = true},
        {"start", "WHEN",
                "when to record: now; paused: when fxtctl says start; controller: the same, and the program "
                "itself begins once a controller has initialized the session; idle: whenever fxtctl record "
                "says, into a file each [now]",
                WORDS(start_words, start), .is_for_command_line = true},
        {"trigger", "EVENT:ACTION",
                "start, stop, snapshot or terminate when an alert of that name is raised, a call takes so "
                "long ('FUNC>TIME'), begins or ends ('FUNC=begin', 'FUNC=end'), or a process dies "
                "(signal=SEGV, exit!=0); snapshot/10s: at most one in 10 s, or in 1 s by default; may be "
                "given again",
                .set = option_trigger, .is_for_command_line = true},
        {"heap", "MODE",
                "auto: record every allocation and free of processes with instrumented code; objects: of "
                "all; "
                "sampled:BYTES: one in so many bytes; counters: how much lives; off [auto]",
                .set = option_heap},
        {"heap-stacks", "FROM",
                "call paths of allocations from the shadow stack, unwind (walked stacks), auto: either, or "
                "none [auto]",
                .set = option_heap_stacks},
        {"no-perfetto-heap", NULL, "no heap flame graph for the Perfetto UI in the trace",
                FLAG(no_perfetto_heap)},
        {"raw", NULL, "leave functions without names in the trace; fxt symbolize adds them", FLAG(raw)},
        {"no-sched", NULL, "do not record when threads ran and waited, nor page faults", FLAG(no_sched)},
        {"calibrate", NULL, "measure first what recording a call costs here, for fxt report --corrected",
                FLAG(calibrate)},
        {"duration", "TIME",
                "end the session after so long, and the program with it (by SIGTERM) [when the program ends]",
                .set = option_duration, .is_for_command_line = true},
        {"detach", NULL, "let the program go on, untraced, when the session ends", FLAG(detach),
                .is_for_command_line = true},
        {"decouple", NULL, "go on when the program ends, until the last process that came of it has ended",
                FLAG(decouple), .is_for_command_line = true},
        {"follow", "fork,exec|none",
                "record forked children, programs that are executed, or neither [fork,exec]",
                .set = option_follow},
        {"session", "NAME", "what fxtctl is to find this session by [the process number of fxtrun]",
                .set = option_session, .is_for_command_line = true},
        {"help", NULL, "show this and exit", .letter = 'h', .result = FXT_COMMAND_LINE_HELP,
                .is_for_command_line = true},
        {"version", NULL, "show the version and exit", .result = FXT_COMMAND_LINE_VERSION,
                .is_for_command_line = true},
};
const unsigned fxt_option_count = COUNT(fxt_option_table);
_Static_assert(COUNT(fxt_option_table) <= FXT_OPTIONS_MAX, "the parser's tables hold all options");
