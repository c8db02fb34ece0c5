#include "switch_log.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "writer/encode.h"

#define IDLE_WEIGHT INT32_MIN /* by which the Perfetto UI knows an idle thread */
#define THREAD_WEIGHT \
	120 /* what Linux calls an ordinary priority: viewers take one below 100, or none, for real-time */
#define RECORD_WORDS  6
#define BLOCK_RECORDS 512

enum { STRING_INCOMING_WEIGHT = 1, STRING_OUTGOING_WEIGHT };

int fxt_switch_log_open(struct fxt_switch_log *log, bool keeps_last)
{
	*log = (struct fxt_switch_log){.keeps_last = keeps_last};
	log->items = calloc(FXT_SWITCH_LOG_MAX, sizeof(*log->items));
	return log->items ? 0 : ENOMEM;
}

void fxt_switch_log_close(struct fxt_switch_log *log)
{
	free(log->items);
	log->items = NULL;
}

static struct fxt_switch *switch_log_item(const struct fxt_switch_log *log, uint64_t number)
{
	return &log->items[number % FXT_SWITCH_LOG_MAX];
}

void fxt_switch_log_put(struct fxt_switch_log *log, struct fxt_switch one)
{
	if (log->end - log->begin == FXT_SWITCH_LOG_MAX) {
		if (!log->keeps_last) {
			log->lost++;
			return;
		}
		log->begin++;
	}
	*switch_log_item(log, log->end++) = one;
}

void fxt_switch_log_forget(struct fxt_switch_log *log, uint64_t ticks)
{
	uint64_t kept = log->end;

	for (uint64_t i = log->end; i-- > log->begin;)
		if (switch_log_item(log, i)->ticks >= ticks)
			*switch_log_item(log, --kept) = *switch_log_item(log, i);
	log->begin = kept;
}

/* ---- records ---- */

static size_t switch_encode(const struct fxt_switch *one, uint64_t *record)
{
	struct fxt_argument weights[] = {
	        fxt_argument_int32(
	                fxt_string_index(STRING_INCOMING_WEIGHT), one->in ? THREAD_WEIGHT : IDLE_WEIGHT),
	        fxt_argument_int32(
	                fxt_string_index(STRING_OUTGOING_WEIGHT), one->in ? IDLE_WEIGHT : THREAD_WEIGHT),
	};

	return fxt_put_context_switch(record, RECORD_WORDS, one->ticks, one->cpu,
	        one->in ? FXT_THREAD_STATE_RUNNING : (enum fxt_thread_state)one->state,
	        one->in ? 0 : one->koid, one->in ? one->koid : 0, weights, 2);
}

void fxt_switch_log_introduce(
        struct fxt_archive_writer *archive, struct fxt_archive_provider *provider, uint64_t ticks_per_second)
{
	static const char incoming[] = "incoming_weight", outgoing[] = "outgoing_weight";
	uint64_t records[16];
	size_t words = fxt_put_initialization(records, 16, ticks_per_second);

	words += fxt_put_string(
	        records + words, 16 - words, STRING_INCOMING_WEIGHT, incoming, strlen(incoming));
	words += fxt_put_string(
	        records + words, 16 - words, STRING_OUTGOING_WEIGHT, outgoing, strlen(outgoing));
	fxt_archive_write(archive, provider, records, words * 8);
}

void fxt_switch_write(const struct fxt_switch *one, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider)
{
	uint64_t record[RECORD_WORDS];

	fxt_archive_write(archive, provider, record, switch_encode(one, record) * 8);
}

void fxt_switch_log_write(const struct fxt_switch_log *log, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider)
{
	uint64_t block[BLOCK_RECORDS * RECORD_WORDS];
	size_t words = 0;

	for (uint64_t i = log->begin; i < log->end; i++) {
		words += switch_encode(switch_log_item(log, i), block + words);
		if (i + 1 == log->end || words == BLOCK_RECORDS * RECORD_WORDS) {
			fxt_archive_write(archive, provider, block, words * 8);
			words = 0;
		}
	}
}
