#include "call_sample.h"
#include <stdlib.h>
#include "writer/shared/buffer.h"
#include "writer/format/format.h"
#include "writer/engine/strings.h"

enum {
	IN_A_ROW = 64,
	FUNCTIONS = 10,
};

static bool call_sample_is_call(uint64_t header)
{
	return fxt_record_type(header) == FXT_RECORD_EVENT && fxt_record_words(header) == FXT_CALL_WORDS &&
	       fxt_field(header, 16, 4) == FXT_EVENT_DURATION_COMPLETE &&
	       fxt_is_function_category(fxt_field(header, 32, 16)) && header >> 48 < FXT_STRING_LOCAL_FIRST;
}

void fxt_call_sample_take(
        struct fxt_call_sample *sample, const void *records, uint64_t bytes, uint64_t ticks_per_second)
{
	const uint64_t *record = records, *end = record + bytes / 8;

	if (!sample->functions)
		sample->functions = calloc(FXT_STRING_LOCAL_FIRST, sizeof(*sample->functions));
	for (int i = 0; sample->functions && i < IN_A_ROW && record < end; i++) {
		if (call_sample_is_call(*record)) {
			struct fxt_sampled_function *f = &sample->functions[*record >> 48];

			f->calls++;
			f->brief += record[2] - record[1] < ticks_per_second / FXT_BRIEF_PER_SECOND;
		}
		sample->events += fxt_record_type(*record) == FXT_RECORD_EVENT;
		record += fxt_record_words(*record);
	}
}

static bool call_sample_is_noise(const struct fxt_call_sample *sample, const struct fxt_sampled_function *f)
{
	return f->calls > sample->events / 100 && f->brief >= f->calls - f->calls / 10;
}

/* Returns the calls of the most called function that is noise, and removes them from the
 * sample; 0: there is none. */
static uint32_t call_sample_take_noisiest(struct fxt_call_sample *sample)
{
	struct fxt_sampled_function *noisiest = NULL;
	uint32_t calls = 0;

	for (uint32_t i = 0; i < FXT_STRING_LOCAL_FIRST; i++) {
		struct fxt_sampled_function *f = &sample->functions[i];

		if (call_sample_is_noise(sample, f) && (!noisiest || f->calls > noisiest->calls))
			noisiest = f;
	}
	if (noisiest) {
		calls = noisiest->calls;
		noisiest->calls = 0;
	}
	return calls;
}

double fxt_call_sample_end(struct fxt_call_sample *sample)
{
	uint64_t noise = 0, events = sample->events;

	for (int i = 0; sample->functions && i < FUNCTIONS; i++)
		noise += call_sample_take_noisiest(sample);
	free(sample->functions);
	*sample = (struct fxt_call_sample){0};
	return events ? (double)noise / (double)events : 0;
}
