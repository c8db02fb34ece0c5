#include "values.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/duration.h"
#include "reader/slices/span.h"
#include "writer/shared/shared.h"

const char *const fxt_buffering_mode_words[FXT_BUFFERING_MODES] = {
        [FXT_ONESHOT] = "oneshot", [FXT_CIRCULAR] = "circular", [FXT_STREAMING] = "streaming"};
const char *const fxt_buffering_mode_names[FXT_BUFFERING_MODES] = {
        [FXT_ONESHOT] = "ONESHOT", [FXT_CIRCULAR] = "CIRCULAR", [FXT_STREAMING] = "STREAMING"};

const char *const fxt_pattern_fields[FXT_RECORD_FILTER_PATTERNS] = {
        [FXT_RECORD_FILTER_INCLUDE] = "include",
        [FXT_RECORD_FILTER_EXCLUDE] = "exclude",
        [FXT_RECORD_FILTER_ONLY_UNDER] = "only_under",
        [FXT_RECORD_FILTER_NOT_UNDER] = "not_under",
};

/* Reads a number of MiB, or one with a unit, up to `most` bytes. False: it is none. */
static bool value_bytes(const char *text, uint64_t most, uint64_t *bytes)
{
	static const char units[] = "KMG";
	char *end;
	uint64_t number = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : &units[1];

	if (*text < '0' || *text > '9' || !unit || (*end && end[1]))
		return false;
	/* The number alone is compared first, because the shift may overflow. strtoull()
	 * may overflow too, and then returns the largest value. */
	*bytes = number > most >> 10 ? UINT64_MAX : number << 10 * (unit - units + 1);
	return true;
}

#define VALUE_NO_SIZE "must be a number of MiB, or a number with K, M or G, such as 64 or 256K"

const char *fxt_value_buffer_bytes(const char *text, uint64_t *result)
{
	uint64_t bytes;

	if (!value_bytes(text, FXT_BUFFER_MAX_BYTES, &bytes))
		return VALUE_NO_SIZE;
	if (bytes < FXT_BUFFER_MIN_BYTES || bytes > FXT_BUFFER_MAX_BYTES || bytes % 4096)
		return "must be a multiple of 4K, at least 4K and at most 4G";
	*result = bytes;
	return NULL;
}

const char *fxt_value_size(const char *text, uint64_t *result)
{
	uint64_t bytes;

	if (!value_bytes(text, FXT_SIZE_MAX_BYTES, &bytes))
		return VALUE_NO_SIZE;
	if (bytes < FXT_SIZE_MIN_BYTES || bytes > FXT_SIZE_MAX_BYTES)
		return "must be at least 1M and at most 1024G";
	*result = bytes;
	return NULL;
}

const char *fxt_value_time(const char *text, uint64_t *nanoseconds)
{
	char with_unit[64];
	bool has_unit = *text && !strchr("0123456789.", text[strlen(text) - 1]);

	snprintf(with_unit, sizeof(with_unit), "%s%s", text, has_unit ? "" : "s");
	if (!fxt_duration_parse(with_unit, nanoseconds) || *nanoseconds == 0 ||
	        *nanoseconds > FXT_TIME_MAX_NS)
		return "must be a time above 0, such as 10 (seconds), 0.5 or 100ms";
	return NULL;
}

const char *fxt_value_depth(const char *text, uint32_t *depth)
{
	char *end;
	unsigned long calls = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || calls < 1 || calls > FXT_DEPTH_MAX)
		return "must be a number of calls, from 1 to 4094";
	*depth = (uint32_t)calls;
	return NULL;
}

const char *fxt_value_trace_file(const char *text)
{
	if (!*text)
		return "needs the name of a file";
	return fxt_ends_with(fxt_span(text), ".gz")
	               ? "cannot be a .gz: a gzip file cannot be changed in part later; name a .zst"
	               : NULL;
}

const char *fxt_value_max_calls(const char *text, uint64_t *calls)
{
	char *end;

	*calls = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && *calls <= FXT_MAX_CALLS_MAX
	               ? NULL
	               : "must be a number of calls, such as 100";
}

const char *fxt_value_muting_percent(const char *text, unsigned *percent)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number < 1 || number > FXT_MUTING_PERCENT_MAX)
		return "must be a number of percent, from 1 to 99";
	*percent = (unsigned)number;
	return NULL;
}

size_t fxt_value_item_bytes(const char *list)
{
	size_t bytes = 0;
	unsigned open = 0;

	for (; list[bytes] && (open || !strchr(",;", list[bytes])); bytes++) {
		if (strchr("(<", list[bytes]))
			open++;
		else if (open && strchr(")>", list[bytes]))
			open--;
	}
	return bytes;
}

bool fxt_value_word(
        const char *text, size_t text_bytes, const char *const *words, size_t count, unsigned *index)
{
	for (size_t i = 0; i < count; i++)
		if (words[i] && strlen(words[i]) == text_bytes && memcmp(text, words[i], text_bytes) == 0) {
			*index = (unsigned)i;
			return true;
		}
	return false;
}
