/*
 * The rule book of fxt check, in one table, and its result for one trace: every broken
 * rule, how often it was broken, and where first.
 *
 * A rule says where it comes from: a section of the format's specification, or "viewers" if
 * the format allows the record and a viewer loses it. Five levels say what breaking it is:
 *
 *   must             a violation
 *   must if whole    the same; a warning in a trace that reports losses, because the record
 *                    that would satisfy the rule may be among the lost ones
 *   ours             lawful, so a warning; a violation in a trace of fxtrun, which promises
 *                    never to write it
 *   ours if whole    the same; always a warning in a trace that reports losses
 *   hint             lawful in every trace: a warning, because somebody loses something
 */
#ifndef FXT_READER_VERDICT_H
#define FXT_READER_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "elided.h"
#include "writer/format/archive_state.h"

enum fxt_rule_level {
	FXT_MUST,
	FXT_MUST_IF_WHOLE,
	FXT_OURS,
	FXT_OURS_IF_WHOLE,
	FXT_HINT,
};

#define FXT_RULES                                                                                          \
	RULE(RESERVED_BITS, MUST, "Encoding primitives", "reserved bits are not zero")                     \
	RULE(PADDING, MUST, "Encoding primitives", "padding after text or data is not zero")               \
	RULE(UTF8, MUST, "String record", "text is not UTF-8")                                             \
	RULE(UNKNOWN_STRING, MUST, "String references", "reference to a string never registered")          \
	RULE(EMPTY_INLINE, OURS, "String references", "inline string is empty; the reference should be 0") \
	RULE(LONG_STRING, MUST, "String references", "string is longer than 32000 bytes")                  \
	RULE(UNKNOWN_THREAD, MUST, "Thread references", "reference to a thread never registered")          \
	RULE(STRING_ZERO, MUST, "String record", "string record for index 0")                              \
	RULE(THREAD_ZERO, MUST, "Thread record", "thread record for index 0")                              \
	RULE(UNKNOWN_RECORD, HINT, "Extending the format", "unknown type of record")                       \
	RULE(UNKNOWN_EVENT, HINT, "Extending the format", "unknown type of event")                         \
	RULE(UNKNOWN_ARGUMENT, HINT, "Extending the format", "unknown type of argument")                   \
	RULE(LONG_ARGUMENT, OURS, "Extending the format", "argument is longer than its contents")          \
	RULE(UNKNOWN_PROVIDER_EVENT, HINT, "Provider event metadata", "unknown provider event")            \
	RULE(BUFFER_FULL, HINT, "Provider event metadata", "the buffer was full: records may be missing")  \
	RULE(UNANNOUNCED, MUST, "Provider section metadata", "section of a provider never announced")      \
	RULE(NO_TICKS, MUST, "Initialization record", "initialization record with 0 ticks a second")       \
	RULE(LATE_TIME, OURS, "viewers", "time is 2^63 nanoseconds or more")                               \
	RULE(NOT_NUMERIC, OURS, "viewers", "argument of a counter is not a number")                        \
	RULE(NO_NUMBER, OURS, "viewers", "counter without a numeric argument")                             \
	RULE(BACKWARDS, MUST, "Duration complete event", "slice ends before it starts")                    \
	RULE(NEVER_BEGAN, MUST_IF_WHOLE, "Duration begin event", "end of a duration that never began")     \
	RULE(SAME_START, OURS, "viewers",                                                                  \
	        "slice starts in the same nanosecond as another one of its thread")                        \
	RULE(OVERLAP, MUST, "Duration begin event", "slice overlaps another one of its thread")            \
	RULE(DEEP, HINT, "viewers",                                                                        \
	        "slice contains more than 512 nested slices: viewers drop the inner ones")                 \
	RULE(ASYNC_NEVER_BEGAN, MUST_IF_WHOLE, "Async begin event",                                        \
	        "end of an async event that never began")                                                  \
	RULE(FLOW_NEVER_BEGAN, HINT, "Flow begin event", "step or end of a flow that never began")         \
	RULE(FLOW_OUTSIDE, OURS_IF_WHOLE, "viewers", "flow outside of every slice of its thread")          \
	RULE(UNKNOWN_BLOB, HINT, "Blob record", "unknown type of blob")                                    \
	RULE(NO_PROCESS, OURS, "Kernel object record", "thread object without an argument \"process\"")    \
	RULE(PROCESS_NO_KOID, OURS, "Kernel object record",                                                \
	        "argument \"process\" of a thread object is not a koid")                                   \
	RULE(UNKNOWN_STATE, MUST, "Scheduling record", "unknown state of a thread")                        \
	RULE(STILL_RUNNING, MUST, "Scheduling record", "thread switched away from is still running")       \
	RULE(WEIGHT, OURS, "Scheduling record", "weight of a thread is not an int32")                      \
	RULE(LARGE_RECORD, OURS, "viewers",                                                                \
	        "large record of 4096 words or more: the Perfetto UI cannot read on")                      \
	RULE(UNFINISHED, MUST, "fxtrun", "the trace is unfinished: " FXT_ARCHIVE_UNFINISHED_TEXT)          \
	RULE(UNWRITTEN, MUST, "fxtrun", "the trace is cut: its file had no room for all records")

enum fxt_rule_number {
#define RULE(name, level, section, words) FXT_RULE_##name,
	FXT_RULES
#undef RULE
};

struct fxt_rule {
	enum fxt_rule_level level;
	const char *section, *words;
};

enum { FXT_VIOLATIONS_KEPT = 10 };

struct fxt_violation {
	uint64_t offset; /* of the record, or of the argument in it, in bytes */
	char detail[48]; /* the value; may be empty */
};

struct fxt_broken_rule {
	const char *rule; /* in words */
	bool warning;     /* else a violation */
	uint64_t count;
	struct fxt_violation first[FXT_VIOLATIONS_KEPT];
};

struct fxt_verdict {
	struct fxt_broken_rule *rules;
	size_t count, room;
	uint64_t violations;                /* in total */
	uint64_t warnings;                  /* in addition to these */
	uint64_t records;                   /* whole records seen */
	struct fxt_elided_sums elided_sums; /* elided calls are no violation */
	bool is_own;                        /* the trace is one of fxtrun's */
	bool is_lossy;                      /* it reports that records were lost or overwritten */
};

/* Notes that a rule is broken, with the value. */
void fxt_break(struct fxt_verdict *verdict, uint64_t offset, enum fxt_rule_number rule, const char *format,
        ...) __attribute__((format(printf, 4, 5)));

/* Notes a record that cannot be read, or framing that ends the trace: a violation. `reason`
 * is a literal. */
void fxt_break_framing(struct fxt_verdict *verdict, uint64_t offset, const char *reason);

/* A rule of the table by its number; NULL behind the last one. */
const struct fxt_rule *fxt_rule(size_t number);

void fxt_verdict_free(struct fxt_verdict *verdict);

#endif
