/*
 * Keeps the rest of ended processes in segments, for circular sessions. Providers' threads
 * write to the segments; the lock protects the list. Must never keep more than the limit.
 */
#include "ended.h"
#include <errno.h>
#include <unistd.h>
#include "output.h"
#include "launcher/message.h"

#define ENDED_NAME "the temporary file for processes that have ended"

void fxt_ended_open(struct fxt_ended *e, uint64_t limit_bytes, const struct fxt_ledger *ledger)
{
	*e = (struct fxt_ended){.lock = PTHREAD_MUTEX_INITIALIZER,
	        .written = PTHREAD_COND_INITIALIZER,
	        .ledger = ledger,
	        .limit_bytes = limit_bytes};
}

/* ---- segments; all with the lock held ---- */

/* The segment of that generation; with generation 0 an empty one. */
static struct fxt_ended_segment *ended_segment(struct fxt_ended *e, uint64_t generation)
{
	for (unsigned i = 0; i < FXT_ENDED_SEGMENTS; i++)
		if (e->segments[i].generation == generation)
			return &e->segments[i];
	return NULL;
}

static struct fxt_ended_segment *ended_oldest(struct fxt_ended *e)
{
	struct fxt_ended_segment *oldest = NULL;

	for (struct fxt_ended_segment *s = e->segments; s < e->segments + FXT_ENDED_SEGMENTS; s++)
		if (s->generation && (!oldest || s->generation < oldest->generation))
			oldest = s;
	return oldest;
}

static struct fxt_ended_size ended_size(const struct fxt_ended *e)
{
	struct fxt_ended_size all = {0};

	for (const struct fxt_ended_segment *s = e->segments; s < e->segments + FXT_ENDED_SEGMENTS; s++) {
		all.written += s->size.written;
		all.promised += s->size.promised;
	}
	return all;
}

static void ended_add(struct fxt_ended_sum *sum, const struct fxt_ended_sum *more)
{
	sum->processes += more->processes;
	sum->events += more->events;
	sum->losses.lost += more->losses.lost;
	sum->losses.overwritten += more->losses.overwritten;
}

static void ended_drop(struct fxt_ended *e, struct fxt_ended_segment *s)
{
	int fd = s->archive.fd;

	ended_add(&e->dropped, &s->sum);
	if (e->ledger)
		fxt_ledger_drop(e->ledger, s->generation);
	fxt_archive_end(&s->archive);
	(void)!ftruncate(fd, 0);
	fxt_archive_begin_part(&s->archive, fd, ENDED_NAME);
	s->sum = (struct fxt_ended_sum){0};
	s->size.written = s->generation = 0;
}

/* False: there is no file for it. */
static bool ended_begin_segment(struct fxt_ended *e, struct fxt_ended_segment *s)
{
	if (!s->is_open) {
		int fd = fxt_trace_output_temporary_file();

		if (fd < 0)
			return false;
		fxt_archive_begin_part(&s->archive, fd, ENDED_NAME);
		s->is_open = true;
		if (e->ledger)
			fxt_ledger_send(e->ledger, FXT_LEDGER_SEGMENT, 0, &fd, 1);
	}
	s->generation = ++e->generations;
	return true;
}

/* True: there is room for `bytes` below the limit as soon as the writers are done, since
 * they write less than they promised. */
static bool ended_is_worth_waiting(struct fxt_ended_size size, uint64_t bytes, uint64_t limit)
{
	return size.promised && size.written + bytes <= limit;
}

/* Returns a segment with room for `bytes` more; NULL: there is no file for one. Waits for
 * writers first, and drops the oldest segment if that is not enough. */
static struct fxt_ended_segment *ended_find_room(struct fxt_ended *e, uint64_t bytes)
{
	const uint64_t share = e->limit_bytes / FXT_ENDED_SEGMENTS;

	for (;;) {
		struct fxt_ended_segment *latest = e->generations ? ended_segment(e, e->generations) : NULL;
		struct fxt_ended_segment *oldest = ended_oldest(e), *empty = ended_segment(e, 0);
		struct fxt_ended_size all = ended_size(e);
		struct fxt_ended_size size = latest ? latest->size : (struct fxt_ended_size){0};
		bool fits = all.written + all.promised + bytes <= e->limit_bytes || !oldest;

		if (fits && latest && size.written + size.promised + bytes <= share)
			return latest;
		if (fits ? ended_is_worth_waiting(size, bytes, share)
		         : ended_is_worth_waiting(all, bytes, e->limit_bytes))
			pthread_cond_wait(&e->written, &e->lock);
		else if (fits && empty)
			return ended_begin_segment(e, empty) ? empty : NULL;
		else if (oldest->writers)
			pthread_cond_wait(&e->written, &e->lock);
		else
			ended_drop(e, oldest);
	}
}

/* ---- for providers ---- */

struct fxt_archive_writer *fxt_ended_begin(
        struct fxt_ended *e, struct fxt_ledger_entry *entry, uint64_t promised_bytes)
{
	struct fxt_ended_segment *s;

	pthread_mutex_lock(&e->lock);
	s = ended_find_room(e, promised_bytes);
	if (s) {
		s->size.promised += promised_bytes;
		s->writers++;
		fxt_ledger_note_segment(entry, s->generation);
	}
	pthread_mutex_unlock(&e->lock);
	return s ? &s->archive : NULL;
}

void fxt_ended_finish(struct fxt_ended *e, struct fxt_archive_writer *archive, uint64_t promised_bytes,
        const struct fxt_ended_sum *sum)
{
	struct fxt_ended_segment *s = e->segments;

	/* Asked before the list is locked: another writer may be waiting for the disk, with
	 * the archive's lock held. */
	uint64_t written = fxt_archive_bytes(archive);

	while (&s->archive != archive)
		s++;
	pthread_mutex_lock(&e->lock);
	ended_add(&s->sum, sum);
	if (written > s->size.written) /* else a later writer has been here first */
		s->size.written = written;
	s->size.promised -= promised_bytes;
	s->writers--;
	pthread_cond_broadcast(&e->written);
	pthread_mutex_unlock(&e->lock);
}

/* ---- for the session ---- */

void fxt_ended_join(const struct fxt_ended *e, struct fxt_archive_writer *archive)
{
	const struct fxt_ended_segment *next;

	for (uint64_t joined = 0;; joined = next->generation) {
		next = NULL;
		for (const struct fxt_ended_segment *s = e->segments; s < e->segments + FXT_ENDED_SEGMENTS;
		        s++)
			if (s->generation > joined && (!next || s->generation < next->generation))
				next = s;
		if (!next)
			break;
		fxt_archive_join(archive, &next->archive);
	}
	archive->processes_dropped = e->dropped.processes;
	archive->records_dropped = e->dropped.events + e->dropped.losses.lost + e->dropped.losses.overwritten;
}

void fxt_ended_join_at_end(struct fxt_ended *e, struct fxt_archive_writer *archive, uint64_t promised_bytes)
{
	struct fxt_ended_segment *oldest;

	if (!e->limit_bytes)
		return;
	while ((oldest = ended_oldest(e)) &&
	        archive->bytes + promised_bytes + ended_size(e).written > e->limit_bytes)
		ended_drop(e, oldest);
	if (e->ledger)
		fxt_ledger_note_join(e->ledger, FXT_LEDGER_JOINING, archive->bytes);
	fxt_ended_join(e, archive);
	if (e->ledger)
		fxt_ledger_note_join(e->ledger, FXT_LEDGER_JOINED, archive->bytes);
	fxt_ended_close(e);
	e->limit_bytes = 0;
}

void fxt_ended_close(struct fxt_ended *e)
{
	for (struct fxt_ended_segment *s = e->segments; s < e->segments + FXT_ENDED_SEGMENTS; s++) {
		if (!s->is_open)
			continue;
		fxt_archive_end(&s->archive);
		close(s->archive.fd);
		*s = (struct fxt_ended_segment){0};
	}
}
