/*
 * Writes the records of all providers to one file, in sections, and keeps that file valid.
 * Called from any thread; the archive's lock serializes them. It must never let an error of
 * the disk reach a provider.
 */
#include "archive.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "launcher/message.h"
#include "symbolizer/rewrite.h"
#include "writer/format/anchor.h"
#include "writer/format/encode.h"
#include "writer/format/escape.h"
#include "writer/shared/atomics.h"

static void archive_stop(struct fxt_archive_writer *a, int error)
{
	bool cut;

	a->error = error;
	if (error == FXT_ERROR_CUT) {
		if (a->bytes) /* else there is no trace any more, which is said at the end */
			fxt_say("%s was cut while the program ran, by another process; the trace ends after "
			        "the first %" PRIu64 " bytes of its records, the program runs on",
			        a->name, a->bytes);
		return;
	}
	cut = a->compressor || ftruncate(a->fd, (off_t)a->bytes) == 0;
	fxt_say("%s: %s; the trace ends there%s, the program runs on", a->name, strerror(error),
	        cut ? "" : ", in a broken record");
}

/* The archive has only its first `bytes` bytes: what came behind them is lost, and no more
 * is written. Under the lock. */
static void archive_end_at(struct fxt_archive_writer *a, uint64_t bytes, int error)
{
	a->bytes_lost += a->bytes - bytes;
	a->bytes = bytes;
	if (a->state >= bytes)
		a->state = 0; /* the file has no state record */
	while (a->part_count && a->parts[a->part_count - 1].from >= bytes)
		a->part_count--;
	if (a->part_count && a->parts[a->part_count - 1].to > bytes)
		a->parts[a->part_count - 1].to = bytes;
	archive_stop(a, error);
}

/* The number of bytes, out of the first `bytes` of the file, that are whole records of
 * ours. */
static uint64_t archive_whole_bytes(const struct fxt_archive_writer *a, uint64_t bytes)
{
	static const size_t block_bytes = (size_t)1 << 20;
	uint8_t *block = malloc(block_bytes);
	uint64_t whole = 0, magic = 0;

	if (block && pread(a->fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	        magic == FXT_MAGIC_RECORD)
		while (whole < bytes) {
			size_t wanted = bytes - whole < block_bytes ? (size_t)(bytes - whole) : block_bytes;
			ssize_t got = pread(a->fd, block, wanted, (off_t)whole);
			uint64_t more = got > 0 ? fxt_whole_records(block, (uint64_t)got) : 0;

			if (more == 0)
				break;
			whole += more;
		}
	free(block);
	return whole;
}

/* Ends the archive: another process has cut the file. Later records would stand behind a
 * hole, and their names may be in the part that is gone. Under the lock. */
static void archive_end_at_cut(struct fxt_archive_writer *a)
{
	struct stat status;
	uint64_t whole = 0;

	if (fstat(a->fd, &status) == 0)
		whole = archive_whole_bytes(
		        a, (uint64_t)status.st_size < a->bytes ? (uint64_t)status.st_size : a->bytes);
	if (whole) /* else the file is another's */
		(void)!ftruncate(a->fd, (off_t)whole);
	archive_end_at(a, whole, FXT_ERROR_CUT);
}

/* Checks the compressor: everything appended to it is in the file or will be, unless the
 * file took no more. Under the lock. */
static void archive_take_result(struct fxt_archive_writer *a, int error)
{
	if (error && !a->error)
		archive_end_at(a, fxt_compressor_saved(a->compressor), error);
}

/* Notes the part that is about to be appended. Under the lock. */
static void archive_note_part(struct fxt_archive_writer *a, uint64_t bytes)
{
	struct fxt_archive_part *parts = a->parts;
	size_t count = a->part_count;

	if (a->error)
		return;
	if (count && parts[count - 1].to == a->bytes) {
		parts[count - 1].to += bytes;
		return;
	}
	if ((count & (count - 1)) == 0) /* doubles at each power of two */
		parts = reallocarray(parts, count ? 2 * count : 1, sizeof(*parts));
	if (!parts) {
		a->parts_unknown = true;
		return;
	}
	parts[count] = (struct fxt_archive_part){a->bytes, a->bytes + bytes};
	a->parts = parts;
	a->part_count++;
}

/* Appends whole records, or as many as the file takes. Under the lock. */
static void archive_append_calls(struct fxt_archive_writer *a, const void *records, uint64_t bytes)
{
	uint64_t end = a->bytes;
	int error;

	if (a->error) {
		a->bytes_lost += bytes;
	} else if (a->compressor) {
		a->bytes += bytes;
		archive_take_result(a, fxt_compressor_append(a->compressor, records, bytes));
	} else if ((error = fxt_append_all(a->fd, records, bytes, &end)) == FXT_ERROR_CUT) {
		a->bytes_lost += bytes;
		archive_end_at_cut(a);
	} else {
		if (error)
			end = a->bytes + fxt_whole_records(records, end - a->bytes);
		a->bytes_lost += a->bytes + bytes - end;
		a->bytes = end;
		if (error)
			archive_stop(a, error);
	}
}

static void archive_append(struct fxt_archive_writer *a, const void *records, uint64_t bytes)
{
	archive_note_part(a, bytes);
	archive_append_calls(a, records, bytes);
}

/* Size of the valid UTF-8 character at the beginning of text; 0 if there is none, or a
 * control character. */
static size_t archive_character_bytes(const uint8_t *text, size_t bytes)
{
	/* For 1-4 bytes: the first byte under a mask, and the least code that needs so many
	 * bytes. */
	static const struct {
		uint8_t mask, first;
		uint32_t least;
	} forms[] = {{0x80, 0x00, 0x20}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

	for (size_t more = 0; more < 4 && more < bytes; more++) {
		uint32_t code = text[0] & (uint8_t)~forms[more].mask;

		if ((text[0] & forms[more].mask) != forms[more].first)
			continue;
		for (size_t i = 1; i <= more; i++) {
			if ((text[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (text[i] & 0x3f);
		}
		if (code < forms[more].least || code == 0x7f || code > 0x10ffff ||
		        (code >= 0xd800 && code < 0xe000))
			return 0;
		return more + 1;
	}
	return 0;
}

void fxt_archive_name(struct fxt_archive_provider *p, const char *name, size_t bytes)
{
	char valid[FXT_NAME_BYTES];

	bytes = fxt_escape(valid, sizeof(valid), name, bytes);
	p->name_bytes = 0;
	for (size_t at = 0; at < bytes;) {
		size_t length = archive_character_bytes((const uint8_t *)valid + at, bytes - at);

		memcpy(p->name + p->name_bytes, length ? valid + at : "?", length ? length : 1);
		p->name_bytes += length ? length : 1;
		at += length ? length : 1;
	}
	if (!p->name_bytes)
		p->name_bytes = (uint8_t)(stpcpy(p->name, "unnamed") - p->name);
}

void fxt_archive_begin(
        struct fxt_archive_writer *a, int fd, const char *name, struct fxt_compressor *compressor)
{
	const uint64_t magic = FXT_MAGIC_RECORD;

	*a = (struct fxt_archive_writer){
	        .lock = PTHREAD_MUTEX_INITIALIZER, .fd = fd, .name = name, .compressor = compressor};
	archive_append(a, &magic, sizeof(magic));
}

void fxt_archive_begin_part(struct fxt_archive_writer *a, int fd, const char *name)
{
	*a = (struct fxt_archive_writer){.lock = PTHREAD_MUTEX_INITIALIZER, .fd = fd, .name = name};
}

/* Notes the new places of a part's rates and parts. Under the lock. */
static void archive_join_notes(
        struct fxt_archive_writer *a, const struct fxt_archive_writer *part, uint64_t at)
{
	uint64_t *rates = part->rate_count
	                          ? reallocarray(a->rates, a->rate_count + part->rate_count, sizeof(*rates))
	                          : a->rates;

	a->rate_unknown |= part->rate_unknown || (part->rate_count && !rates);
	for (size_t i = 0; i < part->rate_count && rates; i++)
		rates[a->rate_count++] = part->rates[i] + at;
	a->rates = rates ? rates : a->rates;
	a->parts_unknown |= part->parts_unknown;
	for (size_t i = 0; i < part->open_calls.count; i++)
		fxt_open_calls_add(&a->open_calls, &part->open_calls.threads[i]);
	fxt_function_tracks_copy(&a->functions, &part->functions);
}

void fxt_archive_join(struct fxt_archive_writer *a, const struct fxt_archive_writer *part)
{
	void *records = MAP_FAILED;

	if (part->bytes)
		records = mmap(NULL, part->bytes, PROT_READ, MAP_SHARED, part->fd, 0);
	pthread_mutex_lock(&a->lock);
	a->bytes_lost += part->bytes_lost;
	if (records != MAP_FAILED) {
		archive_join_notes(a, part, a->bytes);
		archive_append(a, records, part->bytes);
		a->section = 0;
	} else if (part->bytes) {
		a->bytes_lost += part->bytes;
	}
	pthread_mutex_unlock(&a->lock);
	if (records != MAP_FAILED)
		munmap(records, part->bytes);
}

/* Marks the next `bytes` bytes as replaceable. If memory is short, replacing them fails
 * later. Under the lock. */
static void archive_mark(struct fxt_archive_writer *a, uint64_t bytes)
{
	if (a->compressor && !a->error)
		fxt_compressor_mark(a->compressor, bytes);
}

enum { STATE_WORDS = 9, RATE_RECORD_BYTES = 16 };

/* An archive is rewritten only if that saves more than one part in ROOM_PART: the amount
 * written again is that many times the saving. */
enum { ROOM_PART = 16 };

static void archive_encode_state(uint64_t record[STATE_WORDS], struct fxt_archive_state state)
{
	struct fxt_string name = fxt_string_text(FXT_ARCHIVE_STATE_BLOB);

	fxt_put_blob(record, STATE_WORDS, name, FXT_BLOB_DATA, &state, sizeof(state));
}

void fxt_archive_write_state(struct fxt_archive_writer *a)
{
	uint64_t record[STATE_WORDS];

	archive_encode_state(record, (struct fxt_archive_state){0});
	pthread_mutex_lock(&a->lock);
	a->state = a->bytes;
	archive_mark(a, sizeof(record));
	archive_append(a, record, sizeof(record));
	if (a->error)
		a->state = 0;
	pthread_mutex_unlock(&a->lock);
}

void fxt_archive_limit(struct fxt_archive_writer *a, uint64_t max_bytes)
{
	pthread_mutex_lock(&a->lock);
	a->max_bytes = max_bytes;
	pthread_mutex_unlock(&a->lock);
}

bool fxt_archive_is_full(const struct fxt_archive_writer *a)
{
	return load_relaxed(&a->is_full);
}

void fxt_archive_write_blob(struct fxt_archive_writer *a, const char *name, enum fxt_blob_type type,
        const void *data, size_t bytes)
{
	uint64_t record[FXT_RECORD_MAX_WORDS];
	size_t words = fxt_put_blob(record, FXT_RECORD_MAX_WORDS, fxt_string_text(name), type, data, bytes);

	pthread_mutex_lock(&a->lock);
	if (!a->max_bytes || a->bytes + words * sizeof(*record) <= a->max_bytes)
		archive_append(a, record, words * sizeof(*record));
	pthread_mutex_unlock(&a->lock);
}

void fxt_archive_write_anchor(struct fxt_archive_writer *a, enum fxt_clock_kind clock)
{
	const struct fxt_anchor anchor = fxt_anchor_read(clock);

	fxt_archive_write_blob(a, FXT_ANCHOR_BLOB, FXT_BLOB_DATA, &anchor, sizeof(anchor));
}

void fxt_archive_resume(
        struct fxt_archive_writer *a, int fd, const char *name, uint64_t bytes, uint32_t section)
{
	*a = (struct fxt_archive_writer){.lock = PTHREAD_MUTEX_INITIALIZER,
	        .fd = fd,
	        .name = name,
	        .bytes = bytes,
	        .section = section,
	        .state = sizeof(FXT_MAGIC_RECORD),
	        .parts_unknown = true};
	if (lseek(fd, (off_t)bytes, SEEK_SET) < 0)
		a->error = errno;
}

void fxt_archive_drain(struct fxt_archive_writer *a)
{
	struct stat status;

	pthread_mutex_lock(&a->lock);
	if (a->compressor)
		archive_take_result(a, fxt_compressor_drain(a->compressor));
	if (!a->error && !a->compressor && fstat(a->fd, &status) == 0 && (uint64_t)status.st_size < a->bytes)
		archive_end_at_cut(a);
	pthread_mutex_unlock(&a->lock);
}

int fxt_archive_finish(struct fxt_archive_writer *a, enum fxt_archive_end end)
{
	uint64_t record[STATE_WORDS];
	int error = 0;

	fxt_archive_drain(a);
	if (a->state) {
		archive_encode_state(record,
		        (struct fxt_archive_state){end, a->bytes_lost, a->processes_dropped,
		                a->records_dropped, a->is_full ? a->max_bytes : 0, a->events_refused});
		error = fxt_archive_replace(a, a->state, record, sizeof(record));
	}
	if (a->compressor)
		fxt_compressor_end(a->compressor);
	a->compressor = NULL;
	return error;
}

/* The longest record that begins a section. */
enum { SECTION_BYTES = 8 * (1 + (FXT_NAME_BYTES + 7) / 8) };

/* Makes the following records belong to `p`. Under the lock. */
static void archive_enter_section(struct fxt_archive_writer *a, struct fxt_archive_provider *p)
{
	uint64_t record[SECTION_BYTES / 8];
	size_t words;

	if (a->section == p->id)
		return;
	if (p->announced)
		words = fxt_put_provider_section(record, 1, p->id);
	else
		words = fxt_put_provider_info(record, sizeof(record) / 8, p->id, p->name, p->name_bytes);
	archive_append(a, record, words * 8);
	p->announced = true;
	a->section = p->id;
}

/* Notes the place of the rate in a record that is about to be appended. Under the lock. */
static void archive_note_rate(struct fxt_archive_writer *a)
{
	uint64_t *rates = reallocarray(a->rates, a->rate_count + 1, sizeof(*rates));

	if (rates) {
		a->rates = rates;
		a->rates[a->rate_count++] = a->bytes + 8;
		archive_mark(a, RATE_RECORD_BYTES);
	} else {
		a->rate_unknown = true;
	}
}

/* The kinds of data written: any records, plain calls alone, or a record that may be
 * replaced. */
enum archive_kind { ARCHIVE_RECORDS, ARCHIVE_CALLS, ARCHIVE_TO_REPLACE };

/* The part of a bounded archive that the manager's own records at the end may take. */
enum { RESERVED_PART = 16 };

static uint64_t archive_count_events(const uint8_t *records, uint64_t bytes)
{
	uint64_t events = 0, header, words;

	for (uint64_t at = 0; at + sizeof(header) <= bytes; at += words * 8) {
		memcpy(&header, records + at, sizeof(header));
		words = fxt_record_words(header);
		if (words == 0)
			break;
		events += fxt_record_type(header) == FXT_RECORD_EVENT;
	}
	return events;
}

/* Returns how many bytes of whole records the bound allows behind the record that begins
 * their section, and counts the others. Under the lock. */
static uint64_t archive_keep_to_bound(struct fxt_archive_writer *a, const struct fxt_archive_provider *p,
        const uint8_t *records, uint64_t bytes)
{
	uint64_t most = a->max_bytes - a->max_bytes / RESERVED_PART, kept = 0;

	if (!a->is_full && a->bytes + SECTION_BYTES + bytes <= most)
		return bytes;
	if (!a->is_full) {
		if (a->bytes + SECTION_BYTES < most)
			kept = fxt_whole_records(records, most - a->bytes - SECTION_BYTES);
		fxt_say("%s has reached --max-size; the recording ends there, the program runs on", a->name);
	}
	store_relaxed(&a->is_full, 1);
	a->bytes_lost += bytes - kept;
	if (!p->is_kernel)
		a->events_refused += archive_count_events(records + kept, bytes - kept);
	return kept;
}

static uint64_t archive_write(struct fxt_archive_writer *a, struct fxt_archive_provider *p,
        const void *records, uint64_t bytes, enum archive_kind kind)
{
	uint64_t header, at;
	bool is_whole = true;

	if (bytes == 0)
		return 0;
	pthread_mutex_lock(&a->lock);
	if (a->max_bytes && !a->error) {
		uint64_t kept = archive_keep_to_bound(a, p, records, bytes);

		is_whole = kept == bytes;
		bytes = kept;
	}
	if (bytes == 0) {
		pthread_mutex_unlock(&a->lock);
		return 0;
	}
	archive_enter_section(a, p);
	memcpy(&header, records, sizeof(header));
	if (fxt_record_type(header) == FXT_RECORD_INITIALIZATION)
		archive_note_rate(a);
	else if (kind == ARCHIVE_TO_REPLACE)
		archive_mark(a, bytes);
	at = a->bytes;
	if (kind == ARCHIVE_CALLS)
		archive_append_calls(a, records, bytes);
	else
		archive_append(a, records, bytes);
	if (a->bytes != at + bytes || !is_whole)
		at = 0;
	pthread_mutex_unlock(&a->lock);
	return at;
}

uint64_t fxt_archive_write(
        struct fxt_archive_writer *a, struct fxt_archive_provider *p, const void *records, uint64_t bytes)
{
	return archive_write(a, p, records, bytes, ARCHIVE_RECORDS);
}

void fxt_archive_write_calls(
        struct fxt_archive_writer *a, struct fxt_archive_provider *p, const void *records, uint64_t bytes)
{
	archive_write(a, p, records, bytes, ARCHIVE_CALLS);
}

uint64_t fxt_archive_write_to_replace(
        struct fxt_archive_writer *a, struct fxt_archive_provider *p, const void *record, uint64_t bytes)
{
	return archive_write(a, p, record, bytes, ARCHIVE_TO_REPLACE);
}

int fxt_archive_replace(const struct fxt_archive_writer *a, uint64_t at, const void *record, uint64_t bytes)
{
	struct stat status;
	ssize_t written;

	if (a->compressor)
		return fxt_compressor_replace(a->compressor, at, record, bytes);
	/* Behind a cut it would hide that the file was cut. */
	if (fstat(a->fd, &status) == 0 && at + bytes > (uint64_t)status.st_size)
		return FXT_ERROR_CUT;
	written = pwrite(a->fd, record, bytes, (off_t)at);

	if (written < 0)
		return errno;
	return (uint64_t)written == bytes ? 0 : EIO;
}

void fxt_archive_note_room(struct fxt_archive_writer *a, uint64_t bytes)
{
	pthread_mutex_lock(&a->lock);
	a->room_bytes += bytes;
	pthread_mutex_unlock(&a->lock);
}

bool fxt_archive_is_roomy(const struct fxt_archive_writer *a)
{
	return a->room_bytes > a->bytes / ROOM_PART;
}

int fxt_archive_set_rate(const struct fxt_archive_writer *a, uint64_t ticks_per_second)
{
	int error = a->rate_unknown ? ENOMEM : 0;

	for (size_t i = 0; i < a->rate_count && !error; i++)
		if (a->rates[i] + 8 <= a->bytes)
			error = fxt_archive_replace(
			        a, a->rates[i], &ticks_per_second, sizeof(ticks_per_second));
	return error;
}

uint64_t fxt_archive_bytes(struct fxt_archive_writer *a)
{
	uint64_t bytes;

	pthread_mutex_lock(&a->lock);
	bytes = a->bytes;
	pthread_mutex_unlock(&a->lock);
	return bytes;
}

void fxt_archive_clear(struct fxt_archive_writer *a, const struct fxt_archive_provider *p, uint64_t from)
{
	struct fxt_archive_cleared *cleared;

	pthread_mutex_lock(&a->lock);
	/* If memory is short, the cleared events stay. */
	cleared = reallocarray(a->cleared, a->cleared_count + 1, sizeof(*cleared));
	if (cleared) {
		cleared[a->cleared_count++] = (struct fxt_archive_cleared){p->id, {from, a->bytes}};
		a->cleared = cleared;
	}
	pthread_mutex_unlock(&a->lock);
}

void fxt_archive_end(struct fxt_archive_writer *a)
{
	free(a->rates);
	free(a->parts);
	free(a->cleared);
	fxt_open_calls_free(&a->open_calls);
	fxt_function_tracks_free(&a->functions);
	a->rates = NULL;
	a->parts = NULL;
	a->cleared = NULL;
	a->rate_count = a->part_count = a->cleared_count = 0;
}

/* Viewers ignore provider events. A Perfetto packet raises their flag of lost data:
 * TracePacket{trace_stats(35){buffer_stats(1){trace_writer_packet_loss(19) = 1}}}. */
static const uint8_t loss_packet[] = {0x0a, 8, 0x9a, 0x02, 5, 0x0a, 3, 0x98, 0x01, 1};

void fxt_archive_write_loss(struct fxt_archive_writer *a, struct fxt_archive_provider *p)
{
	uint64_t records[8];
	size_t words = fxt_put_provider_event(records, 1, p->id, FXT_PROVIDER_EVENT_BUFFER_FULL);

	words += fxt_put_blob(records + words, 8 - words, fxt_string_text(FXT_LOSS_BLOB), FXT_BLOB_PERFETTO,
	        loss_packet, sizeof(loss_packet));
	fxt_archive_write(a, p, records, words * sizeof(*records));
}
