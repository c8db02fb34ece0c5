#include "sched_log.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "writer/format/encode.h"

#define IDLE_WEIGHT INT32_MIN /* the Perfetto UI recognizes an idle thread by it */
#define THREAD_WEIGHT \
	120 /* an ordinary priority in Linux: viewers take less than 100, or none, for real-time */
#define RECORD_WORDS  6
#define BLOCK_RECORDS 512

enum {
	STRING_INCOMING_WEIGHT = 1,
	STRING_OUTGOING_WEIGHT,
	STRING_CATEGORY,
	STRING_FAULT,
	STRING_MISSING,
	STRING_FAULTS,
};

int fxt_sched_log_open(struct fxt_sched_log *log, bool keeps_last)
{
	*log = (struct fxt_sched_log){.keeps_last = keeps_last};
	log->items = calloc(FXT_SCHED_LOG_MAX, sizeof(*log->items));
	return log->items ? 0 : ENOMEM;
}

void fxt_sched_log_close(struct fxt_sched_log *log)
{
	free(log->items);
	log->items = NULL;
}

static struct fxt_sched_event *sched_log_item(const struct fxt_sched_log *log, uint64_t number)
{
	return &log->items[number % FXT_SCHED_LOG_MAX];
}

void fxt_sched_log_put(struct fxt_sched_log *log, struct fxt_sched_event one)
{
	log->latest = one;
	if (log->end - log->begin == FXT_SCHED_LOG_MAX) {
		if (!log->keeps_last) {
			log->lost++;
			return;
		}
		log->begin++;
		log->dropped++;
	}
	*sched_log_item(log, log->end++) = one;
}

void fxt_sched_log_forget(struct fxt_sched_log *log, uint64_t ticks)
{
	uint64_t kept = log->end;

	for (uint64_t i = log->end; i-- > log->begin;)
		if (sched_log_item(log, i)->ticks >= ticks)
			*sched_log_item(log, --kept) = *sched_log_item(log, i);
	log->begin = kept;
}

/* ---- records ---- */

static size_t sched_log_encode_fault(const struct fxt_sched_event *one, uint32_t name,
        const struct fxt_argument *argument, uint64_t *record)
{
	return fxt_put_event(record, RECORD_WORDS, FXT_EVENT_INSTANT,
	        fxt_thread_inline(one->process, one->koid), fxt_string_index(STRING_CATEGORY),
	        fxt_string_index(name), one->ticks, argument, argument ? 1 : 0, 0);
}

static size_t sched_log_encode(const struct fxt_sched_event *one, uint64_t *record)
{
	struct fxt_argument weights[] = {
	        fxt_argument_int32(
	                fxt_string_index(STRING_INCOMING_WEIGHT), one->in ? THREAD_WEIGHT : IDLE_WEIGHT),
	        fxt_argument_int32(
	                fxt_string_index(STRING_OUTGOING_WEIGHT), one->in ? IDLE_WEIGHT : THREAD_WEIGHT),
	};

	if (one->process)
		return sched_log_encode_fault(one, STRING_FAULT, NULL, record);
	return fxt_put_context_switch(record, RECORD_WORDS, one->ticks, one->cpu,
	        one->in ? FXT_THREAD_STATE_RUNNING : (enum fxt_thread_state)one->state,
	        one->in ? 0 : one->koid, one->in ? one->koid : 0, weights, 2);
}

void fxt_sched_log_introduce(
        struct fxt_archive_writer *archive, struct fxt_archive_provider *provider, uint64_t ticks_per_second)
{
	static const char *const strings[] = {[STRING_INCOMING_WEIGHT] = "incoming_weight",
	        [STRING_OUTGOING_WEIGHT] = "outgoing_weight",
	        [STRING_CATEGORY] = "sched",
	        [STRING_FAULT] = FXT_FAULT_EVENT,
	        [STRING_MISSING] = FXT_FAULTS_MISSING_EVENT,
	        [STRING_FAULTS] = "faults"};
	uint64_t records[32];
	size_t words = fxt_put_initialization(records, 32, ticks_per_second);

	for (uint16_t i = 1; i < sizeof(strings) / sizeof(*strings); i++)
		words += fxt_put_string(records + words, 32 - words, i, strings[i], strlen(strings[i]));
	fxt_archive_write(archive, provider, records, words * 8);
}

void fxt_sched_log_write_missing(const struct fxt_sched_log *faults, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider)
{
	uint64_t record[RECORD_WORDS];
	struct fxt_argument count =
	        fxt_argument_uint64(fxt_string_index(STRING_FAULTS), faults->lost + faults->dropped);

	if (faults->lost + faults->dropped > 0 && faults->latest.process)
		fxt_archive_write(archive, provider, record,
		        sched_log_encode_fault(&faults->latest, STRING_MISSING, &count, record) * 8);
}

void fxt_sched_log_write_one(const struct fxt_sched_event *one, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider)
{
	uint64_t record[RECORD_WORDS];

	fxt_archive_write(archive, provider, record, sched_log_encode(one, record) * 8);
}

void fxt_sched_log_write(const struct fxt_sched_log *log, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider)
{
	uint64_t block[BLOCK_RECORDS * RECORD_WORDS];
	size_t words = 0;

	for (uint64_t i = log->begin; i < log->end; i++) {
		words += sched_log_encode(sched_log_item(log, i), block + words);
		if (i + 1 == log->end || words == BLOCK_RECORDS * RECORD_WORDS) {
			fxt_archive_write(archive, provider, block, words * 8);
			words = 0;
		}
	}
}
