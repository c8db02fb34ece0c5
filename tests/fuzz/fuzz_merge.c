/*
 * Any bytes as two traces that are merged, by the time of day where need be. The first word
 * says how many words the first one has. Whatever they are, each call of them is in the
 * merged trace, which has no record that cannot be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fxt/merge/write.h"

enum { TRACES = 2 };

static uint64_t fuzz_count_calls(const struct fxt_archive *archive)
{
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_record r;
	uint64_t calls = 0;

	while (fxt_next(&cursor, &r))
		calls += fxt_is_plain_call(r.words[0]);
	return calls;
}

static void fuzz_read_merged(char *data, size_t bytes, uint64_t calls)
{
	struct fxt_archive archive = {.words = (uint64_t *)data, .bytes = bytes};
	struct fxt_cursor cursor = fxt_cursor(&archive);
	struct fxt_record r;
	struct fxt_view view;

	while (fxt_next(&cursor, &r))
		if (fxt_decode(&r, &view) != NULL)
			abort();
	if (cursor.fault.reason || fuzz_count_calls(&archive) != calls)
		abort();
}

static void fuzz_write(const struct fxt_merge_input *inputs, const struct fxt_merge_clock *clocks,
        const struct fxt_merge_timeline *timeline)
{
	char said[512], *data;
	size_t bytes;
	FILE *out = open_memstream(&data, &bytes);

	if (!out)
		abort();
	fxt_merge_timeline_describe(timeline, said, sizeof(said));
	fxt_merge_write(out, inputs, clocks, TRACES, timeline, said);
	fclose(out);
	fuzz_read_merged(
	        data, bytes, fuzz_count_calls(&inputs[0].archive) + fuzz_count_calls(&inputs[1].archive));
	free(data);
}

static void fuzz_merge(struct fxt_merge_input *inputs, struct fxt_merge_clock *clocks,
        struct fxt_merge_messages *messages, struct fxt_merge_streams *streams)
{
	struct fxt_merge_timeline timeline;
	char error[1024];

	for (unsigned i = 0; i < TRACES; i++)
		if (fxt_merge_read(&inputs[i], &clocks[i], messages, streams, i, error, sizeof(error)) != 0)
			return;
	fxt_merge_streams_match(streams, clocks, TRACES, messages);
	if (fxt_merge_timeline_choose(
	            &timeline, clocks, TRACES, &streams->links, true, error, sizeof(error)) != 0)
		return;
	fxt_merge_messages_judge(messages, clocks, TRACES, &timeline);
	fxt_merge_settle(inputs, clocks, TRACES);
	fuzz_write(inputs, clocks, &timeline);
}

/* The words are the caller's to free, who has them from the archive before that is
 * closed. */
static void fuzz_open(struct fxt_archive *archive, const uint8_t *data, size_t bytes)
{
	uint64_t *words = calloc(bytes / 8 + 1, 8);

	if (!words)
		abort();
	memcpy(words, data, bytes);
	*archive = (struct fxt_archive){.words = words, .bytes = bytes};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fxt_merge_clock clocks[TRACES] = {{.name = "first"}, {.name = "second"}};
	struct fxt_merge_input inputs[TRACES] = {{.name = "first"}, {.name = "second"}};
	struct fxt_merge_messages messages;
	struct fxt_merge_streams streams;
	uint64_t words;
	size_t first;

	if (bytes < sizeof(words))
		return 0;
	memcpy(&words, data, sizeof(words));
	data += sizeof(words);
	bytes -= sizeof(words);
	first = words < bytes / 8 ? (size_t)words * 8 : bytes;
	fuzz_open(&inputs[0].archive, data, first);
	fuzz_open(&inputs[1].archive, data + first, bytes - first);
	fxt_merge_messages_init(&messages);
	fxt_merge_streams_init(&streams);
	fuzz_merge(inputs, clocks, &messages, &streams);
	fxt_merge_messages_free(&messages);
	fxt_merge_streams_free(&streams);
	for (unsigned i = 0; i < TRACES; i++) {
		uint64_t *own = (uint64_t *)(uintptr_t)inputs[i].archive.words;

		fxt_merge_free(&inputs[i]);
		free(own);
	}
	return 0;
}
