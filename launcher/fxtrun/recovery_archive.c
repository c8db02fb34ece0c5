/*
 * Cuts the archive and the segments of a killed manager back to the records that stay.
 * Runs on the supervisor's only thread. No record may be kept that will be taken again.
 */
#include "recovery_archive.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "reader/trace/fields.h"
#include "writer/shared/atomics.h"

/* The entry of the provider that will write the records from `at` on again; NULL: the
 * records stay. */
static struct fxt_ledger_entry *recovery_takes_again(
        const struct fxt_recovery *r, uint32_t section, uint64_t at)
{
	struct fxt_ledger_entry *entry;
	const struct fxt_ledger_page *page;

	if (section == 0 || section > FXT_LEDGER_ENTRIES)
		return NULL;
	entry = &r->ledger->entries[section - 1];
	page = fxt_ledger_page(entry);
	return entry->identity.id && page->state != FXT_STATE_DONE && at >= page->archive_bytes ? entry
	                                                                                        : NULL;
}

/* The offset of the first record that may have to be dropped; its section is *section. */
static uint64_t recovery_first(const struct fxt_recovery *r, uint32_t *section)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < FXT_LEDGER_ENTRIES && r->ledger->entries[i].identity.id; i++) {
		const struct fxt_ledger_page *page = fxt_ledger_page(&r->ledger->entries[i]);

		if (page->runs == 0 || page->state == FXT_STATE_DONE || page->archive_bytes >= first)
			continue;
		first = page->archive_bytes;
		*section = page->section;
	}
	return first == UINT64_MAX ? 0 : first;
}

/* Drops the records in [at, end) of the archive, or of a segment, that will be taken again,
 * and an incomplete record at the end. Returns the new end. *section is the section at the
 * beginning, and afterwards the one at the end. */
static uint64_t recovery_drop(const struct fxt_recovery *r, uint8_t *archive, uint64_t at, uint64_t end,
        uint32_t *section, bool is_segment)
{
	uint64_t to = at, words;

	for (; end - at >= 8; at += words * 8) {
		uint64_t header = *(uint64_t *)(archive + at);
		enum fxt_metadata_type kind = (enum fxt_metadata_type)fxt_field(header, 16, 4);
		bool is_metadata = fxt_record_type(header) == FXT_RECORD_METADATA;
		struct fxt_ledger_entry *again;

		words = fxt_record_words(header);
		if (words == 0 || words > (end - at) / 8)
			break;
		if (is_metadata &&
		        (kind == FXT_METADATA_PROVIDER_INFO || kind == FXT_METADATA_PROVIDER_SECTION))
			*section = (uint32_t)fxt_field(header, 20, 32);
		again = recovery_takes_again(r, *section, is_segment ? UINT64_MAX : at);
		if (again && is_metadata && kind == FXT_METADATA_PROVIDER_INFO)
			again->identity.announced = true;
		if (again && !fxt_is_kept_in_recovery(header))
			continue;
		memmove(archive + to, archive + at, words * 8);
		to += words * 8;
	}
	return to;
}

/* True if a segment is dropped, judged by its first provider; without a provider it is
 * empty. */
static bool recovery_is_dropped(const struct fxt_recovery *r, const uint8_t *segment, uint64_t bytes)
{
	for (uint64_t at = 0, words; bytes - at >= 8; at += words * 8) {
		uint64_t header = *(const uint64_t *)(segment + at), id = fxt_field(header, 20, 32);

		words = fxt_record_words(header);
		if (words == 0 || words > (bytes - at) / 8)
			break;
		if (fxt_record_type(header) == FXT_RECORD_METADATA &&
		        fxt_field(header, 16, 4) == FXT_METADATA_PROVIDER_INFO)
			return id > 0 && id <= FXT_LEDGER_ENTRIES &&
			       fxt_ledger_is_dropped(r->ledger, &r->ledger->entries[id - 1]);
	}
	return true;
}

static void recovery_take_segment(struct fxt_recovery *r, int fd)
{
	struct fxt_archive_writer part;
	struct stat status;
	uint32_t section = 0;
	uint8_t *segment;
	bool is_dropped;

	if (fstat(fd, &status) != 0 || status.st_size == 0)
		return;
	segment = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (segment == MAP_FAILED) {
		r->archive.bytes_lost += (uint64_t)status.st_size;
		return;
	}
	fxt_archive_begin_part(&part, fd, r->output->raw_name);
	is_dropped = recovery_is_dropped(r, segment, (uint64_t)status.st_size);
	if (!is_dropped)
		part.bytes = recovery_drop(r, segment, 0, (uint64_t)status.st_size, &section, true);
	munmap(segment, (size_t)status.st_size);
	if (!is_dropped)
		fxt_archive_join(&r->archive, &part);
}

void fxt_recovery_take_segments(struct fxt_recovery *r)
{
	if (load_acquire(&r->ledger->segments->join) == FXT_LEDGER_JOINED)
		return;
	for (unsigned i = 0; i < r->segment_count; i++)
		recovery_take_segment(r, r->segments[i]);
}

int fxt_recovery_resume_archive(struct fxt_recovery *r)
{
	uint32_t section = 0;
	uint64_t first = recovery_first(r, &section), end;
	struct stat status;
	uint8_t *archive;
	int fd = fxt_trace_output_recover(r->output);

	if (fd < 0 || fstat(fd, &status) != 0)
		return errno;
	/* Segments that were just being appended are taken from their files instead. */
	if (load_acquire(&r->ledger->segments->join) == FXT_LEDGER_JOINING) {
		if (ftruncate(fd, (off_t)r->ledger->segments->joined_at) != 0 || fstat(fd, &status) != 0)
			return errno;
	}
	/* Data that the file had no room for was noted before the compressor reached it.
	 * The section at that end is not known. */
	if (first > (uint64_t)status.st_size) {
		first = (uint64_t)status.st_size;
		section = 0;
	}
	/* The whole file is mapped although only its end is used: untouched pages cost
	 * nothing. */
	archive = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (archive == MAP_FAILED)
		return errno;
	end = recovery_drop(r, archive, first, (uint64_t)status.st_size, &section, false);
	munmap(archive, (size_t)status.st_size);
	if (ftruncate(fd, (off_t)end) != 0)
		return errno;
	fxt_archive_resume(&r->archive, fd, r->output->raw_name, end, section);
	fxt_archive_limit(&r->archive, r->options->max_bytes);
	for (uint32_t i = 0; i < FXT_LEDGER_ENTRIES && r->ledger->entries[i].identity.id; i++) {
		uint64_t lost = fxt_ledger_page(&r->ledger->entries[i])->bytes_lost;

		if (lost > r->archive.bytes_lost)
			r->archive.bytes_lost = lost;
	}
	return r->archive.error;
}
