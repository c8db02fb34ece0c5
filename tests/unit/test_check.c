/*
 * fxt check against traces that break one rule each, and against the harmless ones next to
 * them. The words are worked out by hand from the text of the format; they follow what
 * begin_trace() registers.
 */
#include "trace.h"

#include "reader/trace/check.h"

#define ABC         0x0000000000636261
#define CALL        0x0002000101040034 /* name 2, category 1, thread 1: a complete duration of 3 words */
#define BEGIN       0x0002000101020024
#define END         0x0002000101030024
#define INSTANT     0x0002000101000024
#define ASYNC_BEGIN 0x0002000101050034 /* then a time and an id */
#define ASYNC_END   0x0002000101070034
#define FLOW_BEGIN  0x0002000101080034
#define FLOW_STEP   0x0002000101090034
#define FLOW_END    0x00020001010a0034
#define SECTION1    0x0000000000120010

struct broken {
	const char *rule;
	int at; /* which word of `words` the offset names */
	size_t count;
	uint64_t words[16];
};

static const struct broken corpus[] = {
        /* Framing. */
        {"record of size 0, so nothing after it can be found", 0, 2, {0x4, CALL}},
        {"truncated inside a record", 0, 2, {CALL, 10}},
        {"record is shorter than its contents", 0, 1, {0x11}},

        /* Metadata and what is registered. */
        {"magic record with another number than the format's", 0, 1, {0x0016547847040010}},
        {"section of a provider never announced", 0, 2, {0x0000000000920010, SECTION1}},
        {"initialization record with 0 ticks a second", 0, 2, {0x21, 0}},
        {"string record for index 0", 0, 2, {0x0000000300000022, ABC}},
        {"thread record for index 0", 0, 3, {0x0000000000000033, 5, 6}},

        /* Reserved bits. */
        {"reserved bits are not zero", 0, 1, {0x1000000000110010}},
        {"reserved bits are not zero", 0, 1, {0x0010000000120010}},
        {"reserved bits are not zero", 0, 2, {0x10021, 1000000000}},
        {"reserved bits are not zero", 0, 2, {0x0000000380070022, ABC}},
        {"reserved bits are not zero", 0, 2, {0x0000800300070022, ABC}},
        {"reserved bits are not zero", 0, 3, {0x0000000001070033, 5, 6}},
        {"reserved bits are not zero", 0, 2, {0x0001800300020025, ABC}},
        {"reserved bits are not zero", 0, 2, {0x0101000300020025, ABC}},
        {"reserved bits are not zero", 0, 2, {0x0000100002010026, 7}},
        {"reserved bits are not zero", 0, 2, {0x0000100002010027, 7}},
        {"reserved bits are not zero", 0, 4, {0x1000010000000048, 10, 5, 6}},
        {"reserved bits are not zero", 0, 3, {0x2000001000000038, 10, 5}},
        {"reserved bits are not zero", 0, 3, {0x0000000180030039, 10, ABC}},
        {"reserved bits are not zero", 0, 3, {0x0000010100030039, 10, ABC}},
        {"reserved bits are not zero", 0, 4, {0x000011000000004f, 0x20001, 3, ABC}},
        {"reserved bits are not zero", 0, 4, {0x000001000000004f, 0x100020001, 3, ABC}},
        {"reserved bits are not zero", 0, 5, {0x000000000000005f, 0x0000101000020001, 10, 3, ABC}},
        {"reserved bits are not zero", 2, 3, {0x0002000101100034, 10, 0x0000000100040010}},
        {"reserved bits are not zero", 2, 4, {0x0002000101100044, 10, 0x0000000100040023, 5}},
        {"reserved bits are not zero", 2, 3, {0x0002000101100034, 10, 0x0001000200040016}},
        {"reserved bits are not zero", 2, 3, {0x0002000101100034, 10, 0x0000000300040019}},

        /* Strings and data. */
        {"reference to a string never registered", 0, 3, {0x0009000101040034, 10, 20}},
        {"reference to a string never registered", 0, 3, {0x0002000901040034, 10, 20}},
        {"reference to a string never registered", 2, 3, {0x0002000101100034, 10, 0x0000000000090010}},
        {"reference to a string never registered", 2, 3, {0x0002000101100034, 10, 0x0000000900040016}},
        {"reference to a string never registered", 0, 2, {0x0000000009010026, 7}},
        {"reference to a string never registered", 0, 2, {0x0000000009010027, 7}},
        {"reference to a string never registered", 0, 2, {0x0001000300090025, ABC}},
        {"reference to a string never registered", 0, 4, {0x000001000000004f, 0x90001, 3, ABC}},
        {"reference to a string never registered", 0, 4, {0x000001000000004f, 0x20009, 3, ABC}},
        {"text is not UTF-8", 0, 2, {0x0000000200070022, 0x61ff}},
        {"text is not UTF-8", 0, 2, {0x0000000200070022, 0x80c0}},
        {"text is not UTF-8", 0, 2, {0x0000000200070022, 0xc361}},
        {"text is not UTF-8", 0, 2, {0x0000000300070022, 0x80a0ed}},
        {"text is not UTF-8", 0, 2, {0x0000000400070022, 0x808090f4}},
        {"text is not UTF-8", 0, 3, {0x0000000100010039, 10, 0xff}},
        {"text is not UTF-8", 0, 2, {0x0010000000910020, 0xff}},
        {"text is not UTF-8", 0, 4, {0x8001000101040044, 10, 0xff, 20}},
        {"padding after text or data is not zero", 0, 2, {0x0000000300070022, 0x01000000636261}},
        {"padding after text or data is not zero", 0, 3, {0x0000000100030039, 10, 0x61636261}},
        {"padding after text or data is not zero", 0, 2, {0x0001000300020025, 0x61636261}},
        {"padding after text or data is not zero", 0, 4, {0x8003000101040044, 10, 0x61636261, 20}},
        {"padding after text or data is not zero", 0, 4, {0x000001000000004f, 0x20001, 3, 0x61636261}},
        {"padding after text or data is not zero", 2, 4,
                {0x0002000101100044, 10, 0x0000000080030020, 0x61636261}},
        {"padding after text or data is not zero", 2, 4,
                {0x0002000101100044, 10, 0x000000030004002a, 0x61636261}},

        /* Threads. */
        {"reference to a thread never registered", 0, 3, {0x0002000109040034, 10, 20}},
        {"reference to a thread never registered", 0, 2, {0x0000000002090026, 7}},
        {"reference to a thread never registered", 0, 3, {0x0000000900030039, 10, ABC}},
        {"reference to a thread never registered", 0, 2, {0x0000001095000028, 10}},
        {"reference to a thread never registered", 0, 2, {0x0000009015000028, 10}},
        {"reference to a thread never registered", 0, 4, {0x000000000000004f, 0x0000009000020001, 10, 0}},

        /* Arguments. */
        {"argument of size 0", 0, 3, {0x0002000101100034, 10, 0x0000000000040000}},
        {"argument is longer than its record", 0, 3, {0x0002000101100034, 10, 0x0000000000040020}},
        {"argument is shorter than its contents", 0, 3, {0x0002000101100034, 10, 0x0000000000040013}},
        {"record is shorter than its arguments", 0, 2, {0x0002000101100024, 10}},

        /* Events and other records. */
        {"unknown state of a thread", 0, 4, {0x1000006000000048, 10, 5, 6}},
        {"thread switched away from is still running", 0, 2, {0x0000001011000028, 10}},

        /* Times. */
        {"slice ends before it starts", 0, 3, {CALL, 20, 10}},

        /* Nesting; in the order of ends, as traces have it. */
        {"end of a duration that never began", 0, 2, {END, 10}},
        {"end of a duration that never began", 2, 4, {BEGIN, 20, END, 10}},
        {"end of a duration that never began", 0, 4, {END, 10, BEGIN, 20}},
        {"end of a duration that never began", 4, 6, {BEGIN, 5, END, 10, END, 11}},
        {"slice overlaps another one of its thread", 3, 6, {CALL, 10, 20, CALL, 15, 25}},
        {"slice overlaps another one of its thread", 0, 7, {BEGIN, 15, CALL, 10, 20, END, 25}},
        /* In other orders. */
        {"slice overlaps another one of its thread", 0, 6, {CALL, 15, 25, CALL, 10, 20}},
        {"slice overlaps another one of its thread", 3, 9, {CALL, 1, 90, CALL, 15, 25, CALL, 10, 20}},

        /* Flows and async events; ids of flows are a process's, of async events those of
         * their name. */
        {"end of an async event that never began", 0, 3, {ASYNC_END, 15, 7}},
        {"end of an async event that never began", 3, 6, {0x0001000101050034, 10, 7, ASYNC_END, 15, 7}},
        {"end of an async event that never began", 6, 9,
                {ASYNC_BEGIN, 10, 7, ASYNC_END, 15, 7, ASYNC_END, 16, 7}},
};

/* The format allows these, and viewers lose something: warnings. fxtrun promises not to
 * write them, so they are violations in its own traces. */
static const struct broken ours[] = {
        {"inline string is empty; the reference should be 0", 0, 3, {0x8000000101040034, 10, 20}},
        {"inline string is empty; the reference should be 0", 2, 3,
                {0x0002000101100034, 10, 0x0000000080000010}},
        {"thread object without an argument \"process\"", 0, 2, {0x0000000002020027, 7}},
        {"argument \"process\" of a thread object is not a koid", 0, 4,
                {0x0000010002020047, 7, 0x0000000000030024, 100}},
        {"argument is longer than its contents", 2, 4, {0x0002000101100044, 10, 0x0000000500040021, 0}},
        {"argument is longer than its contents", 3, 5,
                {0x0002000101200054, 10, 0x0000000500040011, 0x0000000000040020, 0}},
        {"counter without a numeric argument", 0, 3, {0x0002000101010034, 10, 77}},
        {"argument of a counter is not a number", 3, 6,
                {0x0002000101210064, 10, 0x0000000500040011, 0x0000000000040027, 0xdead, 77}},
        {"weight of a thread is not an int32", 0, 6,
                {0x2000000000010068, 10, 5, 0x0000000080060034, 0x0000746867696577, 5}},
        {"weight of a thread is not an int32", 0, 7,
                {0x1000000000010078, 10, 5, 6, 0x00000005800f0032, 0x676e696d6f636e69, 0x007468676965775f}},
        {"weight of a thread is not an int32", 0, 7,
                {0x1000000000010078, 10, 5, 6, 0x00000005800f0032, 0x676e696f6774756f, 0x007468676965775f}},
        {"time is 2^63 nanoseconds or more", 0, 2, {INSTANT, 0x8000000000000000}},
        {"time is 2^63 nanoseconds or more", 0, 3, {CALL, 10, 0x8000000000000000}},
        {"time is 2^63 nanoseconds or more", 2, 4, {0x21, 1, INSTANT, 0x7fffffffffffffff}},
        {"time is 2^63 nanoseconds or more", 0, 3, {0x2000000000000038, 0x8000000000000000, 5}},
        {"time is 2^63 nanoseconds or more", 0, 2, {0x0000000100000029, 0x8000000000000000}},
        {"time is 2^63 nanoseconds or more", 0, 4,
                {0x000000000000004f, 0x0000001000020001, 0x8000000000000000, 0}},
        {"slice starts in the same nanosecond as another one of its thread", 3, 6,
                {CALL, 10, 20, CALL, 10, 30}},
        {"slice starts in the same nanosecond as another one of its thread", 3, 6,
                {CALL, 10, 10, CALL, 10, 30}},
        {"slice starts in the same nanosecond as another one of its thread", 0, 5, {BEGIN, 10, CALL, 10, 20}},
        {"slice starts in the same nanosecond as another one of its thread", 5, 8,
                {0x21, 10000000000, CALL, 101, 120, CALL, 100, 130}},
        {"slice starts in the same nanosecond as another one of its thread", 0, 6,
                {CALL, 10, 30, CALL, 10, 20}},
        {"flow outside of every slice of its thread", 3, 6, {CALL, 10, 20, FLOW_BEGIN, 25, 7}},
        {"flow outside of every slice of its thread", 0, 6, {FLOW_BEGIN, 9, 7, CALL, 10, 20}},
        {"flow outside of every slice of its thread", 0, 8,
                {FLOW_BEGIN, 15, 7, 0x0002000100040054, 10, 5, 6, 20}},
};

/* Breaks no rule, and is reported: `at` is the word of the offset. */
static const struct broken warned[] = {
        {"unknown type of record", 0, 1, {0x1a}},
        {"unknown type of record", 0, 1, {0x0000000000050010}},
        {"unknown type of record", 0, 1, {0x0016547846140010}},
        {"unknown type of record", 0, 2, {0x3000000000000028, 10}},
        {"unknown type of record", 0, 4, {0x000001100000004f, 0x20001, 3, ABC}},
        {"unknown type of record", 0, 4, {0x000002000000004f, 0x20001, 3, ABC}},
        {"unknown provider event", 0, 1, {0x0010000000130010}},
        {"the buffer was full: records may be missing", 0, 1, {0x0000000000130010}},
        {"the buffer was full: records may be missing", 0, 3, {0x0000000000930010, 0x0010000000910020, 0x61}},
        {"unknown type of argument", 2, 3, {0x0002000101100034, 10, 0x000000000004001b}},
        {"unknown type of event", 0, 2, {0x00020001010b0024, 10}},
        {"unknown type of event", 0, 3, {0x00020001010b0034, 10, 5}},
        {"unknown type of blob", 0, 2, {0x0000000300020025, ABC}},
        {"step or end of a flow that never began", 0, 6, {FLOW_END, 15, 7, CALL, 10, 20}},
        {"step or end of a flow that never began", 3, 9, {FLOW_BEGIN, 15, 8, FLOW_STEP, 16, 7, CALL, 10, 20}},
        {"step or end of a flow that never began", 0, 16,
                {FLOW_END, 15, 7, 0x0002000100080054, 15, 5, 6, 7, 0x0002000100040054, 10, 5, 6, 20, CALL, 10,
                        20}},
};

/* Behind a full buffer: the other part of these may have been lost, so they are
 * warnings. */
static const struct broken lossy[] = {
        {"flow outside of every slice of its thread", 1, 4, {0x0000000000130010, FLOW_BEGIN, 15, 7}},
        {"end of an async event that never began", 1, 4, {0x0000000000130010, ASYNC_END, 15, 7}},
        {"end of a duration that never began", 1, 3, {0x0000000000130010, END, 15}},
};

static const struct {
	const char *what;
	size_t count;
	uint64_t words[12];
} harmless[] = {
        {"the scope word of Fuchsia's instants", 3, {0x0002000101000034, 10, 1}},
        {"a longer initialization record", 3, {0x31, 1000000000, 0}},
        {"a string record without text", 1, {0x0000000000070012}},
        {"no category", 3, {0x0002000001040034, 10, 20}},
        {"no name", 3, {0x0000000101040034, 10, 20}},
        {"a slice of no length", 3, {CALL, 10, 10}},
        {"a slice of no length on an inline thread", 5, {0x0002000100040054, 10, 5, 6, 10}},
        {"a slice of no length by two records", 4, {BEGIN, 10, END, 10}},
        {"the last time there is", 3, {CALL, 10, 0x7fffffffffffffff}},
        {"the last time there is, of an instant", 2, {INSTANT, 0x7fffffffffffffff}},
        {"a slice begun and not ended", 2, {BEGIN, 10}},
        {"a slice begun before others and not ended", 5, {CALL, 10, 20, BEGIN, 5}},
        {"slices one after the other, inside one", 9, {CALL, 10, 20, CALL, 20, 30, CALL, 5, 30}},
        {"the outer one first", 6, {CALL, 10, 30, CALL, 15, 20}},
        {"the outer one first, ending together", 6, {CALL, 10, 30, CALL, 15, 30}},
        {"the same times on another thread", 8, {CALL, 10, 30, 0x0002000100040054, 10, 5, 6, 30}},
        {"overlapping instants", 4, {INSTANT, 10, INSTANT, 10}},
        {"another type of kernel object", 2, {0x0000000002030027, 7}},
        {"no initialization record: a tick is a nanosecond", 5,
                {0x0000000000210010, 0x0000000000000044, 10, 5, 6}},
        {"words behind the contents of a call", 4, {0x0002000101040044, 10, 20, 0}},
        {"words behind the contents of an instant", 4, {0x0002000101000044, 10, 0, 0}},
        {"words behind the contents of a section", 2, {0x0000000000120020, 0}},
        {"words behind the contents of a thread record", 4, {0x0000000000070043, 5, 6, 0}},
        {"a flow in a call that comes later, its end before its begin", 9,
                {FLOW_END, 16, 7, FLOW_BEGIN, 15, 7, CALL, 10, 20}},
        {"a flow begun and not ended", 6, {CALL, 10, 20, FLOW_BEGIN, 15, 7}},
        {"a flow in a call that never ended", 5, {FLOW_BEGIN, 15, 7, BEGIN, 10}},
        {"a slice of two records, the end first", 4, {END, 20, BEGIN, 10}},
        {"the same around another one", 7, {END, 20, BEGIN, 10, CALL, 12, 14}},
        {"slices in each other, their ends first", 8, {END, 40, END, 30, BEGIN, 20, BEGIN, 10}},
        {"async events, the end first", 6, {ASYNC_END, 16, 7, ASYNC_BEGIN, 15, 7}},
        {"an async event not ended", 3, {ASYNC_BEGIN, 15, 7}},
        {"an empty blob", 1, {0x0001000000020015}},
        {"the last type of blob", 1, {0x0003000000020015}},
};

static struct trace trace;

/* Checks a copy of just that size, so that a tool that watches memory sees a byte too
 * much. */
static void check(struct fxt_verdict *verdict)
{
	uint64_t *copy = malloc(trace.count * 8);
	struct fxt_archive archive = {.words = copy, .bytes = trace.count * 8};

	memcpy(copy, trace.words, trace.count * 8);
	fxt_check_archive(&archive, verdict);
	free(copy);
}

/* A trace with the words breaks their rule, at their offset; *verdict is to be freed. */
static void check_broken(const struct broken *broken, struct fxt_verdict *verdict)
{
	uint64_t offset = (trace.count + (size_t)broken->at) * 8;
	const struct fxt_broken_rule *last;

	put_words(&trace, broken->words, broken->count);
	check(verdict);
	if (verdict->count == 0)
		fail_msg("%s: no rule is broken", broken->rule);
	last = &verdict->rules[verdict->count - 1];
	assert_string_equal(last->rule, broken->rule);
	if (last->first[0].offset != offset)
		fail_msg("%s: at word %" PRId64 ", not %d", broken->rule,
		        (int64_t)(last->first[0].offset - offset) / 8 + broken->at, broken->at);
}

/* One rule is broken, or one warning given. */
static void told_once(const struct broken *corpus, size_t count, bool warning, bool is_own)
{
	const struct fxt_anchor anchor = {0};

	for (size_t i = 0; i < count; i++) {
		struct fxt_verdict verdict;

		begin_trace(&trace);
		if (is_own)
			PUT(&trace, anchor, &anchor);
		check_broken(&corpus[i], &verdict);
		if (verdict.violations != !warning || verdict.warnings != warning)
			fail_msg("line %zu, %s: %" PRIu64 " violations, the first: %s", i, corpus[i].rule,
			        verdict.violations, verdict.violations ? verdict.rules[0].rule : "none");
		fxt_verdict_free(&verdict);
	}
}

static void broken_rules(void **state)
{
	(void)state;
	told_once(corpus, COUNT(corpus), false, false);
}

static void warnings(void **state)
{
	(void)state;
	told_once(warned, COUNT(warned), true, false);
	told_once(warned, COUNT(warned), true, true);
}

static void promises_of_fxtrun(void **state)
{
	(void)state;
	told_once(ours, COUNT(ours), true, false);
	told_once(ours, COUNT(ours), false, true);
}

static void bits_of_a_provider_event(void **state)
{
	struct fxt_verdict verdict;

	(void)state;
	begin_trace(&trace);
	put_words(&trace, (uint64_t[]){0x0100000000130010}, 1);
	check(&verdict);
	assert_int_equal(verdict.violations, 1);
	assert_string_equal(verdict.rules[0].rule, "reserved bits are not zero");
	fxt_verdict_free(&verdict);
}

static void after_a_loss(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lossy); i++) {
		struct fxt_verdict verdict;

		begin_trace(&trace);
		check_broken(&lossy[i], &verdict);
		assert_int_equal(verdict.violations, 0);
		assert_int_equal(verdict.warnings, 2);
		assert_string_equal(verdict.rules[0].rule, "the buffer was full: records may be missing");
		fxt_verdict_free(&verdict);
	}
}

/* Viewers draw 512 slices in each other, whichever order the file has them in. */
static void deep_slices(void **state)
{
	(void)state;
	for (uint64_t depth = 512; depth <= 513; depth++) {
		for (int inner_first = 0; inner_first <= 1; inner_first++) {
			struct fxt_verdict verdict;

			begin_trace(&trace);
			for (uint64_t i = 1; i <= depth; i++) {
				uint64_t at = inner_first ? depth + 1 - i : i;

				put_words(&trace, (uint64_t[]){CALL, at, 2000 - at}, 3);
			}
			check(&verdict);
			assert_int_equal(verdict.violations, 0);
			assert_int_equal(verdict.warnings, depth == 513);
			fxt_verdict_free(&verdict);
		}
	}
}

static void is_sound(const char *what)
{
	struct fxt_verdict verdict;

	check(&verdict);
	if (verdict.violations + verdict.warnings != 0)
		fail_msg("%s: %s", what, verdict.rules[0].rule);
	fxt_verdict_free(&verdict);
}

static void harmless_traces(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(harmless); i++) {
		begin_trace(&trace);
		put_words(&trace, harmless[i].words, harmless[i].count);
		is_sound(harmless[i].what);
	}
	every_record(&trace);
	is_sound("every record");
}

/* Archives of one provider need no metadata about it. */
static void no_provider(void **state)
{
	static const uint64_t call[] = {CALL, 10, 20};

	(void)state;
	trace.count = 0;
	PUT(&trace, magic);
	PUT(&trace, initialization, 1000000000);
	put_text(&trace, FUNCTION, "function");
	put_text(&trace, NAME, "main");
	PUT(&trace, thread, 1, PROCESS, THREAD);
	put_words(&trace, call, 3);
	is_sound("no provider");
}

/* Registrations of one provider, or from before it was announced again, mean nothing. */
static void tables_of_providers(void **state)
{
	static const uint64_t call[] = {CALL, 10, 20};

	(void)state;
	for (uint32_t provider = 1; provider <= 2; provider++) {
		struct fxt_verdict verdict;

		begin_trace(&trace);
		PUT(&trace, provider_info, provider, "again", 5);
		PUT(&trace, initialization, 1000000000);
		uint64_t offset = trace.count * 8;

		put_words(&trace, call, 3);
		check(&verdict);
		assert_int_equal(verdict.count, 2);
		assert_string_equal(verdict.rules[0].rule, "reference to a thread never registered");
		assert_int_equal(verdict.rules[0].count, 1);
		assert_int_equal(verdict.rules[0].first[0].offset, offset);
		assert_string_equal(verdict.rules[1].rule, "reference to a string never registered");
		assert_int_equal(verdict.rules[1].count, 2);
		fxt_verdict_free(&verdict);
	}
}

static void is_broken_if(bool expected, const char *rule)
{
	struct fxt_verdict verdict;

	check(&verdict);
	assert_int_equal(verdict.violations, expected);
	if (expected)
		assert_string_equal(verdict.rules[0].rule, rule);
	fxt_verdict_free(&verdict);
}

static void long_strings(void **state)
{
	(void)state;
	for (uint64_t bytes = 32000; bytes <= 32008; bytes += 8) {
		begin_trace(&trace);
		uint64_t *record = trace.words + trace.count;

		record[0] = 0x2 | (1 + bytes / 8) << 4 | 7 << 16 | bytes << 32;
		memset(record + 1, 'a', bytes);
		trace.count += 1 + bytes / 8;
		is_broken_if(bytes > 32000, "string is longer than 32000 bytes");

		/* An instant with an inline name. */
		begin_trace(&trace);
		record[0] = 0x0000000101000004 | (2 + bytes / 8) << 4 | (0x8000 | bytes) << 48;
		record[1] = 10;
		memset(record + 2, 'a', bytes);
		trace.count += 2 + bytes / 8;
		is_broken_if(bytes > 32000, "string is longer than 32000 bytes");
	}
}

static void large_records(void **state)
{
	struct fxt_verdict verdict;

	(void)state;
	for (uint64_t words = 4095; words <= 4096; words++) {
		begin_trace(&trace);
		uint64_t *record = &trace.words[trace.count];

		memset(record, 0, words * 8);
		record[0] = 0xf | words << 4 | UINT64_C(1) << 40;
		record[1] = 0x20001;
		record[2] = (words - 3) * 8;
		trace.count += words;
		check(&verdict);
		assert_int_equal(verdict.violations, 0);
		assert_int_equal(verdict.warnings, words == 4096);
		fxt_verdict_free(&verdict);
	}
}

/* If many records break one rule, the first ones are kept, and all are counted. */
static void many_violations(void **state)
{
	struct fxt_verdict verdict;

	(void)state;
	begin_trace(&trace);
	uint64_t offset = trace.count * 8;

	for (int i = 0; i < 25; i++) {
		uint64_t call[] = {0x0009000101040034, 10 + 100 * (uint64_t)i, 20 + 100 * (uint64_t)i};

		put_words(&trace, call, 3);
	}
	check(&verdict);
	assert_int_equal(verdict.count, 1);
	assert_int_equal(verdict.rules[0].count, 25);
	for (uint64_t i = 0; i < FXT_VIOLATIONS_KEPT; i++) {
		assert_int_equal(verdict.rules[0].first[i].offset, offset + i * 24);
		assert_string_equal(verdict.rules[0].first[i].detail, "string 9");
	}
	fxt_verdict_free(&verdict);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(broken_rules),
	        cmocka_unit_test(warnings),
	        cmocka_unit_test(promises_of_fxtrun),
	        cmocka_unit_test(bits_of_a_provider_event),
	        cmocka_unit_test(after_a_loss),
	        cmocka_unit_test(deep_slices),
	        cmocka_unit_test(harmless_traces),
	        cmocka_unit_test(no_provider),
	        cmocka_unit_test(tables_of_providers),
	        cmocka_unit_test(long_strings),
	        cmocka_unit_test(large_records),
	        cmocka_unit_test(many_violations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
